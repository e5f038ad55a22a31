"""The evaluator as a thread beside the rounds of an inline run."""

import threading
from typing import Final

from nodes.evaluator import Evaluator

__all__ = ["Evaluation"]

_PAUSE: Final = 0.005  # seconds between two looks at a log that had nothing new


class Evaluation(threading.Thread):
    """Follows the log until its end, or until there is nothing new after the run is over."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(name="evaluator")
        self.evaluator = evaluator
        self._over = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """Measure what the log has, again and again."""
        try:
            while not self.evaluator.finished:
                over = self._over.is_set()
                if not self.evaluator.follow():
                    if over:
                        break
                    self._over.wait(_PAUSE)
        except BaseException as error:  # noqa: BLE001 - raised again where the run can hear it
            self._error = error

    def finish(self) -> None:
        """The run is over: measure the rest; raise what went wrong."""
        self._over.set()
        if self.ident is not None:
            self.join()
        self.evaluator.journal.close()
        if self._error is not None:
            raise self._error
