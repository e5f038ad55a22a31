"""Sign flip: the local model turned around, θ → −z·θ (Wang et al., ECIR 2024, eq. 3)."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from learning.attacks.attack import ClientAttack, check_number
from learning.kernels.arrays import Reals

__all__ = ["SignFlip"]


@dataclass(frozen=True, slots=True)
class SignFlip(ClientAttack):
    """Sends −z times the local model; the paper has z = 2."""

    _: KW_ONLY
    z: float = 2.0

    def __post_init__(self) -> None:
        check_number("sign_flip", "z", self.z, least=0.0)

    def __call__(self, local: Reals, before: Reals, random: np.random.Generator) -> Reals:
        """−z·θ_local."""
        del before, random
        return -self.z * local
