"""What the log costs: a run with it against the same run without."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.measurement import Measurement, within
from nodes.launch import launch
from protocol.journal import Journal
from scenarios.load import load_scenario

__all__ = ["measure"]

ROUNDS: Final = 3000
REPEATS: Final = 3


def measure() -> Iterator[Measurement]:
    """10 clients x B=5 inline; the floor is the same run with a journal that forgets everything."""
    with tempfile.TemporaryDirectory(prefix="foltr-bench-") as scratch:
        scenario = load_scenario("quickstart", [f"rounds={ROUNDS}", f"evaluation.every={ROUNDS}"], engine="inline")
        seconds = _least(lambda: launch(scenario, Path(scratch)))
        append = Journal.append
        try:
            setattr(Journal, "append", _forget)  # noqa: B010 - there is no other way to run without a log
            without = _least(lambda: launch(scenario, Path(scratch)))
        finally:
            setattr(Journal, "append", append)  # noqa: B010 - as it was
    yield within(
        "a round with the log on (floor: without)", 1e6 * seconds / ROUNDS, "us", 1e6 * without / ROUNDS, times=1.2
    )


def _forget(_journal: Journal, _event: str, **_fields: Any) -> None:
    """Keep nothing."""


def _least(action: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - began)
    return best
