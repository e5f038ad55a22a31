"""What a run's log tells about where it stood: enough to go on from its last closed round."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from learning.aggregation import Updates
from protocol.errors import UserError
from protocol.journal import journal_path, read_lines
from protocol.messages import COORDINATOR, SUPERVISOR
from scenarios.roster import Client, setting_of

__all__ = ["Past", "closed_rounds", "read_past"]

_OF_INTEREST = ("round.closed", "run.finished", "clients.enrolled", "client.left")


@dataclass(frozen=True, slots=True)
class Past:
    """Where a run stood: its last closed round, that round's model, and who came and went by which round.

    hosts      how many hosts the scenario's own clients live on
    performed  rounds before which the timeline has done its part already
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
    return Past(closed, np.array(theta), tuple(added), since, until, hosts, performed, outcome, tuple(privacy))


def closed_rounds(run: Path, last: int) -> Iterator[Updates]:
    """What was aggregated in the rounds 1 to `last`, in order, for a rule that has to remember it; some at a time."""
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
                if number:
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
