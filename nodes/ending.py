"""How a run ends: by itself, or because somebody asked."""

import signal
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Final, Self

__all__ = ["Ending", "Interruption"]

_SIGNALS: Final = {
    signal.SIGINT: "interrupted by Ctrl-C",
    signal.SIGTERM: "terminated by a signal",
    signal.SIGHUP: "its terminal was closed",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """completed, stopped or aborted, and why."""

    outcome: str
    reason: str


class Interruption:
    """Somebody's wish to stop: while it is entered, Ctrl-C and its kin are heard here instead of breaking in.

    `asked` counts them: after one the run ends cleanly, after two at once.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.told = False  # whether the coordinator has been told
        self.reason = ""
        self._before: dict[int, Any] = {}

    def ask(self, reason: str) -> None:
        """Wish for the run's end."""
        self.asked += 1
        self.reason = self.reason or reason

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.ask(_SIGNALS[signal.Signals(number)])
