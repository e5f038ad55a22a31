"""What a run's log tells about where it stood: enough to go on from its last closed round."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from learning.aggregation import Updates
from protocol.errors import UserError
from protocol.forgetting import Phase, Request, Step
from protocol.journal import journal_path, read_lines
from protocol.messages import COORDINATOR, SUPERVISOR
from scenarios.plan import Plan
from scenarios.roster import Client, setting_of

__all__ = ["Past", "closed_rounds", "read_past"]

_OF_INTEREST = ("round.closed", "run.finished", "clients.enrolled", "client.left")
_OF_FORGETTING = ("forget.asked", "phase.began", "update.kept")


@dataclass(frozen=True, slots=True)
class Past:
    """Where a run stood: its last closed round, that round's model, and who came and went by which round.

    hosts      how many hosts the scenario's own clients live on
    performed  rounds before which the timeline has done its part already
    asked      who is still to be forgotten
    phases     the phases of unlearning so far; the last one may not be over
    outcome    how it ended, if it did
    privacy    what each closed round cost, as its record tells; empty without a mechanism
    """

    closed: int
    theta: NDArray[np.float64]
    added: tuple[Client, ...]
    since: dict[str, int]
    until: dict[str, int]
    hosts: int
    performed: frozenset[int]
    outcome: str
    privacy: tuple[dict[str, Any], ...] = ()
    asked: tuple[Request, ...] = ()
    phases: tuple[Phase, ...] = ()

    def onto(self, plan: Plan) -> Plan:
        """The plan of a run that goes on from here."""
        return replace(plan, added=self.added, since=self.since, until=self.until, asked=self.asked, phases=self.phases)


def read_past(run: Path) -> Past:
    """Read the logs of a run as far as they are whole."""
    closed, theta, outcome, enrolled, hosts = -1, None, "", 0, 1
    added: list[Client] = []
    privacy: list[dict[str, Any]] = []
    since: dict[str, int] = {}
    until: dict[str, int] = {}
    for record in _records(run, COORDINATOR, _OF_INTEREST):
        match record["event"]:
            case "round.closed":
                closed, theta, outcome = record["round"], record["theta"], ""
                privacy += [record["privacy"]] if "privacy" in record else []
            case "run.finished":
                outcome = record["outcome"]
            case "client.left":
                until |= dict.fromkeys(record["clients"], record["round"])
            case "clients.enrolled":
                if "round" in record:  # not the roster that the scenario gives
                    columns = (record[column] for column in ("clients", "clicks", "interactions", "attacks"))
                    for number, (name, clicks, count, attack) in enumerate(zip(*columns, strict=True), start=enrolled):
                        read = setting_of(attack)
                        attacks = read if isinstance(read, Mapping) else None
                        added.append(Client(name, number, setting_of(clicks), count, attacks))
                        since[name] = record["round"]
                else:
                    hosts = len(set(record["hosts"]))
                enrolled += len(record["clients"])
    if theta is None:
        raise UserError(f"{run} has no model to go on from; run its scenario again")
    performed = frozenset(record["round"] for record in _records(run, SUPERVISOR, ("timeline.performed",)))
    waiting, phases = _forgetting(run, closed)
    told = (tuple(privacy), waiting, phases)
    return Past(closed, np.array(theta), tuple(added), since, until, hosts, performed, outcome, *told)


def _forgetting(run: Path, closed: int) -> tuple[tuple[Request, ...], tuple[Phase, ...]]:
    """Who is still to be forgotten, and the phases of unlearning that have begun."""
    asked: list[Request] = []
    began: dict[int, dict[str, Any]] = {}
    kept: dict[int, Step] = {}
    for record in _records(run, COORDINATOR, _OF_FORGETTING):
        match record["event"]:
            case "forget.asked":
                asked.append(Request(tuple(record["clients"]), record["settings"], record["by"]))
            case "update.kept":
                names, norms = tuple(record["clients"]), tuple(record["norm"])
                kept[record["round"]] = Step(record["of"], record["draws"], names, norms)
            case "phase.began":
                began[record["round"]] = record
    phases = tuple(_phase(record, closed, kept) for record in began.values() if record["round"] <= closed)
    forgotten = {client for phase in phases for client in phase.request.clients}
    return tuple(one for one in asked if not forgotten.issuperset(one.clients)), phases


def _phase(record: dict[str, Any], closed: int, kept: dict[int, Step]) -> Phase:
    """A phase that has begun, with the steps that are still to come."""
    request = Request(tuple(record["clients"]), record["settings"], record["by"])
    first, length = record["round"], record["steps"]
    done = min(max(first, closed), first + length)
    steps = tuple(kept[number] for number in range(done + 1, first + length + 1))
    return Phase(first, length, request, record["most"], record["calibrated"], done, steps)


def closed_rounds(run: Path, last: int, since: int = 0) -> Iterator[Updates]:
    """What was aggregated in the rounds after `since` up to `last`, in order, for a rule that has to remember it."""
    numbers: dict[str, int] = {}
    answers: dict[str, tuple[list[float], int]] = {}  # the last of those that a client gave in the open round
    before = np.empty(0)
    for record in _records(run, COORDINATOR, ("clients.enrolled", "update.received", "trial.received", "round.closed")):
        match record["event"]:
            case "clients.enrolled":
                numbers |= {name: len(numbers) + place for place, name in enumerate(record["clients"])}
            case "update.received":
                columns = (record[column] for column in ("clients", "thetas", "interactions"))
                answers |= {name: (theta, count) for name, theta, count in zip(*columns, strict=True)}
            case "trial.received":
                columns = (record[column] for column in ("clients", "seeds", "fitness", "interactions"))
                answers |= {name: ([seed, *both], count) for name, seed, both, count in zip(*columns, strict=True)}
            case "round.closed":
                number, names = record["round"], record["participants"]
                if number > since and names:
                    yield Updates(
                        np.array([answers[name][0] for name in names]),
                        np.array([answers[name][1] for name in names], dtype=np.int64),
                        np.array([numbers[name] for name in names], dtype=np.int64),
                        before,
                        number,
                    )
                if number >= last:
                    return
                answers, before = {}, np.array(record["theta"])


def _records(run: Path, node: str, events: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The records of some events in a node's log; the other lines are not parsed."""
    starts = tuple(f'{{"event":"{event}"'.encode() for event in events)
    return (orjson.loads(line) for line in read_lines(journal_path(run, node)) if line.startswith(starts))
