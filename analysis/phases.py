"""The phases of unlearning that a log has, and their steps."""

import json
from dataclasses import dataclass
from typing import Any

from analysis.runs import Run
from protocol.forgetting import Step

__all__ = ["Unlearning", "forgetting_rows", "steps", "unlearnings"]

RECORDS = "select round, record from events where node = 'coordinator' and event = $event order by seq"

NDCG = "select value from metrics where name like 'ndcg_at_%' and client is null and round = $round"


@dataclass(frozen=True, slots=True)
class Unlearning:
    """One phase: whom it forgot and how; `first` is the round it started with, `origin` the last that stayed."""

    first: int
    steps: int
    clients: tuple[str, ...]
    settings: dict[str, Any]
    after: int
    origin: int
    most: int
    calibrated: bool


def unlearnings(run: Run) -> list[Unlearning]:
    """The phases of a run, in order; of one that a crash cut off at its start, the next try is told."""
    found = {}
    for row in run.rows(RECORDS, {"event": "phase.began"}):
        told = json.loads(row["record"])
        found[row["round"]] = Unlearning(
            first=row["round"],
            steps=told["steps"],
            clients=tuple(told["clients"]),
            settings=told["settings"],
            after=told["after"],
            origin=told["origin"],
            most=told["most"],
            calibrated=told["calibrated"],
        )
    return list(found.values())


def steps(run: Run) -> dict[int, Step]:
    """The steps of all phases by their rounds."""
    told = ((row["round"], json.loads(row["record"])) for row in run.rows(RECORDS, {"event": "update.kept"}))
    return {number: Step(one["of"], one["draws"], tuple(one["clients"]), tuple(one["norm"])) for number, one in told}


def forgetting_rows(run: Run) -> list[dict[str, Any]]:
    """A row a phase of unlearning: who was forgotten, how, in which rounds, and what it did to the models."""
    return [
        {
            "forgotten": ", ".join(one.clients),
            "method": ", ".join(f"{name} {value}" for name, value in one.settings.items()),
            "rounds": f"{one.first:,} to {one.first + one.steps:,}",
            "nDCG before": _ndcg(run, one.first - 1),
            "nDCG at its start": _ndcg(run, one.first),
            "nDCG after": _ndcg(run, one.first + one.steps),
        }
        for one in unlearnings(run)
    ]


def _ndcg(run: Run, number: int) -> float | None:
    rows = run.rows(NDCG, {"round": number})
    return rows[0]["value"] if rows else None
