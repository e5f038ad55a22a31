"""What a live run's own log remembers: the updates that its clients would have kept, and its models."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from learning.unlearning import Made
from protocol.errors import UserError
from protocol.journal import journal_path, read_lines
from protocol.messages import COORDINATOR

__all__ = ["JournalMemory"]

_CLOSED: Final = b'{"event":"round.closed"'
_UPDATE: Final = b'{"event":"update.received"'
_BEGAN: Final = b'{"event":"phase.began"'
_KEPT: Final = b'{"event":"update.kept"'
_ROUND: Final = re.compile(rb'"round":(\d+)')
_HEAD: Final = 400  # bytes of a line within which it tells its round

Floats = NDArray[np.float64]


class JournalMemory:
    """The coordinator's journal of a run, up to the closed round `after`."""

    def __init__(self, run: Path, after: int) -> None:
        self.after = after
        self._path = journal_path(run, COORDINATOR)
        began = [record for record in self._records(_BEGAN) if record["round"] <= after]
        self.restarts: list[tuple[int, int]] = [(record["round"], record["origin"]) for record in began]

    def norms(self, rounds: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        """By round, ‖θ_c − θ_t‖ of each client whose update is in the round's model."""
        told: dict[int, dict[str, float]] = {number: {} for number in rounds}
        for record in self._records(_UPDATE, told):
            told[record["round"]] |= dict(zip(record["clients"], record["norm"], strict=True))
        found: dict[int, dict[str, float]] = {}
        for record in self._records(_CLOSED, told):
            number = record["round"]
            found[number] = {client: told[number].get(client, 0.0) for client in record["participants"]}
        return found

    def draws(self, rounds: Sequence[int]) -> Sequence[int]:
        """The numbers of the random streams of rounds: their own, but for those of unlearning."""
        other = {record["round"]: record["draws"] for record in self._records(_KEPT)}
        return [other.get(number, number) for number in rounds]

    def model(self, number: int) -> Floats:
        """The model of a round."""
        for record in self._records(_CLOSED, {number: None}):
            return np.array(record["theta"])
        raise UserError(f"{self._path} has no model {number}")

    def made(self, rounds: Sequence[int]) -> Iterator[Made]:
        """The updates of rounds with their weights."""
        wanted = dict.fromkeys(rounds)
        answers: dict[str, tuple[list[float], int]] = {}
        before = np.empty(0)
        for line in read_lines(self._path):
            if line.startswith(_UPDATE) and _round_of(line) in wanted:
                record = orjson.loads(line)
                if "thetas" not in record:
                    raise UserError(f"the log must have the weights of all updates; round {record['round']} has none")
                columns = (record[column] for column in ("clients", "thetas", "interactions"))
                answers |= {name: (theta, count) for name, theta, count in zip(*columns, strict=True)}
            elif line.startswith(_CLOSED):
                record = orjson.loads(line)
                names = record["participants"]
                if record["round"] in wanted and names:
                    yield Made(
                        record["round"],
                        before,
                        tuple(names),
                        np.array([answers[name][0] for name in names]),
                        np.array([answers[name][1] for name in names], dtype=np.int64),
                    )
                if record["round"] >= self.after:
                    return
                answers, before = {}, np.array(record["theta"])

    def _records(self, start: bytes, rounds: Mapping[int, object] | None = None) -> Iterator[dict[str, Any]]:
        """The records of an event, of some rounds if they are named; the other lines are not parsed."""
        for line in read_lines(self._path):
            if line.startswith(start) and (rounds is None or _round_of(line) in rounds):
                yield orjson.loads(line)


def _round_of(line: bytes) -> int:
    found = _ROUND.search(line, 0, _HEAD)
    return int(found[1]) if found else -1
