"""Random weights: a model that has nothing to do with the data, θ_j ~ N(0, scale²)."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from learning.attacks.attack import ClientAttack, check_number
from learning.kernels.arrays import Reals

__all__ = ["RandomWeights"]


@dataclass(frozen=True, slots=True)
class RandomWeights(ClientAttack):
    """Sends normal numbers with standard deviation `scale`, fresh each round."""

    _: KW_ONLY
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_number("random", "scale", self.scale, least=0.0)

    def __call__(self, local: Reals, before: Reals, random: np.random.Generator) -> Reals:
        """scale·N(0, I)."""
        del before
        return self.scale * random.standard_normal(len(local))
