"""The neural ranker: one hidden layer of sigmoids, no output bias (Oosterhuis & de Rijke, CIKM 2018, §5).

f(x) = v·sigmoid(x·W + b); θ is W [features, hidden], b [hidden], v [hidden], flat and in this order. W and b start
normal with standard deviation 1/features, v with 1/hidden.
"""

from dataclasses import KW_ONLY, dataclass

from learning.data.dataset import Features
from learning.errors import LearningError
from learning.kernels.arrays import Reals
from learning.rankers.ranker import scores_of
from learning.streams import Purpose, stream

__all__ = ["Neural"]


@dataclass(frozen=True, slots=True)
class Neural:
    """f(x) = v·sigmoid(x·W + b) with that many hidden units."""

    features: int
    _: KW_ONLY
    hidden: int = 64

    def __post_init__(self) -> None:
        if isinstance(self.hidden, bool) or not isinstance(self.hidden, int) or self.hidden < 1:
            raise LearningError(f"hidden must be a whole number of units from 1 on; got {self.hidden!r}")

    @property
    def dimension(self) -> int:
        """The length of θ: (features + 2)·hidden."""
        return (self.features + 2) * self.hidden

    def initial(self, seed: int) -> Reals:
        """Normal numbers with standard deviation 1/fan_in from the stream (seed, START)."""
        theta = stream(seed, Purpose.START).standard_normal(self.dimension)
        theta[: -self.hidden] /= self.features
        theta[-self.hidden :] /= self.hidden
        return theta

    def scores(self, thetas: Reals, features: Features) -> Reals:
        """The scores [m, n] that m models [m, dimension] give n documents [n, features]."""
        return scores_of(self, thetas, features)
