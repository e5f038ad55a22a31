"""One line of a benchmark: what we measured beside the floor that the same machine gave in the same run."""

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Measurement", "at_least", "at_most", "least_seconds", "within"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measured value, its floor in the same unit, their ratio, the goal in words and whether it is met."""

    name: str
    value: float
    unit: str
    floor: float
    ratio: float
    goal: str
    met: bool


def within(name: str, value: float, unit: str, floor: float, *, times: float) -> Measurement:
    """A cost that may be so many times its floor."""
    ratio = value / floor
    return Measurement(name, value, unit, floor, ratio, goal=f"<= {times:g} x floor", met=ratio <= times)


def at_most(name: str, value: float, unit: str, floor: float, *, limit: float) -> Measurement:
    """A cost with a limit of its own; the floor is for comparison."""
    return Measurement(name, value, unit, floor, value / floor, goal=f"<= {limit:g} {unit}", met=value <= limit)


def at_least(name: str, value: float, unit: str, floor: float, *, limit: float) -> Measurement:
    """A speed with a limit of its own; the floor is for comparison."""
    return Measurement(name, value, unit, floor, value / floor, goal=f">= {limit:g} {unit}", met=value >= limit)


def least_seconds(action: Callable[[], object], repeats: int = 7) -> float:
    """The least seconds that the action takes in some repeats, after one that is not counted."""
    action()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
