"""Free rider: no work of its own, the global model is sent back, perhaps with noise to look busy."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from learning.attacks.attack import ClientAttack, check_number
from learning.kernels.arrays import Reals

__all__ = ["FreeRider"]


@dataclass(frozen=True, slots=True)
class FreeRider(ClientAttack):
    """Sends θ_t + noise·N(0, I); without noise, just θ_t."""

    _: KW_ONLY
    noise: float = 0.0

    def __post_init__(self) -> None:
        check_number("free_rider", "noise", self.noise, least=0.0)

    def __call__(self, local: Reals, before: Reals, random: np.random.Generator) -> Reals:
        """θ_t + noise·N(0, I)."""
        return before + self.noise * random.standard_normal(len(local)) if self.noise else before.copy()
