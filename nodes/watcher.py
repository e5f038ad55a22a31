"""Who looks on while a run goes: the console, a test, nobody."""

from typing import Protocol

from protocol.messages import Progress
from scenarios.plan import Plan

__all__ = ["Quiet", "Watcher"]


class Watcher(Protocol):
    """Is told what happens, in words and numbers for people; the log has the facts."""

    def parsed(self, done: int, total: int) -> None:
        """So many bytes of the data set's text are read."""

    def started(self, plan: Plan) -> None:
        """The run begins."""

    def progressed(self, progress: Progress, measured: tuple[int, float] | None) -> None:
        """How far the run is, and the last measured round with its nDCG."""

    def noticed(self, sentence: str) -> None:
        """Something that a person should know: a node died, the run waits, kernels are compiled."""


class Quiet:
    """A watcher that says nothing."""

    def parsed(self, done: int, total: int) -> None:
        """Say nothing."""

    def started(self, plan: Plan) -> None:
        """Say nothing."""

    def progressed(self, progress: Progress, measured: tuple[int, float] | None) -> None:
        """Say nothing."""

    def noticed(self, sentence: str) -> None:
        """Say nothing."""
