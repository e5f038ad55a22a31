"""What a person sees while a run goes: one live line, and a sentence when something happens. Never a line a round."""

import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from protocol import messages
from scenarios.plan import Plan

__all__ = ["ConsoleWatcher"]

_WINDOW: Final = 2.0
"""Seconds over which rounds a second are counted."""
_NAMED: Final = 3
"""Nodes that are named when a run waits for many."""


class ConsoleWatcher:
    """Progress on standard error, where a terminal is there to show it; sentences either way."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            console=self._console,
            transient=True,
            disable=quiet or not self._console.is_terminal,
            expand=True,
        )
        self._quiet = quiet
        self._task: TaskID | None = None
        self._nodes = 0
        self._metric = ""
        self._run = Path()
        self._waiting = False
        self._recent: deque[tuple[float, int]] = deque()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._bar.stop()

    def parsed(self, done: int, total: int) -> None:
        """Show how much of the data set's text is read."""
        self._show("reading data (MB)", done // 10**6, max(1, total // 10**6), "")

    def started(self, plan: Plan) -> None:
        """Show the bar of the rounds."""
        self._nodes = len(plan.hosts)
        self._run = plan.run
        self._metric = f"nDCG@{plan.scenario.evaluation.at}"
        self._show("starting", 0, plan.scenario.rounds, f"{self._nodes} nodes")

    def progressed(self, progress: messages.Progress, measured: tuple[int, float] | None) -> None:
        """Show the round, the last nDCG, the speed and who is here."""
        now = time.monotonic()
        self._recent.append((now, progress.round))
        while now - self._recent[0][0] > _WINDOW and len(self._recent) > 2:
            self._recent.popleft()
        seconds, rounds = now - self._recent[0][0], progress.round - self._recent[0][1]
        facts = [] if measured is None else [f"{self._metric} {measured[1]:.4f}"]
        facts.append(f"{rounds / seconds:,.0f} rounds/s" if seconds > 0 else "")
        facts.append(f"{progress.present}/{self._nodes} nodes")
        description = "training" if progress.present else "starting"
        if progress.outcome:
            description = "measuring the last models"
        elif progress.waiting:
            description = f"waiting for {_some(progress.waiting)}"
        if progress.waiting and not self._waiting:
            again = " ".join(progress.waiting[:_NAMED])
            self.noticed(f"waiting for {_some(progress.waiting)}; foltr restart {self._run} {again} starts them again")
        self._waiting = bool(progress.waiting)
        self._show(description, progress.round, progress.last, " · ".join(fact for fact in facts if fact))

    def noticed(self, sentence: str) -> None:
        """Say a sentence above the bar."""
        if not self._quiet:
            self._console.print(sentence, markup=False, soft_wrap=True)

    def _show(self, description: str, completed: int, total: int | None, facts: str) -> None:
        if self._task is None:
            self._task = self._bar.add_task(description, total=total, facts=facts)
        self._bar.update(self._task, description=description, completed=completed, total=total, facts=facts)


def _some(names: tuple[str, ...]) -> str:
    """A few names, and how many more."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
