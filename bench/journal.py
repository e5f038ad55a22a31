"""What the log costs: ten client processes with it against the same run without."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Final

from bench.measurement import Measurement, within

__all__ = ["measure"]

REPEATS: Final = 3


def measure() -> Iterator[Measurement]:
    """A round of 10 clients x B=5; the floor is the same round with journals that forget everything."""
    on = min(_round_seconds() for _ in range(REPEATS))
    off = min(_round_seconds("forget") for _ in range(REPEATS))
    yield within("a round of 10 client processes with the log on (floor: off)", 1e3 * on, "ms", 1e3 * off, times=1.2)


def _round_seconds(*words: str) -> float:
    """Seconds of a round in a run of its own."""
    done = subprocess.run([sys.executable, "-m", "bench.timed_run", *words], check=True, capture_output=True, text=True)
    return float(done.stdout)
