"""FLDetector: clients whose changes their own past does not foretell (Zhang et al., KDD 2022, §4).

A client's change is foretold by its last one and the curvature that the rounds have shown, Ĥ by L-BFGS of the last
N = 10 steps of the model and of the mean change:

    ĝ_c = g_c(t − 1) + Ĥ(θ_t − θ_{t−1})        d_c = ‖g_c − ĝ_c‖ / Σ_l ‖g_l − ĝ_l‖        g_c = θ_t − θ_c

The score of a client is the mean of its d_c over the last N rounds. When the gap statistic (Tibshirani et al., 2001; 20
uniform reference sets) finds two groups of scores rather than one, the group with the higher mean is left out of the
round; the rest is averaged as FedAvg does. Departures: whoever is suspected is judged anew each round, where the paper
starts the training again without it; one group is weighed against two, not against more.
"""

from typing import ClassVar, Final

import numpy as np

from learning.aggregation.arithmetic import lengths, mean
from learning.aggregation.fedavg import weighted_mean
from learning.aggregation.rule import Aggregate, Updates
from learning.kernels.arrays import Bits, Integers, Reals
from learning.streams import Purpose, stream

__all__ = ["FLDetector"]

WINDOW: Final = 10  # N, rounds
REFERENCES: Final = 20  # uniform sets that the gap is measured against


class FLDetector:
    """FedAvg without those whose changes cannot be foretold, while they stand apart."""

    remembers: ClassVar[bool] = True
    score: ClassVar[str] = "mean share of the round's prediction errors over ten rounds; the high group is left out"

    def __init__(self) -> None:
        self._last: dict[int, Reals] = {}  # g_c of each client's last round
        self._errors: dict[int, list[float]] = {}  # its last N errors
        self._model: Reals | None = None
        self._change: Reals | None = None
        self._steps: list[Reals] = []  # of the model
        self._turns: list[Reals] = []  # of the mean change

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """The mean of those who are not suspected; nobody is before N rounds are known."""
        changes = updates.before - updates.thetas
        self._judge(updates.clients, updates.before, changes)
        scores = np.array([_mean_of(self._errors.get(one, [])) for one in updates.clients.tolist()])
        used = np.ones(len(updates), dtype=bool)
        if len(self._steps) == WINDOW and len(updates) > 2:
            used = ~_high_group(scores, updates.round)
        self._last = {**self._last, **dict(zip(updates.clients.tolist(), changes.copy(), strict=True))}
        change = mean(changes[used])
        if self._model is not None and self._change is not None:
            self._steps = [*self._steps, updates.before - self._model][-WINDOW:]
            self._turns = [*self._turns, change - self._change][-WINDOW:]
        self._model, self._change = updates.before.copy(), change
        return Aggregate(weighted_mean(updates.thetas[used], updates.interactions[used]), used, scores)

    def _judge(self, clients: Integers, before: Reals, changes: Reals) -> None:
        """Compare this round's changes with those foretold, for the clients that have a past."""
        if self._model is None:
            return
        foretold = _curved(np.array(self._steps), np.array(self._turns), before - self._model)
        known = [(place, one) for place, one in enumerate(clients.tolist()) if one in self._last]
        if not known:
            return
        off = lengths(np.array([changes[place] - self._last[one] - foretold for place, one in known]))
        total = float(off.cumsum()[-1]) or 1.0
        for (_, one), error in zip(known, (off / total).tolist(), strict=True):
            self._errors[one] = [*self._errors.get(one, []), error][-WINDOW:]


def _curved(steps: Reals, turns: Reals, vector: Reals) -> Reals:
    """Ĥ·vector in the compact form of L-BFGS (Byrd et al., 1994, eq. 3.5); 0 where the steps show no curvature."""
    if not len(steps):
        return vector * 0.0
    cross = np.einsum("ij,kj->ik", steps, turns)  # S'Y
    curvature, length = cross[-1, -1], float(np.einsum("j,j->", steps[-1], steps[-1]))
    if curvature <= 0.0 or length <= 0.0:
        return vector * 0.0
    scale = curvature / length
    lower, diagonal = np.tril(cross, -1), np.diag(np.diag(cross))
    inner = np.block([[scale * np.einsum("ij,kj->ik", steps, steps), lower], [lower.T, -diagonal]])
    right = np.concatenate([scale * np.einsum("ij,j->i", steps, vector), np.einsum("ij,j->i", turns, vector)])
    found = np.linalg.lstsq(inner, right, rcond=None)[0]
    count = len(steps)
    pulled = scale * np.einsum("ij,i->j", steps, found[:count]) + np.einsum("ij,i->j", turns, found[count:])
    curved: Reals = scale * vector - pulled
    return curved


def _high_group(scores: Reals, number: int) -> Bits:
    """Those with the higher scores, if two groups fit better than one; else nobody."""
    spread = float(scores.max() - scores.min())
    if spread <= 0.0:
        return np.zeros(len(scores), dtype=bool)
    one, two, high = _dispersions((scores - scores.min()) / spread)
    random = stream(0, Purpose.REFERENCE, 0, number)
    references = np.array([_dispersions(random.random(len(scores)))[:2] for _ in range(REFERENCES)])
    logs = np.log(np.maximum(references, 1e-300))
    gaps = logs.mean(axis=0) - np.log(np.maximum([one, two], 1e-300))
    error = float(logs[:, 1].std()) * (1.0 + 1.0 / REFERENCES) ** 0.5
    return high if gaps[0] < gaps[1] - error else np.zeros(len(scores), dtype=bool)


def _dispersions(values: Reals) -> tuple[float, float, Bits]:
    """Σ of squares around the mean of one group, and of the best two; the higher group of the two."""
    order = np.argsort(values, kind="stable")
    ranked, count = values[order], len(values)
    sizes = np.arange(1, count)
    sums, squares = ranked.cumsum(), (ranked**2).cumsum()
    low = squares[:-1] - sums[:-1] ** 2 / sizes
    high = squares[-1] - squares[:-1] - (sums[-1] - sums[:-1]) ** 2 / (count - sizes)
    cut = int(np.argmin(low + high))
    group = np.zeros(count, dtype=bool)
    group[order[cut + 1 :]] = True
    return float(squares[-1] - sums[-1] ** 2 / count), float(max(0.0, (low + high)[cut])), group


def _mean_of(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
