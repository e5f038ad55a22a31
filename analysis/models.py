"""Every model of a run and the updates that it is made of, streamed from the log in the order of its records.

One round is in memory at a time, however long the run and however many its clients. A directory's journal is read line
by line; a packed run's tables are read in slices.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from analysis.runs import Run
from protocol.journal import journal_path, read_lines
from protocol.messages import COORDINATOR

__all__ = ["LoggedModel", "LoggedUpdate", "logged_models"]

TRIAL: Final = 3  # numbers of a trial: a seed and two figures
SLICE: Final = 1000  # rows of a packed run that are in memory at once

PACKED_ROUNDS: Final = """
select seq, record
from events
where node = 'coordinator' and event in ('round.closed', 'run.resumed', 'shares.received')
order by seq
"""
PACKED_UPDATES: Final = """
select seq, round, phase, client, n, theta, norm, online_ndcg_at_10, seed, f_plus, f_minus
from log.updates
where accepted and client is not null
order by seq
"""

Floats = NDArray[np.float64]


class LoggedUpdate(NamedTuple):
    """An accepted update as the log has it; theta [d] is none where the log keeps no weights.

    tried  whether it is a trial: then theta is its seed and two figures, and what users saw is in its host's log
    """

    round: int
    client: str
    n: int
    theta: Floats | None
    norm: float | None
    online: float | None
    tried: bool = False

    @property
    def erased(self) -> bool:
        """Whether what the client sent was removed from the log."""
        return self.theta is None and self.norm is None


@dataclass(slots=True)
class LoggedModel:
    """A closed round: its model, of whom it is made, and every update that was accepted for it.

    theta     [d], none where the record is damaged
    updates   those that a coordinator had accepted before it died, too: a resumed run asks again
    answers   by client, the update of it that is in the model, of those that are
    noise     by client, what it gave last in the place of missing noise shares, [d]
    privacy   what the round's record tells of its noise; none without a mechanism
    """

    round: int
    phase: str
    theta: Floats | None
    model: str
    participants: list[str]
    updates: list[LoggedUpdate] = field(default_factory=list)
    answers: dict[str, LoggedUpdate] = field(default_factory=dict)
    noise: dict[str, Floats | None] = field(default_factory=dict)
    privacy: dict[str, Any] | None = None

    @property
    def discarded(self) -> bool:
        """Whether the round's updates were thrown away, so that its model is the one before."""
        return bool(self.privacy and self.privacy.get("discarded"))

    def local_models(self) -> tuple[Floats, NDArray[np.int64]] | None:
        """The local models [n, d] or trials [n, 3] and interactions [n] in client order; none if not all are there.

        A client that gave noise in the place of missing shares has it in its model.
        """
        found = [self.answers.get(name) for name in self.participants]
        thetas = [one.theta for one in found if one is not None and one.theta is not None]
        if self.theta is None or len(thetas) < len(found):
            return None
        width = TRIAL if any(one.tried for one in found if one is not None) else len(self.theta)
        if any(one.shape != (width,) for one in thetas):
            return None
        counts = [one.n for one in found if one is not None]
        models = np.array(thetas).reshape(-1, width)
        for giver in (self.privacy or {}).get("givers", ()):
            given = self.noise.get(giver)
            if given is None or given.shape != (width,) or giver not in self.participants:
                return None
            models[self.participants.index(giver)] += given
        return models, np.array(counts, dtype=np.int64)


def logged_models(run: Run) -> Iterator[LoggedModel]:
    """The models of a run, live, finished or packed."""
    records = _packed_records(run) if run.packed else _journal_records(run)
    updates: list[LoggedUpdate] = []
    answers: dict[str, LoggedUpdate] = {}
    noise: dict[str, Floats | None] = {}
    for record in records:
        match record.get("event"):
            case "update.received" | "trial.received":
                for one in _updates(record):
                    updates.append(one)
                    answers[one.client] = one
            case "shares.received":
                given = _weights(record.get("noise"), len(record.get("clients") or []))
                noise |= dict(zip(record.get("clients") or [], given, strict=False))
            case "run.resumed":
                answers, noise = {}, {}  # the open round is opened again
            case "round.closed":
                theta = record.get("theta")
                yield LoggedModel(
                    record["round"],
                    record.get("phase") or "training",
                    None if theta is None else np.array(theta, dtype=np.float64),
                    record.get("model") or "",
                    record.get("participants") or [],
                    updates,
                    answers,
                    noise,
                    record.get("privacy"),
                )
                updates, answers, noise = [], {}, {}


def _journal_records(run: Run) -> Iterator[dict[str, Any]]:
    """The coordinator's records; a damaged line is none."""
    for line in read_lines(journal_path(run.path, COORDINATOR)):
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue  # the view `damage` has it
        if isinstance(record, dict):
            yield record


def _packed_records(run: Run) -> Iterator[dict[str, Any]]:
    """The same of a packed run, an update a client."""
    with run.database.cursor() as rounds, run.database.cursor() as updates:
        closings = ((seq, orjson.loads(record)) for seq, record in _rows(rounds.execute(PACKED_ROUNDS)))
        received = ((row[0], _packed_update(*row[1:])) for row in _rows(updates.execute(PACKED_UPDATES)))
        for _, record in merge(closings, received, key=itemgetter(0)):
            yield record


def _rows(answer: Any) -> Iterator[tuple[Any, ...]]:
    while rows := answer.fetchmany(SLICE):
        yield from rows


def _packed_update(
    number: int, phase: str, client: str, n: int, theta: Any, norm: Any, online: Any, *trial: Any
) -> dict[str, Any]:
    told = {"round": number, "phase": phase, "clients": [client], "interactions": [n], "online": [online]}
    seed, *fitness = trial
    if seed is not None:
        return told | {"event": "trial.received", "seeds": [seed], "fitness": [fitness]}
    return told | {"event": "update.received", "thetas": None if theta is None else [theta], "norm": [norm]}


def _updates(record: dict[str, Any]) -> Iterable[LoggedUpdate]:
    """The updates of a record, a client each."""
    clients = record.get("clients") or []
    nothing = [None] * len(clients)
    tried = record["event"] == "trial.received"
    rows_sent = list(map(_trial, record.get("seeds") or (), record.get("fitness") or ())) if tried else None
    rows = zip(
        clients,
        record.get("interactions") or nothing,
        _weights(rows_sent if tried else record.get("thetas"), len(clients)),
        record.get("norm") or nothing,
        record.get("online") or nothing,
        strict=False,
    )
    return (LoggedUpdate(record["round"], *row, tried) for row in rows)


def _trial(seed: Any, fitness: Any) -> list[Any]:
    return [seed, *fitness] if isinstance(fitness, list) else [seed]


def _weights(thetas: Any, count: int) -> Sequence[Floats | None]:
    if thetas is None:
        return [None] * count
    try:
        if not any(one is None for one in thetas):  # else a client's row was erased
            return list(np.array(thetas, dtype=np.float64))
    except (TypeError, ValueError):
        pass  # rows that differ in length: a damaged record
    return [_row(one) for one in thetas] if len(thetas) == count else [None] * count


def _row(theta: Any) -> Floats | None:
    try:
        return None if theta is None else np.array(theta, dtype=np.float64)
    except (TypeError, ValueError):
        return None
