"""Gaussian noise, at the coordinator or at every client: what shares are compared with.

Local models are clipped as with shares, and σ is the smallest for which the sum, or a client's model, is
(ε, δ)-private when a change is at most Δ in L2 (`learning.privacy.gaussian_tail`). There is no √d: the guarantee is
for all coordinates together.
"""

from dataclasses import KW_ONLY, dataclass
from math import inf, sqrt

import numpy as np

from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals
from learning.privacy.gaussian_tail import gaussian_epsilon, noise_ratio
from learning.privacy.mechanism import Clip, Cost, Needs, check_privacy, norm_bound, sum_change

__all__ = ["CentralGaussian", "LocalGaussian"]


@dataclass(frozen=True, slots=True)
class _Gaussian:
    """What both have in common."""

    _: KW_ONLY
    epsilon: float
    sensitivity: float
    clip: Clip = "half"
    delta: float = 1e-5

    def __post_init__(self) -> None:
        check_privacy("a Gaussian", self.clip, epsilon=self.epsilon, sensitivity=self.sensitivity, delta=self.delta)
        if self.delta >= 1:
            raise LearningError(f"delta of a Gaussian must be below 1; got {self.delta}")

    @property
    def bound(self) -> float:
        """Δ/2, or Δ."""
        return norm_bound(self.sensitivity, self.clip)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise that (ε, δ) needs at a change of Δ."""
        return self.sensitivity * noise_ratio(self.epsilon, self.delta)

    def _epsilon(self, sigma: float) -> float:
        """The ε that noise of this deviation gives, for the change that the clipping really allows."""
        return gaussian_epsilon(self.delta, sigma / sum_change(self.sensitivity, self.clip))


@dataclass(frozen=True, slots=True)
class CentralGaussian(_Gaussian):
    """The coordinator adds N(0, σ²) to the sum; it sees every client's model as it is."""

    @property
    def needs(self) -> Needs:
        """Nothing of the clients."""
        return "none"

    def client_noise(self, random: np.random.Generator, dimension: int, share: float) -> Reals:
        """Nothing: the noise is the coordinator's."""
        del random, share
        return np.zeros(dimension)

    def server_noise(self, random: np.random.Generator, dimension: int, interactions: Integers) -> Reals:
        """N(0, σ²) times the largest weight in the mean: that much one client can move it."""
        largest = float(interactions.max() / interactions.sum())
        return largest * self.sigma * random.standard_normal(dimension)

    def cost(self, dimension: int, interactions: Integers, noise: float, share: float) -> Cost:
        """The same every round, whoever takes part."""
        del dimension, interactions, noise, share
        real = self._epsilon(self.sigma)
        return Cost(nominal=self.epsilon, epsilon=real, joint=real, message=inf, delta=self.delta)


@dataclass(frozen=True, slots=True)
class LocalGaussian(_Gaussian):
    """Every client adds N(0, σ²) to its own model; the sum has the noise of all of them."""

    @property
    def needs(self) -> Needs:
        """The whole noise of each client."""
        return "whole"

    def client_noise(self, random: np.random.Generator, dimension: int, share: float) -> Reals:
        """N(0, σ²): the whole noise is one share."""
        del share
        return self.sigma * random.standard_normal(dimension)

    def server_noise(self, random: np.random.Generator, dimension: int, interactions: Integers) -> None:
        """None: the noise is the clients'."""
        del random, dimension, interactions

    def cost(self, dimension: int, interactions: Integers, noise: float, share: float) -> Cost:
        """A message has its own noise; the weighted sum that of all clients, against the change of the heaviest."""
        del dimension, noise, share
        weights = interactions / interactions.max()
        real = self._epsilon(self.sigma * sqrt(float(weights @ weights)))
        message = self._epsilon(self.sigma)
        return Cost(nominal=self.epsilon, epsilon=real, joint=real, message=message, delta=self.delta)
