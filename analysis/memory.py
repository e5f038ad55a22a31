"""What the log of a run remembers, asked in SQL: norms that clients would have kept, models, updates."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.log import sql_text
from analysis.models import logged_models
from analysis.phases import steps, unlearnings
from analysis.runs import Run
from learning.unlearning import Made
from protocol.errors import UserError

__all__ = ["LogMemory"]

Floats = NDArray[np.float64]


class LogMemory:
    """A run, live, finished or packed, up to its closed round `after`."""

    def __init__(self, run: Run, after: int) -> None:
        self.after = after
        self._run = run
        self.restarts = [(one.first, one.origin) for one in unlearnings(run) if one.first <= after]

    @cached_property
    def _norms(self) -> dict[int, dict[str, float]]:
        found: dict[int, dict[str, float]] = {}
        for number, client, norm in self._run.sql(sql_text("kept_norms"), {"last": self.after}):
            found.setdefault(number, {})[client] = norm
        return found

    def norms(self, rounds: Sequence[int]) -> Mapping[int, Mapping[str, float]]:
        """By round, ‖θ_c − θ_t‖ of each client whose update is in the round's model."""
        return {number: self._norms.get(number, {}) for number in rounds}

    def draws(self, rounds: Sequence[int]) -> Sequence[int]:
        """The numbers of the random streams of rounds: their own, but for those of unlearning."""
        other = {number: step.draws for number, step in steps(self._run).items()} if self.restarts else {}
        return [other.get(number, number) for number in rounds]

    def model(self, number: int) -> Floats:
        """The model of a round."""
        rows = self._run.rows("select theta from rounds where round = $round", {"round": number})
        if not rows or rows[0]["theta"] is None:
            raise UserError(f"{self._run.path} has no model {number}")
        return np.array(rows[0]["theta"])

    def made(self, rounds: Sequence[int]) -> Iterator[Made]:
        """The updates of rounds with their weights."""
        wanted = set(rounds)
        before = np.empty(0)
        for one in logged_models(self._run):
            made_of = one.local_models()
            if one.round in wanted and one.participants:
                if made_of is None:
                    raise UserError(f"the log must have the weights of all updates; round {one.round} lacks some")
                yield Made(one.round, before, tuple(one.participants), *made_of)
            if one.theta is not None:
                before = one.theta
            if one.round >= self.after:
                return
