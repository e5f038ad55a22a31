"""Krum: the one local model that lies closest to its neighbours (Blanchard et al., NeurIPS 2017, §4).

    score(c) = Σ of ‖θ_c − θ_l‖ over the n − m − 2 nearest l ≠ c, at least one        θ' = θ of the lowest score

Distances are Euclidean and not squared, as in the poisoning study of online learning to rank (Wang et al., ICTIR 2023,
§5); ties go to the first client. The theory wants n > 2m + 2; the study goes on to m = 4 of 10, and so may n > 2m.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learning.aggregation.arithmetic import check_majority, distances
from learning.aggregation.rule import Aggregate, Updates
from learning.kernels.arrays import Reals

__all__ = ["Krum", "krum_scores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Krum:
    """The local model with the nearest neighbours."""

    tolerate: int
    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "sum of the distances to the n − m − 2 nearest; the lowest is used"

    def check(self, clients: int) -> None:
        """Needs n > 2m."""
        check_majority("krum", clients, self.tolerate)

    def __call__(self, updates: Updates) -> Aggregate:
        """One client's model, as it is."""
        self.check(len(updates))
        scores = krum_scores(distances(updates.thetas), self.tolerate)
        best = int(np.argmin(scores))
        used = np.zeros(len(updates), dtype=bool)
        used[best] = True
        return Aggregate(np.array(updates.thetas[best], dtype=np.float64), used, scores)


def krum_scores(apart: Reals, tolerate: int) -> Reals:
    """The score of each of n clients from their distances [n, n]."""
    neighbours = min(max(1, len(apart) - tolerate - 2), len(apart) - 1)
    return np.sort(apart, axis=1)[:, 1 : 1 + neighbours].cumsum(axis=1)[:, -1] if neighbours else np.zeros(len(apart))
