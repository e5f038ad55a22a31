"""The linear ranker, f(x) = θ·x. Training starts from θ = 0 (Wang et al., ICTIR 2021)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learning.data.dataset import Features
from learning.kernels.arrays import Reals
from learning.rankers.ranker import scores_of

__all__ = ["Linear"]


@dataclass(frozen=True, slots=True)
class Linear:
    """f(x) = θ·x; one weight a feature."""

    features: int
    hidden: ClassVar[int] = 0
    rectified: ClassVar[bool] = False

    @property
    def dimension(self) -> int:
        """The length of θ: the number of features."""
        return self.features

    def initial(self, seed: int) -> Reals:  # noqa: ARG002 (every ranker is given one)
        """Zeros."""
        return np.zeros(self.features)

    def scores(self, thetas: Reals, features: Features) -> Reals:
        """The scores [m, n] that m models [m, dimension] give n documents [n, features]."""
        return scores_of(self, thetas, features)
