"""From a scenario to a run that is over: its directory, its plan, its engine."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from nodes.ending import Ending, Interruption
from nodes.engines import inline, processes
from nodes.nursery import start_forkserver
from nodes.watcher import Quiet, Watcher
from protocol.errors import UserError
from scenarios.load import to_dict
from scenarios.plan import Plan, open_data
from scenarios.schema import Scenario

__all__ = ["ENGINES", "launch", "make_run_directory"]

ENGINES: dict[str, Callable[[Plan, Watcher, Interruption], Ending]] = {
    "processes": processes.act_out,
    "inline": inline.act_out,
}
"""Who acts a plan out, by the engine's name."""


def launch(scenario: Scenario, runs: Path, watcher: Watcher | None = None) -> tuple[Path, Ending]:
    """Run a scenario to its end; the run's directory and how it ended."""
    watcher = watcher or Quiet()
    engine = scenario.federation.engine
    if engine == "processes":
        start_forkserver()
    data = open_data(scenario, watcher.parsed)
    run = make_run_directory(scenario, runs)
    plan = Plan(scenario, run, data.dimension, os.cpu_count() or 1)
    with Interruption() as interruption:
        return run, ENGINES[engine](plan, watcher, interruption)


def make_run_directory(scenario: Scenario, runs: Path) -> Path:
    """A new directory `runs/<scenario>/<time>-<seed>` with the scenario in it; `runs/latest` points at it."""
    stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{scenario.seed}"
    try:
        run = _fresh(runs / scenario.name, stamp)
        (run / "scenario.json").write_bytes(orjson.dumps(to_dict(scenario), option=orjson.OPT_INDENT_2))
        _point(runs / "latest", run)
    except OSError as error:
        raise UserError(f"the run directory cannot be written: {error.strerror}: {error.filename or runs}") from error
    return run


def _fresh(parent: Path, stamp: str) -> Path:
    """A directory that nobody else has, even if two runs start within a second."""
    for copy in range(1000):
        run = parent / (f"{stamp}-{copy + 1}" if copy else stamp)
        try:
            run.mkdir(parents=True)
        except FileExistsError:
            if run.is_dir():
                continue
            raise
        return run.resolve()
    raise UserError(f"{parent} has a thousand runs of this second and seed already")


def _point(link: Path, run: Path) -> None:
    """Let the link point at the run, in one step."""
    fresh = link.with_name(f".latest-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(os.path.relpath(run, link.parent.resolve()))
    fresh.replace(link)
