"""From a scenario to a run that is over: its directory, its plan, its engine."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson

import learning
from nodes.ending import Ending, Interruption
from nodes.engines import inline, processes
from nodes.nursery import start_forkserver
from nodes.past import Past, read_past
from nodes.watcher import Quiet, Watcher
from protocol.errors import UserError
from protocol.forgetting import Beginning, Request
from protocol.layout import LATEST, SCENARIO
from protocol.presence import is_live
from scenarios.load import from_dict, to_dict
from scenarios.plan import Plan, open_data
from scenarios.schema import Scenario

__all__ = ["ENGINES", "act", "launch", "make_run_directory", "prepare", "read_scenario", "resume", "start_early"]

ENGINES: dict[str, Callable[[Plan, Watcher, Interruption, Past | None], Ending]] = {
    "processes": processes.act_out,
    "inline": inline.act_out,
}
"""Who acts a plan out, by the engine's name."""


def launch(
    scenario: Scenario,
    runs: Path,
    watcher: Watcher | None = None,
    parent: str = "",
    unlearning: tuple[Request, Beginning] | None = None,
) -> tuple[Path, Ending]:
    """Run a scenario to its end, perhaps as a variation or the unlearning of another run; where, and how it ended."""
    watcher = watcher or Quiet()
    if scenario.unlearning and unlearning is None:
        raise UserError(f"{scenario.name} is the unlearning of another run; foltr unlearn makes it from that run's log")
    start_early(scenario)
    plan = replace(prepare(scenario, runs, watcher), parent=parent, unlearning=unlearning)
    return plan.run, act(plan, watcher)


def start_early(scenario: Scenario) -> None:
    """Let the forkserver load its imports while the run is prepared, where there will be processes."""
    if scenario.federation.engine == "processes":
        start_forkserver()


def prepare(scenario: Scenario, runs: Path, watcher: Watcher) -> Plan:
    """Have the data set at hand and make the run's directory."""
    features = open_data(scenario, watcher.parsed).dimension
    return Plan(scenario, make_run_directory(scenario, runs), features, os.cpu_count() or 1)


def act(plan: Plan, watcher: Watcher, past: Past | None = None) -> Ending:
    """Act a plan out with its engine; how it ended."""
    learner = plan.scenario.learner.kind
    if learning.is_cold(learner):
        watcher.noticed("compiling the numeric kernels for this machine: once, some ten seconds")
        if learner != "pdgd":  # whose kernels the forkserver compiles; else each host would
            learning.warm(plan.scenario.data.dtype, learner)
    start_early(plan.scenario)
    with Interruption() as interruption:
        return ENGINES[plan.scenario.federation.engine](plan, watcher, interruption, past)


def resume(run: Path, watcher: Watcher | None = None) -> Ending:
    """Let a run that was stopped or killed go on from its last closed round, to its end."""
    watcher = watcher or Quiet()
    if is_live(run):
        raise UserError(f"{run} is live; foltr ps shows its nodes")
    past = read_past(run)
    if past.outcome == "completed":
        raise UserError(f"{run} is completed with {past.closed} rounds: there is nothing left to do")
    scenario = read_scenario(run)
    start_early(scenario)
    features = open_data(scenario, watcher.parsed).dimension
    return act(past.onto(Plan(scenario, run, features, past.hosts)), watcher, past)


def read_scenario(run: Path) -> Scenario:
    """The scenario of a run, as it was resolved."""
    try:
        return from_dict(orjson.loads((run / SCENARIO).read_bytes()))
    except (OSError, ValueError) as error:
        raise UserError(f"{run} has no readable {SCENARIO}: {error}") from error


def make_run_directory(scenario: Scenario, runs: Path) -> Path:
    """A new directory `runs/<scenario>/<time>-<seed>` with the scenario in it; `runs/latest` points at it."""
    stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{scenario.seed}"
    try:
        run = _fresh(runs / scenario.name, stamp)
        (run / SCENARIO).write_bytes(orjson.dumps(to_dict(scenario), option=orjson.OPT_INDENT_2))
        _point(runs / LATEST, run)
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
