"""One run of ten client processes, timed from its first node to its last round; `forget` runs it without a log."""

import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from nodes import nursery
from nodes.launch import launch
from nodes.watcher import Quiet
from protocol.messages import Progress
from scenarios.load import load_scenario
from scenarios.plan import Plan

__all__ = ["ROUNDS", "main"]

ROUNDS: Final = 3000


class Stopwatch(Quiet):
    """Notes when the first and the last round were seen closed."""

    first: tuple[float, int] | None = None
    last: tuple[float, int] = (0.0, 0)

    def started(self, plan: Plan) -> None:
        """Wait for the rounds."""

    def progressed(self, progress: Progress, measured: tuple[int, float] | None) -> None:
        """Note the time of a round."""
        del measured
        self.last = (time.perf_counter(), progress.round)
        if self.first is None and progress.round > 0:
            self.first = self.last


def main() -> None:
    """Print the seconds of a round."""
    if "forget" in sys.argv[1:]:
        nursery.PRELOAD.append("bench.forgetful")
    scenario = load_scenario("quickstart", [f"rounds={ROUNDS}", f"evaluation.every={ROUNDS}"])
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="foltr-bench-") as scratch:
        launch(scenario, Path(scratch), watch)
    first = watch.first or watch.last
    print((watch.last[0] - first[0]) / max(1, watch.last[1] - first[1]))  # noqa: T201 - its answer


if __name__ == "__main__":
    main()
