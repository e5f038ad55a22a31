"""From a scenario to a run that is over: its directory, its plan, its engine."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import orjson

from nodes.control import is_live
from nodes.ending import Ending, Interruption
from nodes.engines import inline, processes
from nodes.nursery import start_forkserver
from nodes.past import Past, read_past
from nodes.watcher import Quiet, Watcher
from protocol.errors import UserError
from scenarios.load import from_dict, to_dict
from scenarios.plan import Plan, open_data
from scenarios.schema import Scenario

__all__ = ["ENGINES", "launch", "make_run_directory", "read_scenario", "resume"]

SCENARIO: Final = "scenario.json"

ENGINES: dict[str, Callable[[Plan, Watcher, Interruption, Past | None], Ending]] = {
    "processes": processes.act_out,
    "inline": inline.act_out,
}
"""Who acts a plan out, by the engine's name."""


def launch(scenario: Scenario, runs: Path, watcher: Watcher | None = None) -> tuple[Path, Ending]:
    """Run a scenario to its end; the run's directory and how it ended."""
    watcher = watcher or Quiet()
    features = _prepare(scenario, watcher)
    run = make_run_directory(scenario, runs)
    plan = Plan(scenario, run, features, os.cpu_count() or 1)
    with Interruption() as interruption:
        return run, ENGINES[scenario.federation.engine](plan, watcher, interruption, None)


def resume(run: Path, watcher: Watcher | None = None) -> Ending:
    """Let a run that was stopped or killed go on from its last closed round, to its end."""
    watcher = watcher or Quiet()
    if is_live(run):
        raise UserError(f"{run} is live; foltr ps shows its nodes")
    past = read_past(run)
    if past.outcome == "completed":
        raise UserError(f"{run} is completed: it has all its {past.closed} rounds")
    scenario = read_scenario(run)
    features = _prepare(scenario, watcher)
    plan = Plan(scenario, run, features, past.hosts, past.added, past.since, past.until)
    with Interruption() as interruption:
        return ENGINES[scenario.federation.engine](plan, watcher, interruption, past)


def read_scenario(run: Path) -> Scenario:
    """The scenario of a run, as it was resolved."""
    try:
        return from_dict(orjson.loads((run / SCENARIO).read_bytes()))
    except (OSError, ValueError) as error:
        raise UserError(f"{run} has no readable {SCENARIO}: {error}") from error


def _prepare(scenario: Scenario, watcher: Watcher) -> int:
    """Have the data set and the kernels at hand; the number of features."""
    if scenario.federation.engine == "processes":
        start_forkserver()
    return open_data(scenario, watcher.parsed).dimension


def make_run_directory(scenario: Scenario, runs: Path) -> Path:
    """A new directory `runs/<scenario>/<time>-<seed>` with the scenario in it; `runs/latest` points at it."""
    stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{scenario.seed}"
    try:
        run = _fresh(runs / scenario.name, stamp)
        (run / SCENARIO).write_bytes(orjson.dumps(to_dict(scenario), option=orjson.OPT_INDENT_2))
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
