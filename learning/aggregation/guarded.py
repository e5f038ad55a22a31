"""Guarded: FedAvg, until the clients' histories fall apart into two groups beyond their own noise; then the majority's.

One round is mostly click noise, but the coordinator sees the same clients for thousands of rounds. Client c changes the
model by Δ_c, here per usual number of interactions; T are the trusted clients of the round and e_c = Δ_c − mean_T Δ.
Each client has a history S_c ← λ·S_c + e_c, λ = 1 − 1/300. Two numbers are taken of each client, a round:

    a_c = e_c·u            u: the leading direction of the trusted clients' centred histories, known before the round;
                           for a client that is out, the direction of its own history
    b_c = Δ_c·mean of the other trusted clients' Δ

Both less their mean over T. If all are alike and honest, each has the mean 0 whatever the past was, so that their sums
s_c ← λ·s_c + a_c have the variance q_c ← λ²·q_c + a_c²: a client's own noise is its yardstick. The first number finds
who pushes steadily elsewhere, the second who sides against the others, or with accomplices, in ways that change by the
round. Of all ways to cut the sorted s into two groups A and B, the smaller below half,

    z = max (mean_A s − mean_B s) / √((mean_A q + mean_B q)/2)

The smaller group is left out when z > 4.5 + √(2·ln |T|), where √(2·ln n) is what the largest of n normal numbers is
about. It is let in again, one by one, when its own z is below 2 in both numbers, not before 75 rounds have passed, and
twice as many each further time. A client whose change is more than 20 times as long as the median client's usual one is
left out of the round at once. Half of the clients or more are never left out.

Whoever is not left out is averaged as FedAvg does, to the same bits. It need not be told how many to tolerate.
"""

from math import log, sqrt
from typing import ClassVar, Final

import numpy as np

from learning.aggregation.arithmetic import mean
from learning.aggregation.fedavg import weighted_mean
from learning.aggregation.histories import measure, remember, take_numbers, widest_cut
from learning.aggregation.rule import Aggregate, Updates
from learning.kernels.arrays import Bits, Integers, Reals, read_only

__all__ = ["Guarded"]

WINDOW: Final = 300  # rounds that a history is made of, about
APART: Final = 4.5  # standard deviations between two groups, beyond what n clients alike come to
TOGETHER: Final = 2.0  # standard deviations within which a client that was left out is like the others again
FIRST_WAIT: Final = 75  # rounds that a client is out for the first time, at least
WILD: Final = 20.0  # times the usual length of a change
FADING: Final = 1.0 - 1.0 / WINDOW


class Guarded:
    """FedAvg over the clients whose histories belong together."""

    remembers: ClassVar[bool] = True
    score: ClassVar[str] = "standard deviations between the client's history and the trusted ones', the larger of two"

    def __init__(self) -> None:
        self._histories = np.zeros((0, 0))  # S [clients, d]
        self._direction = np.zeros(0)  # u
        self._space = np.zeros(
            (2, 0, 0)
        )  # Δ and e of a round [2, clients, d]; big arrays cost more to get than to fill
        self._sums = np.zeros((2, 0))  # s of both numbers [2, clients]
        self._noise = np.zeros((2, 0))  # q of both
        self._usual = np.zeros((2, 0))  # faded sums of squared lengths of changes, and of ones
        self._out = np.zeros(0, dtype=bool)
        self._times = np.zeros(0, dtype=np.int64)  # how often a client was left out
        self._until = np.zeros(0, dtype=np.int64)  # the first round in which it may come back

    def check(self, clients: int) -> None:
        """Serve any number of clients; fewer than three have no majority to trust."""

    def __call__(self, updates: Updates) -> Aggregate:
        """The trusted clients' mean; info has both z and the threshold, groups tell who was left out and came back."""
        thetas, who = updates.thetas, np.ascontiguousarray(updates.clients, dtype=np.int64)
        size = thetas.shape[1]
        self._make_room(int(who.max()) + 1, size)
        counts = np.maximum(updates.interactions, 1)
        changes, off = self._space[0, : len(who)], self._space[1, : len(who)]
        sizes = np.empty(len(who))
        before = np.array(updates.before, dtype=np.float64)
        measure(read_only(thetas), before, counts.sum() / len(counts) / counts, changes, sizes)
        wild = self._wild(who, sizes)
        trusted = ~wild & ~self._out[who]
        if not trusted.any():  # those who are trusted are away: nobody's word is taken
            return Aggregate(before, trusted, groups={"wild": wild})
        take_numbers(
            who,
            changes,
            sizes,
            trusted,
            wild,
            self._out,
            self._histories,
            self._direction,
            FADING,
            np.zeros(size),
            np.zeros(size),
            off,
            np.empty((2, len(who))),
            self._sums,
            self._noise,
        )
        apart, left_out = self._leave_out(who, updates.round, trusted)
        scores = self._scores(who, trusted & ~left_out)
        taken_back = self._take_back(who, updates.round, scores, wild)
        trusted = ~wild & ~self._out[who]
        remember(who, off, trusted, wild, FADING, self._histories, self._direction, np.zeros(size), np.zeros(size))
        rows = slice(None) if trusted.all() else trusted  # a slice does not copy
        return Aggregate(
            weighted_mean(thetas[rows], updates.interactions[rows]),
            trusted,
            scores,
            {"steady": round(apart[0], 3), "agreement": round(apart[1], 3), "threshold": round(apart[2], 3)},
            {"wild": wild, "left_out": left_out, "taken_back": taken_back},
        )

    def _make_room(self, clients: int, dimension: int) -> None:
        more = clients - len(self._out)
        if not len(self._direction):
            self._histories, self._direction = np.zeros((0, dimension)), np.zeros(dimension)
        if more > 0:
            self._histories = np.concatenate([self._histories, np.zeros((more, dimension))])
            self._space = np.zeros((2, clients, dimension))
            self._sums, self._noise, self._usual = (
                np.concatenate([old, np.zeros((2, more))], axis=1) for old in (self._sums, self._noise, self._usual)
            )
            self._out = np.concatenate([self._out, np.zeros(more, dtype=bool)])
            self._times, self._until = (
                np.concatenate([old, np.zeros(more, dtype=np.int64)]) for old in (self._times, self._until)
            )

    def _wild(self, who: Integers, sizes: Reals) -> Bits:
        """Whose change is out of all proportion to what is usual; the median over clients is not theirs to choose."""
        before = self._usual[:, who]
        now = FADING * before
        now[0] += sizes * sizes
        now[1] += 1.0
        squares = np.sort(now[0] / now[1])
        usual = sqrt((squares[(len(squares) - 1) // 2] + squares[len(squares) // 2]) / 2.0)
        wild: Bits = sizes > (WILD * usual if usual > 0.0 else np.inf)
        if 2 * int(wild.sum()) >= len(who):
            wild[:] = False
        self._usual[:, who] = np.where(wild, before, now) if wild.any() else now
        return wild

    def _leave_out(self, who: Integers, number: int, trusted: Bits) -> tuple[tuple[float, float, float], Bits]:
        """Both z and their threshold; who is left out from now on."""
        found, left_out = [0.0, 0.0], np.zeros(len(who), dtype=bool)
        threshold = APART + sqrt(2.0 * log(max(1, int(trusted.sum()))))
        places = np.flatnonzero(trusted)
        for series in (0, 1):
            rows = who[places]
            found[series], part = widest_cut(self._sums[series, rows], self._noise[series, rows])
            if found[series] > threshold and 2 * (int(self._out[who].sum()) + len(part)) < len(who):
                left_out[places[part]] = True
                gone = rows[part]
                self._out[gone] = True
                self._times[gone] += 1
                self._until[gone] = number + FIRST_WAIT * 2 ** (self._times[gone] - 1)
                places = np.flatnonzero(trusted & ~left_out)
                rest = who[places]
                self._histories[who] -= mean(self._histories[rest])
                self._sums[:, who] -= mean(np.ascontiguousarray(self._sums[:, rest].T))[:, np.newaxis]
        return (found[0], found[1], threshold), left_out

    def _scores(self, who: Integers, trusted: Bits) -> Reals:
        """How far each client is from the trusted ones' mean, in its and their noise; the larger of both numbers."""
        sums, noise = self._sums[:, who], self._noise[:, who]
        count = int(trusted.sum())
        centre = sums[:, trusted].cumsum(axis=1)[:, -1:] / count
        usual = noise[:, trusted].cumsum(axis=1)[:, -1:] / count
        scale = np.sqrt((noise + usual) / 2.0)
        scale[scale == 0.0] = 1.0
        apart = np.abs(sums - centre) / scale
        scores: Reals = np.maximum(apart[0], apart[1])
        return scores

    def _take_back(self, who: Integers, number: int, scores: Reals, wild: Bits) -> Bits:
        """Who is like the others again; their past is forgotten."""
        back: Bits = self._out[who] & ~wild & (scores < TOGETHER) & (number >= self._until[who])
        if back.any():
            self._out[who[back]] = False
            self._histories[who[back]] = 0.0
            self._sums[:, who[back]] = 0.0
            self._noise[:, who[back]] = 0.0
        return back
