"""Fuzzing: seeded schedules of faults on the inline engine, each run checked and compared with an undisturbed one.

A schedule is a function of its seed. It kills and restarts nodes, the coordinator among them, pauses them, lets clients
come and go, treats frames badly, and crashes the coordinator between logging a frame and sending it. Whatever happened,
the log must pass every check; and where the run waits for everyone, each model must have the bits of the same run
without faults. A failure is told in one line that reproduces it.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from learning.streams import Purpose, stream
from nodes.ending import Interruption
from nodes.engines.inline import Crash, Federation
from nodes.launch import make_run_directory
from nodes.watcher import Quiet
from protocol.journal import journal_path, read_journal
from protocol.messages import COORDINATOR
from scenarios.load import from_dict
from scenarios.plan import Plan, open_data
from scenarios.schema import Scenario

__all__ = ["Schedule", "fuzz", "make_schedule", "try_schedule"]

SOURCE: Final = "synthetic:mq2007?queries=12&documents=6"
PRIVATE: Final = 0.4
"""How many of those that send models add shares of noise, which are counted, topped up or thrown away."""
EVOLVING: Final = 0.25
"""How many of the schedules learn by evolution strategies, whose coordinator has something to remember."""
RULES: Final = ("fedavg", "fedavg", "guarded", "centred_clipping")
"""Rules without and with a memory that must outlive the coordinator; all serve any number of clients."""
MOST_FRAMES: Final = 200_000
"""Frames after which a run of a dozen rounds will not finish any more."""

Check = Callable[[Path], list[str]]
"""Says what is wrong with a run's log; nothing if nothing is."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One fuzzed run: its scenario, and the coordinator's sends before which it crashes."""

    seed: int
    tables: dict[str, Any]
    crashes: frozenset[int]

    @property
    def scenario(self) -> Scenario:
        """The scenario with all its faults."""
        return from_dict(self.tables)

    @property
    def calm(self) -> Scenario:
        """The same without faults: only coming and leaving is left of the timeline."""
        kept = [one for one in self.tables["timeline"] if "add" in one or "leave" in one]
        return from_dict(self.tables | {"timeline": kept})


def fuzz(schedules: int, seed: int, where: Path, check: Check) -> Iterator[tuple[int, str | None]]:
    """Try so many schedules from a seed on; each one's seed, and what is wrong with it."""
    for number in range(seed, seed + schedules):
        yield number, try_schedule(make_schedule(number), where, check)


def make_schedule(seed: int) -> Schedule:
    """The schedule of a seed."""
    random = stream(seed, Purpose.FAULT)
    clients, rounds = int(random.integers(2, 7)), int(random.integers(4, 13))
    wait = bool(random.random() < 0.7)
    always = bool(random.random() < 0.6)
    timeline = [_happening(random, clients, rounds, wait=wait, always=always) for _ in range(random.integers(1, 7))]
    crashes = random.integers(1, 12 * rounds, size=int(random.integers(0, 4)) if always else 0)
    tables = {
        "name": "fuzz",
        "seed": seed % 1000,
        "rounds": rounds,
        "data": {"source": SOURCE},
        "federation": {
            "engine": "inline",
            "hosts": int(random.integers(1, clients + 1)),
            "on_missing": "wait" if wait else "skip",
            "deadline": "5s",
            "quorum": 0.1,
            "restart": "always" if always else "never",
        },
        "evaluation": {"every": rounds},
        "learner": {"interactions": 2},
        "clients": [{"count": clients, "clicks": "informational"}],
        "timeline": timeline,
    }
    tables["aggregation"] = {"rule": str(random.choice(RULES))}
    if clients > 2 and random.random() < 0.5:
        tables |= _plot(random, clients, rounds, timeline, wait=wait, always=always)
    elif random.random() < EVOLVING:
        tables["learner"] = {"kind": "es", "interactions": 2, "p": 0.5}
        del tables["aggregation"]
    if "aggregation" in tables and random.random() < PRIVATE:
        noise = {"mechanism": "laplace-shares", "epsilon": 4.5, "sensitivity": 5}
        noise["shares"] = str(random.choice(["expected", "quorum"]))
        noise["on_deficit"] = str(random.choice(["proceed", "top-up", "abort"]))
        tables |= {"privacy": noise, "aggregation": {"rule": "fedavg"}}
    return Schedule(seed, tables, frozenset(crashes.tolist()))


def _plot(
    random: np.random.Generator, clients: int, rounds: int, timeline: list[dict[str, Any]], *, wait: bool, always: bool
) -> dict[str, Any]:
    """Some of the clients collude, and something happens to their adversary, too."""
    members = int(random.integers(1, (clients + 1) // 2))
    choices = ["honest", "silent"] if not wait or always else ["wait"]
    attack: dict[str, Any] = {
        "kind": str(random.choice(["lie", "fang_mean", "ipm"])),
        "knowledge": str(random.choice(["partial", "full"])),
        "start": int(random.integers(1, rounds + 1)),
    }
    if not wait or always:
        attack["without_adversary"] = str(random.choice(choices))
    happening: dict[str, Any] = {"at_round": int(random.integers(1, rounds + 1))}
    seconds = f"{int(random.integers(1, 4000))}ms"
    match random.choice(["kill", "pause", "restart", "drop", "partition"]):
        case "kill":
            happening |= {"kill": "adversary", "restart_after": seconds}
        case "pause":
            happening |= {"pause": "adversary", "for": seconds}
        case "restart":
            happening |= {"restart": "adversary"}
        case "drop":
            happening |= {"drop": "adversary", "for": seconds, "probability": 0.5}
        case _:
            happening |= {"partition": "adversary", "for": seconds}
    groups: list[dict[str, Any]] = [{"count": clients - members}, {"count": members, "attack": attack}]
    return {"clients": [one | {"clicks": "informational"} for one in groups], "timeline": [*timeline, happening]}


def try_schedule(schedule: Schedule, where: Path, check: Check) -> str | None:
    """Run a schedule; what is wrong, or none. What was fine leaves nothing behind."""
    try:
        run, outcome = _run(schedule.scenario, where, schedule.crashes)
        problems = check(run)
        if outcome == "completed" and schedule.scenario.federation.on_missing == "wait":
            calm, _ = _run(schedule.calm, where, frozenset())
            problems += _differences(run, calm)
        elif outcome != "completed":
            problems += [] if _may_fail(schedule) else [f"the run did not complete: {outcome}"]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the fuzzer looks for
        return f"{type(error).__name__}: {error}"
    if not problems:
        shutil.rmtree(where / "fuzz", ignore_errors=True)
    return "; ".join(problems) or None


def _happening(random: np.random.Generator, clients: int, rounds: int, *, wait: bool, always: bool) -> dict[str, Any]:
    """One thing that happens; under `wait`, never one that would keep a round waiting for ever."""
    kinds = ["kill", "pause", "restart", "leave", "add", "delay", "drop", "duplicate", "reorder", "corrupt"]
    kind = str(random.choice([*kinds, "partition", "throttle"]))
    entry: dict[str, Any] = {"at_round": int(random.integers(1, rounds + 1))}
    someone = f"client-{random.integers(1, clients + 1)}"
    whom = str(random.choice([someone, "clients", "50%"]))
    seconds = f"{int(random.integers(1, 4000))}ms"
    if kind == "kill":
        entry |= {"kill": str(random.choice([whom, "coordinator"])) if always else whom}
        entry |= {"restart_after": seconds} if wait or random.random() < 0.5 else {}
    elif kind == "pause":
        entry |= {"pause": whom, "for": seconds}
    elif kind == "add":
        entry |= {"add": int(random.integers(1, 3))}
    elif kind in ("restart", "leave"):
        entry |= {kind: someone}
    else:
        entry |= {kind: whom, "for": seconds}
        if kind in ("drop", "duplicate", "reorder", "corrupt"):
            entry["probability"] = round(float(random.uniform(0.05, 0.9)), 3)
        if kind == "delay":
            entry |= {
                "by": f"{int(random.integers(1, 500))}ms",
                "distribution": str(random.choice(["fixed", "uniform", "exponential"])),
            }
        if kind == "throttle":
            entry["rate"] = int(random.integers(500, 50_000))
    return entry


def _run(scenario: Scenario, where: Path, crashes: frozenset[int]) -> tuple[Path, str]:
    """Run a scenario inline with crashes of the coordinator before its so-manieth sends."""
    data = open_data(scenario)
    plan = Plan(scenario, make_run_directory(scenario, where), data.dimension, 2)
    sent = 0

    def before_send() -> None:
        nonlocal sent
        sent += 1
        if sent > MOST_FRAMES:
            raise RuntimeError(f"the run did not end within {MOST_FRAMES} frames")
        if sent in crashes:
            raise Crash

    federation = Federation(plan, Quiet(), Interruption(), before_send=before_send)
    try:
        ending = federation.run()
    finally:
        federation.close()
    return plan.run, ending.outcome if ending.outcome == "completed" else f"{ending.outcome}: {ending.reason}"


def _may_fail(schedule: Schedule) -> bool:
    """Whether a run may honestly end early: where it goes on without the missing and they are never brought back."""
    federation = schedule.scenario.federation
    emptied = any("leave" in one for one in schedule.tables["timeline"])
    return emptied or (federation.on_missing == "skip" and federation.restart == "never")


def _differences(run: Path, calm: Path) -> list[str]:
    """The first round whose model has other bits than without faults."""
    mine, theirs = _models(run), _models(calm)
    if mine.keys() != theirs.keys():
        return [f"{len(mine) - 1} rounds were closed, and {len(theirs) - 1} without faults"]
    different = [number for number in mine if mine[number] != theirs[number]]
    return [f"model {different[0]} differs from the one without faults"] if different else []


def _models(run: Path) -> dict[int, str]:
    records = read_journal(journal_path(run, COORDINATOR))
    return {record["round"]: record["model"] for record in records if record["event"] == "round.closed"}
