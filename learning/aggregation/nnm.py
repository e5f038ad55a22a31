"""Nearest-neighbour mixing: each model becomes the n − m nearest ones' mean (Allouah et al., AISTATS 2023, §3)."""

from dataclasses import dataclass, replace

import numpy as np

from learning.aggregation.arithmetic import check_majority, distances, mean, nearest
from learning.aggregation.rule import Updates

__all__ = ["NearestNeighbourMixing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestNeighbourMixing:
    """Before a rule: θ_c becomes the unweighted mean of itself and the n − m − 1 models nearest to it."""

    tolerate: int

    def check(self, clients: int) -> None:
        """Needs n > 2m."""
        check_majority("nnm", clients, self.tolerate)

    def __call__(self, updates: Updates) -> Updates:
        """The mixed updates; a row stays its client's."""
        self.check(len(updates))
        close = np.sort(nearest(distances(updates.thetas), len(updates) - self.tolerate), axis=1)
        return replace(updates, thetas=np.array([mean(updates.thetas[places]) for places in close]))
