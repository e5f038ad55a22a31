"""Federated averaging, θ' = Σ_c n_c·θ_c / Σ_c n_c (Wang et al., ICTIR 2021, Algorithm 2)."""

from dataclasses import dataclass

import numpy as np

from learning.aggregation.rule import Aggregate, check_updates
from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals, read_only
from learning.kernels.compiling import compiled

__all__ = ["FedAvg"]


@dataclass(frozen=True, slots=True)
class FedAvg:
    """The mean of the local models, each weighted by its interactions."""

    def __call__(self, thetas: Reals, interactions: Integers, before: Reals) -> Aggregate:
        """The weighted mean; info has the number of clients and of interactions."""
        check_updates(thetas, interactions, before)
        total = int(interactions.sum())
        if total < 1 or interactions.min() < 0:
            raise LearningError(f"fedavg needs counts from 0 on with a sum above 0; got {interactions.tolist()}")
        theta = np.zeros(thetas.shape[1])
        _add_weighted(read_only(thetas), interactions.astype(np.float64), theta)
        return Aggregate(theta=theta / total, info={"clients": len(thetas), "interactions": total})


@compiled
def _add_weighted(thetas: Reals, weights: Reals, total: Reals) -> None:
    """Add weights[c]·thetas[c] to `total`, client after client, so that the bits depend on nothing but the rows."""
    for client in range(thetas.shape[0]):
        for j in range(thetas.shape[1]):
            total[j] += weights[client] * thetas[client, j]
