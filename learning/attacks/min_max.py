"""Min-Max (Shejwalkar & Houmansadr, NDSS 2021, §IV)."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from learning.attacks.attack import ColludingAttack, Crafted, Seen
from learning.attacks.perturbation import Perturbation, check_perturbation, furthest
from learning.kernels.arrays import Reals

__all__ = ["MinMax"]


@dataclass(frozen=True, slots=True)
class MinMax(ColludingAttack):
    """All send θ_t + μ + γ·p: no further from any update than two of them are from each other.

    max_i ‖w − w_i‖ ≤ max_{i,j} ‖w_i − w_j‖ for the largest γ; μ is the mean of the updates they see, and p is
    −σ (std), −μ/‖μ‖ (unit) or −sign(μ) (sign). A member alone with partial knowledge has no σ: use unit or sign there.
    """

    _: KW_ONLY
    perturbation: Perturbation = "std"

    def __post_init__(self) -> None:
        check_perturbation("min_max", self.perturbation)

    def __call__(self, seen: Seen, random: np.random.Generator) -> Crafted:
        """θ_t + μ + γ·p, m times."""
        del random
        return furthest(seen, self.perturbation, _allowed)


def _allowed(to_each: Reals, apart: Reals) -> bool:
    """Its largest distance is at most their largest."""
    return bool(to_each.max() <= apart.max())
