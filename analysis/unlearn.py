"""What a run would be without some of its clients: the runs that forget them, each by a method of its own.

A run of its own for every setting: rounds of unlearning alone, from the log of its parent. Retraining is the parent's
scenario again without the leavers, with the same seeds.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from analysis.memory import LogMemory
from analysis.phases import unlearnings
from analysis.rerun import variation
from analysis.runs import Run
from learning.unlearning import METHODS
from protocol.errors import UserError
from protocol.forgetting import Beginning, Request
from scenarios.load import from_dict
from scenarios.plan import Plan, open_data
from scenarios.roster import setting_of
from scenarios.schema import Scenario
from scenarios.unlearning import begin_unlearning

__all__ = ["RETRAIN", "Forgetful", "forgetful_runs", "settings_of"]

RETRAIN: Final = "retrain"
COMMAND: Final = "foltr unlearn"
LONGEST_NAME: Final = 64


@dataclass(frozen=True, slots=True)
class Forgetful:
    """A run to be made: its scenario, and how its unlearning begins; none for retraining."""

    settings: dict[str, Any]
    scenario: Scenario
    unlearning: tuple[Request, Beginning] | None


def settings_of(methods: Sequence[str], every: Sequence[int], interactions: Sequence[int]) -> list[dict[str, Any]]:
    """The grid: each method with each value of the settings that it has."""
    made: list[dict[str, Any]] = []
    for method in methods:
        if method not in METHODS:
            raise UserError(f"a method must be one of {', '.join(METHODS)}; got {method!r}")
        lists = {"federaser": (every, interactions), "fedavg-retrain": (every, interactions), "accumulate": ((1,), ())}
        names = ("every", "interactions")[: len([one for one in lists.get(method, ()) if one])]
        values = [one for one in lists.get(method, ()) if one]
        made += [{"method": method, **dict(zip(names, cell, strict=True))} for cell in product(*values)]
    return made


def forgetful_runs(
    run: Run, leavers: Sequence[str], grid: Sequence[dict[str, Any]], engine: str, at: int | None = None
) -> tuple[list[Forgetful], int]:
    """The runs that forget the leavers as if they had left after a round, the last one by default; and that round."""
    told = run.rows("select scenario from run")
    if not told or not told[0]["scenario"]:
        raise UserError(f"{run.path} has no record of its scenario")
    closed = run.rows("select max(round) as last from rounds")[0]["last"]
    after = closed if at is None else at
    if closed is None or not 0 < after <= closed:
        raise UserError(f"a run can forget what its rounds 1 to {closed or 0} taught; got round {after}")
    clients = _clients(run, after)
    unknown = [one for one in leavers if one not in clients]
    if unknown or not leavers:
        some = ", ".join(list(clients)[:10])
        raise UserError(f"a leaver must be a client of the run, one of {some}; got {', '.join(unknown) or 'nobody'}")
    for one in unlearnings(run):
        if again := [client for client in leavers if client in one.clients and one.first <= after]:
            raise UserError(f"{', '.join(again)} was forgotten in round {one.first}; --at {one.after} goes back before")
    tables: dict[str, Any] = json.loads(told[0]["scenario"])
    scenario = from_dict(tables)
    plan = Plan(scenario, run.path, open_data(scenario).dimension, 1)
    memory = LogMemory(run, after)
    counted = "select count(*) as n from rounds where phase = 'training' and round between 1 and $last"
    trained = run.rows(counted, {"last": after})[0]["n"]
    remaining = [client for client, row in clients.items() if client not in leavers and not row["gone"]]
    made: list[Forgetful] = []
    for settings in grid:
        name = _name(scenario.name, settings)
        if settings["method"] == RETRAIN:
            changed = variation(run, leavers, rounds=trained) | {"name": name}
            changed["federation"] |= {"engine": engine}
            made.append(Forgetful(settings, from_dict(changed), None))
            continue
        plan.check_forget(settings)
        beginning = begin_unlearning(settings, leavers, remaining, memory, plan.start)
        request = Request(tuple(leavers), settings | {"then": "end"}, COMMAND)
        roster = [_group(clients[client]) for client in remaining]
        federation = tables["federation"] | {"engine": engine, "hosts": "auto"}
        own = {"name": name, "rounds": max(1, len(beginning.steps)), "timeline": [], "expect": {}}
        source = {"parent": str(run.path), "clients": list(leavers), "after": after, "forget": settings}
        changed = tables | own | {"clients": roster, "federation": federation, "unlearning": source}
        made.append(Forgetful(settings, from_dict(changed), (request, beginning)))
    return made, after


def _clients(run: Run, after: int) -> dict[str, dict[str, Any]]:
    """Everyone who was ever enrolled, in the roster's order; `gone` are those who had left by the round after."""
    rows = run.rows("select id, clicks, attack, interactions from clients order by number")
    left = run.rows("select round, record from events where event = 'client.left'")
    gone = {client for row in left if row["round"] <= after + 1 for client in json.loads(row["record"])["clients"]}
    return {row["id"]: row | {"gone": row["id"] in gone} for row in rows}


def _group(row: dict[str, Any]) -> dict[str, Any]:
    """A client as a group of its own."""
    attack = {"attack": json.loads(row["attack"])} if row["attack"] else {}
    return {"id": row["id"], "clicks": setting_of(row["clicks"]), "interactions": row["interactions"], **attack}


def _name(parent: str, settings: dict[str, Any]) -> str:
    """What the run is called: its parent, the method and its settings."""
    own = "-".join(
        [str(settings["method"]), *(f"{key[0]}{value}" for key, value in settings.items() if key != "method")]
    )
    return f"{parent[: LONGEST_NAME - len(own) - 1]}.{own}"
