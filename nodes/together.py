"""Several runs at once, each in a process of its own, as many at a time as there are cores."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nodes.ending import Ending
from nodes.launch import launch
from protocol.forgetting import Beginning, Request
from scenarios.load import from_dict, to_dict
from scenarios.schema import Scenario

__all__ = ["Job", "launch_together"]


@dataclass(frozen=True, slots=True)
class Job:
    """A run to be made: its scenario, and how its unlearning begins if it is one."""

    scenario: Scenario
    unlearning: tuple[Request, Beginning] | None = None


def launch_together(
    jobs: Sequence[Job], runs: Path, parent: str, workers: int, done: Callable[[int], None]
) -> list[tuple[Path, Ending]]:
    """Make all runs, in the order given; where each is and how it ended. `done` is told how many are over."""
    if workers == 1 or len(jobs) == 1:
        made = []
        for job in jobs:
            made.append(launch(job.scenario, runs, None, parent, job.unlearning))
            done(len(made))
        return made
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(min(workers, len(jobs)), context) as pool:
        waiting = [pool.submit(_run, to_dict(job.scenario), runs, parent, job.unlearning) for job in jobs]
        open_ones: set[Future[Any]] = set(waiting)
        try:
            while open_ones:
                over, open_ones = wait(open_ones, return_when="FIRST_COMPLETED")
                done(len(waiting) - len(open_ones))
                for one in over:
                    one.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [one.result() for one in waiting]


def _run(
    tables: dict[str, Any], runs: Path, parent: str, unlearning: tuple[Request, Beginning] | None
) -> tuple[Path, Ending]:
    return launch(from_dict(tables), runs, None, parent, unlearning)
