"""Geometric median: the point with the least sum of distances to the local models (Pillutla et al., RFA, 2022).

    θ' = argmin_v Σ_c ‖θ_c − v‖, by smoothed Weiszfeld steps  v ← Σ w_c θ_c / Σ w_c,  w_c = 1 / max(ν, ‖θ_c − v‖)

from the mean on, until v moves by less than 1e-9 of the models' spread, at most 1,000 steps. ν is 1e-9 of the spread.
Unweighted: a client that counted more could buy itself a vote.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from learning.aggregation.arithmetic import lengths, mean
from learning.aggregation.fedavg import weighted_sum
from learning.aggregation.rule import Aggregate, Updates

__all__ = ["GeometricMedian"]

STEPS: Final = 1000
PRECISION: Final = 1e-9  # of the largest distance from the mean


@dataclass(frozen=True, slots=True)
class GeometricMedian:
    """The centre by distance; half of the clients cannot carry it away."""

    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "the client's weight in the mean; all weights sum to 1"

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """Everybody is used, the far ones with little weight; info has the number of steps."""
        thetas = updates.thetas
        centre = mean(thetas)
        off = lengths(thetas - centre)
        least = PRECISION * float(off.max())
        if least == 0.0:
            return Aggregate(centre, scores=np.full(len(thetas), 1.0 / len(thetas)), info={"steps": 0})
        steps = 0
        change = np.inf
        while change >= least and steps < STEPS:
            steps += 1
            weights = 1.0 / np.maximum(off, least)
            weights /= weights.cumsum()[-1]
            moved = weighted_sum(thetas, weights)
            change = float(lengths((moved - centre)[np.newaxis])[0])
            centre = moved
            off = lengths(thetas - centre)
        return Aggregate(centre, scores=weights, info={"steps": steps})
