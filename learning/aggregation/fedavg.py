"""Federated averaging, θ' = Σ_c n_c·θ_c / Σ_c n_c (Wang et al., ICTIR 2021, Algorithm 2)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learning.aggregation.rule import Aggregate, Updates
from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals, read_only
from learning.kernels.compiling import compiled

__all__ = ["FedAvg", "weighted_mean", "weighted_sum"]


@dataclass(frozen=True, slots=True)
class FedAvg:
    """The mean of the local models, each weighted by its interactions."""

    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "none"

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """The weighted mean; info has the number of clients and of interactions."""
        theta = weighted_mean(updates.thetas, updates.interactions)
        return Aggregate(theta, info={"clients": len(updates), "interactions": int(updates.interactions.sum())})


def weighted_mean(thetas: Reals, interactions: Integers) -> Reals:
    """Σ n_c·θ_c / Σ n_c over the rows, added up in their order."""
    count = int(interactions.sum())
    if count < 1 or interactions.min() < 0:
        raise LearningError(f"fedavg needs counts from 0 on with a sum above 0; got {interactions.tolist()}")
    return weighted_sum(thetas, interactions.astype(np.float64)) / count


def weighted_sum(rows: Reals, weights: Reals) -> Reals:
    """Σ_i weights[i]·rows[i] [d], row after row."""
    total = np.zeros(rows.shape[1])
    _add_weighted(read_only(rows), np.ascontiguousarray(weights), total)
    return total


@compiled
def _add_weighted(thetas: Reals, weights: Reals, total: Reals) -> None:
    """Add weights[c]·thetas[c] to `total`, client after client, so that the bits depend on nothing but the rows."""
    for client in range(thetas.shape[0]):
        for j in range(thetas.shape[1]):
            total[j] += weights[client] * thetas[client, j]
