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

from learning.aggregation.arithmetic import lengths, mean, row_products
from learning.aggregation.fedavg import weighted_mean, weighted_sum
from learning.aggregation.rule import Aggregate, Updates
from learning.kernels.arrays import Bits, Integers, Reals

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
        self._sums = np.zeros((2, 0))  # s of both numbers [2, clients]
        self._noise = np.zeros((2, 0))  # q of both
        self._usual = np.zeros((2, 0))  # faded sums of squared lengths of changes, and of ones
        self._out = np.zeros(0, dtype=bool)
        self._times = np.zeros(0, dtype=np.int64)  # how often a client was left out
        self._until = np.zeros(0, dtype=np.int64)  # the first round in which it may come back
        self._direction: Reals | None = None  # u

    def check(self, clients: int) -> None:
        """Serve any number of clients; fewer than three have no majority to trust."""

    def __call__(self, updates: Updates) -> Aggregate:
        """The trusted clients' mean; info has both z and the threshold, groups tell who was left out and came back."""
        who = updates.clients
        self._make_room(int(who.max()) + 1, updates.thetas.shape[1])
        counts = np.maximum(updates.interactions, 1)
        changes = (updates.thetas - updates.before) * (mean(counts[:, np.newaxis])[0] / counts)[:, np.newaxis]
        sizes = lengths(changes)
        wild = self._wild(who, sizes)
        trusted = ~wild & ~self._out[who]
        if not trusted.any():  # those who are trusted are away: nobody's word is taken
            return Aggregate(updates.before.copy(), trusted, groups={"wild": wild})
        off = changes - mean(changes[trusted])
        self._take_numbers(who, changes, off, sizes, trusted, ~wild)
        apart, left_out = self._leave_out(who, updates.round, trusted)
        scores = self._scores(who, trusted & ~left_out)
        taken_back = self._take_back(who, updates.round, scores, wild)
        trusted = ~wild & ~self._out[who]
        self._remember(who, off, trusted, ~wild)
        return Aggregate(
            weighted_mean(updates.thetas[trusted], updates.interactions[trusted]),
            trusted,
            scores,
            {"steady": round(apart[0], 3), "agreement": round(apart[1], 3), "threshold": round(apart[2], 3)},
            {"wild": wild, "left_out": left_out, "taken_back": taken_back},
        )

    def _make_room(self, clients: int, dimension: int) -> None:
        more = max(0, clients - len(self._out))
        if not self._histories.shape[1]:
            self._histories = np.zeros((0, dimension))
        if more:
            self._histories = np.concatenate([self._histories, np.zeros((more, dimension))])
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
        now = FADING * before + np.stack([sizes**2, np.ones(len(who))])
        usual = float(np.median(np.sqrt(now[0] / now[1])))
        wild = (sizes > WILD * usual) & (usual > 0.0)
        if 2 * wild.sum() >= len(who):
            wild[:] = False
        self._usual[:, who] = np.where(wild, before, now)
        return wild

    def _take_numbers(self, who: Integers, changes: Reals, off: Reals, sizes: Reals, trusted: Bits, calm: Bits) -> None:
        """Add the round's a_c and b_c to the sums of those who are not wild."""
        numbers = np.zeros((2, len(who)))
        if self._direction is not None:
            numbers[0] = row_products(off, self._direction)
            out = np.flatnonzero(self._out[who])
            own = self._histories[who[out]]
            size = lengths(own)
            numbers[0, out] = row_products(off[out], own) / np.where(size > 0.0, size, 1.0)
        count = int(trusted.sum())
        if count > 1:
            together = row_products(changes, weighted_sum(changes[trusted], np.ones(count)))
            numbers[1] = np.where(trusted, (together - sizes**2) / (count - 1), together / count)
        numbers -= mean(np.ascontiguousarray(numbers[:, trusted].T))[:, np.newaxis]
        rows = who[calm]
        self._sums[:, rows] = FADING * self._sums[:, rows] + numbers[:, calm]
        self._noise[:, rows] = FADING**2 * self._noise[:, rows] + numbers[:, calm] ** 2

    def _leave_out(self, who: Integers, number: int, trusted: Bits) -> tuple[tuple[float, float, float], Bits]:
        """Both z and their threshold; who is left out from now on."""
        found, left_out = [0.0, 0.0], np.zeros(len(who), dtype=bool)
        threshold = APART + sqrt(2.0 * log(max(1, int(trusted.sum()))))
        for series in (0, 1):
            places = np.flatnonzero(trusted & ~left_out)
            found[series], part = _widest_cut(self._sums[series, who[places]], self._noise[series, who[places]])
            few = 2 * (int(self._out[who].sum()) + len(part)) < len(who)
            if found[series] > threshold and few:
                left_out[places[part]] = True
                gone = who[places[part]]
                self._out[gone] = True
                self._times[gone] += 1
                self._until[gone] = number + FIRST_WAIT * 2 ** (self._times[gone] - 1)
                rest = who[trusted & ~left_out]
                self._histories[who] -= mean(self._histories[rest])
                self._sums[:, who] -= mean(np.ascontiguousarray(self._sums[:, rest].T))[:, np.newaxis]
        return (found[0], found[1], threshold), left_out

    def _scores(self, who: Integers, trusted: Bits) -> Reals:
        """How far each client is from the trusted ones' mean, in its and their noise; the larger of both numbers."""
        sums, noise = self._sums[:, who], self._noise[:, who]
        rest = np.flatnonzero(trusted)
        centre = mean(np.ascontiguousarray(sums[:, rest].T))[:, np.newaxis]
        usual = mean(np.ascontiguousarray(noise[:, rest].T))[:, np.newaxis]
        scale = np.sqrt((noise + usual) / 2.0)
        scores: Reals = (np.abs(sums - centre) / np.where(scale > 0.0, scale, 1.0)).max(axis=0)
        return scores

    def _take_back(self, who: Integers, number: int, scores: Reals, wild: Bits) -> Bits:
        """Who is like the others again; their past is forgotten."""
        back: Bits = self._out[who] & ~wild & (scores < TOGETHER) & (number >= self._until[who])
        self._out[who[back]] = False
        self._histories[who[back]] = 0.0
        self._sums[:, who[back]] = 0.0
        self._noise[:, who[back]] = 0.0
        return back

    def _remember(self, who: Integers, off: Reals, trusted: Bits, calm: Bits) -> None:
        """Add the round to the histories, and turn u by one step of the power method."""
        rows = who[calm]
        self._histories[rows] = FADING * self._histories[rows] + off[calm]
        rest = self._histories[who[trusted]]
        rest = rest - mean(rest)
        start = self._direction
        if start is None:
            start = rest[int(np.argmax(lengths(rest)))]
        turned = weighted_sum(rest, row_products(rest, start))
        size = float(lengths(turned[np.newaxis])[0])
        if size > 0.0:
            self._direction = turned / size


def _widest_cut(sums: Reals, noise: Reals) -> tuple[float, Integers]:
    """The largest z of a cut of the sorted sums, and the places of its smaller group; 0 and nobody if there is none."""
    count = len(sums)
    sizes = np.arange(1, count)
    order = np.argsort(sums, kind="stable")
    below, all_noise = sums[order].cumsum(), noise[order].cumsum()
    allowed = 2 * np.minimum(sizes, count - sizes) < count
    if not allowed.any():
        return 0.0, np.zeros(0, dtype=np.int64)
    gap = (below[-1] - below[:-1]) / (count - sizes) - below[:-1] / sizes
    spread = ((all_noise[-1] - all_noise[:-1]) / (count - sizes) + all_noise[:-1] / sizes) / 2.0
    z = np.divide(gap, np.sqrt(spread), out=np.zeros_like(gap), where=allowed & (spread > 0.0))
    cut = int(np.argmax(z))
    low, high = order[: cut + 1], order[cut + 1 :]
    return float(z[cut]), low if len(low) < len(high) else high
