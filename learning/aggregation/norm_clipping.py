"""Norm clipping: no client may change the model by more than r (Sun et al., 2019).

    θ' = θ_t + mean of Δ_c·min(1, r/‖Δ_c‖)        Δ_c = θ_c − θ_t

r is a setting, or the median of the round's ‖Δ_c‖, which fewer than half of the clients cannot choose. Unweighted.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learning.aggregation.arithmetic import lengths, mean
from learning.aggregation.rule import Aggregate, Updates
from learning.errors import LearningError
from learning.kernels.arrays import Reals

__all__ = ["NormClipping", "check_radius", "clipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NormClipping:
    """The mean of changes of bounded length; radius 0 is the median of the round's lengths."""

    radius: float = 0.0
    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "what the client's change was multiplied with, at most 1"

    def __post_init__(self) -> None:
        check_radius(self.radius)

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """Everybody is used, cut to size; info has the radius."""
        changes, factors, radius = clipped(updates.thetas - updates.before, self.radius)
        return Aggregate(updates.before + mean(changes), scores=factors, info={"radius": radius})


def clipped(changes: Reals, radius: float) -> tuple[Reals, Reals, float]:
    """Rows of at most that length, the factors [n] that made them so, and the radius: the median length if it is 0."""
    sizes = lengths(changes)
    bound = radius or float(np.median(sizes))
    factors = np.minimum(1.0, np.divide(bound, sizes, out=np.ones_like(sizes), where=sizes > 0.0))
    return changes * factors[:, np.newaxis], factors, bound


def check_radius(radius: float) -> None:
    """Refuse what is no length."""
    if not (np.isfinite(radius) and radius >= 0):
        raise LearningError(f"the radius must be a finite number from 0 on, 0 for the median length; got {radius}")
