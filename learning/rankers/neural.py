"""The neural ranker: one hidden layer, no output bias, f(x) = v·a(x·W + b).

θ is W [features, hidden], b [hidden], v [hidden], flat and in this order. Two networks are in use. With PDGD a is the
sigmoid, W and b start normal with standard deviation 1/features and v with 1/hidden (Oosterhuis & de Rijke, CIKM 2018,
§5). With evolution strategies a is max(0, ·) and everything starts at 0 (Kharitonov, WSDM 2019).
"""

from dataclasses import KW_ONLY, dataclass
from typing import Literal, get_args

import numpy as np

from learning.data.dataset import Features
from learning.errors import LearningError, UnknownName
from learning.kernels.arrays import Reals
from learning.rankers.ranker import scores_of
from learning.streams import Purpose, stream

__all__ = ["Activation", "Neural"]

Activation = Literal["sigmoid", "relu"]


@dataclass(frozen=True, slots=True)
class Neural:
    """f(x) = v·a(x·W + b) with that many hidden units."""

    features: int
    _: KW_ONLY
    hidden: int = 64
    activation: Activation = "sigmoid"

    def __post_init__(self) -> None:
        if isinstance(self.hidden, bool) or not isinstance(self.hidden, int) or self.hidden < 1:
            raise LearningError(f"hidden must be a whole number of units from 1 on; got {self.hidden!r}")
        if self.activation not in get_args(Activation):
            raise UnknownName("activation", self.activation, get_args(Activation))

    @property
    def rectified(self) -> bool:
        """Whether a is max(0, ·)."""
        return self.activation == "relu"

    @property
    def dimension(self) -> int:
        """The length of θ: (features + 2)·hidden."""
        return (self.features + 2) * self.hidden

    def initial(self, seed: int) -> Reals:
        """For sigmoids normal numbers with standard deviation 1/fan_in from the stream (seed, START); else zeros."""
        if self.rectified:
            return np.zeros(self.dimension)
        theta = stream(seed, Purpose.START).standard_normal(self.dimension)
        theta[: -self.hidden] /= self.features
        theta[-self.hidden :] /= self.hidden
        return theta

    def scores(self, thetas: Reals, features: Features) -> Reals:
        """The scores [m, n] that m models [m, dimension] give n documents [n, features]."""
        return scores_of(self, thetas, features)
