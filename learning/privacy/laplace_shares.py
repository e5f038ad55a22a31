"""Laplace noise in shares, FPDGD's mechanism (Wang et al., ICTIR 2021, §3.3, equations 13 to 16).

Each client clips its model to ‖θ‖₂ ≤ Δ/2 and sends θ + γ − γ', each coordinate of γ and γ' from Gamma(1/n, Δ/ε): the
shares of n clients sum to Laplace(Δ/ε). Departures: `clip = "full"` is the authors' code; what fewer shares give, and
what clipping in L2 gives for all coordinates together, is told instead of assumed (`learning.privacy.deficit`).
"""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from learning.kernels.arrays import Integers, Reals
from learning.privacy.deficit import joint_epsilon, sum_epsilon
from learning.privacy.mechanism import Clip, Cost, Needs, check_privacy, norm_bound, sum_change

__all__ = ["LaplaceShares"]


@dataclass(frozen=True, slots=True)
class LaplaceShares:
    """Shares of Laplace(sensitivity/epsilon) noise."""

    _: KW_ONLY
    epsilon: float
    sensitivity: float
    clip: Clip = "half"

    def __post_init__(self) -> None:
        check_privacy("laplace-shares", self.clip, epsilon=self.epsilon, sensitivity=self.sensitivity)

    @property
    def bound(self) -> float:
        """Δ/2, or Δ."""
        return norm_bound(self.sensitivity, self.clip)

    @property
    def needs(self) -> Needs:
        """A share of each client."""
        return "shares"

    def client_noise(self, random: np.random.Generator, dimension: int, share: float) -> Reals:
        """γ − γ' with both Gamma(share, Δ/ε); γ is drawn first."""
        scale = self.sensitivity / self.epsilon
        return random.gamma(share, scale, dimension) - random.gamma(share, scale, dimension)

    def server_noise(self, random: np.random.Generator, dimension: int, interactions: Integers) -> None:
        """None: the noise is the clients'."""
        del random, dimension, interactions

    def cost(self, dimension: int, interactions: Integers, noise: float, share: float) -> Cost:
        """ε with the noise that arrived; where the mean's weights are unequal, an upper bound of it."""
        change = sum_change(self.sensitivity, self.clip) * self.epsilon / self.sensitivity
        shift = change * float(interactions.max() / interactions.min())
        return Cost(
            nominal=self.epsilon,
            epsilon=sum_epsilon(noise, shift),
            joint=joint_epsilon(noise, shift, dimension),
            message=sum_epsilon(share, change),
            delta=0.0,
        )
