"""Rounds in which something was out of the ordinary, to be shaded on curves: nodes away, other phases."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from analysis.log import sql_text
from analysis.runs import Run

__all__ = ["Window", "merged", "windows"]


@dataclass(frozen=True, slots=True)
class Window:
    """The rounds `first … last` of a fault or a phase; last is none if it did not end."""

    kind: Literal["fault", "phase"]
    what: str
    whom: tuple[str, ...]
    first: int
    last: int | None

    @property
    def title(self) -> str:
        """What a reader is told of it."""
        until = "to the end" if self.last is None else f"to {self.last:,}"
        names = ", ".join(self.whom[:3]) + (f" and {len(self.whom) - 3} more" if len(self.whom) > 3 else "")
        return f"{self.what}{f' {names}' if names else ''}: rounds {self.first:,} {until}"


def windows(run: Run) -> list[Window]:
    """A run's faults and phases; faults of one kind that overlap are one window."""
    rows = run.rows(sql_text("windows"))
    found = [
        Window(row["kind"], row["what"], (row["whom"],) if row["whom"] else (), row["first"], row["last"])
        for row in rows
    ]
    return merged(found)


def merged(found: Iterable[Window]) -> list[Window]:
    """Windows of the same kind that overlap, as one with everyone's names."""
    open_ones: dict[tuple[str, str], Window] = {}
    closed: list[Window] = []
    for window in sorted(found, key=lambda one: (one.first, one.last is None, one.last or 0, one.whom)):
        key = (window.kind, window.what)
        before = open_ones.get(key)
        if before is None or (before.last is not None and window.first > before.last):
            closed += [before] if before else []
            open_ones[key] = window
            continue
        ends = [one.last for one in (before, window) if one.last is not None]
        whom = tuple(dict.fromkeys((*before.whom, *window.whom)))
        last = max(ends) if len(ends) == 2 else None
        open_ones[key] = Window(window.kind, window.what, whom, before.first, last)
    return sorted([*closed, *open_ones.values()], key=lambda one: (one.first, one.what))
