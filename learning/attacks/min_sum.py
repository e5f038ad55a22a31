"""Min-Sum (Shejwalkar & Houmansadr, NDSS 2021, §IV)."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from learning.attacks.attack import ColludingAttack, Crafted, Seen
from learning.attacks.perturbation import Perturbation, check_perturbation, furthest
from learning.kernels.arrays import Reals

__all__ = ["MinSum"]


@dataclass(frozen=True, slots=True)
class MinSum(ColludingAttack):
    """All send θ_t + μ + γ·p: no further from all updates together than the outermost of them is.

    Σ_i ‖w − w_i‖² ≤ max_i Σ_j ‖w_i − w_j‖² for the largest γ; μ is the mean of the updates they see, and p is
    −σ (std), −μ/‖μ‖ (unit) or −sign(μ) (sign). A member alone with partial knowledge has no σ: use unit or sign there.
    """

    _: KW_ONLY
    perturbation: Perturbation = "std"

    def __post_init__(self) -> None:
        check_perturbation("min_sum", self.perturbation)

    def __call__(self, seen: Seen, random: np.random.Generator) -> Crafted:
        """θ_t + μ + γ·p, m times."""
        del random
        return furthest(seen, self.perturbation, _allowed)


def _allowed(to_each: Reals, apart: Reals) -> bool:
    """Its sum of squared distances is at most their largest."""
    return bool(to_each.sum() <= apart.sum(axis=1).max())
