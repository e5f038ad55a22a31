"""What a ranker is: the shape of θ and nothing else."""

from typing import Protocol

import numpy as np

from learning.data.dataset import Features
from learning.errors import LearningError
from learning.kernels.arrays import Reals, read_only
from learning.rankers.scoring import score

__all__ = ["Ranker", "scores_of"]


class Ranker(Protocol):
    """A scoring function with flat parameters θ float64[dimension]."""

    @property
    def features(self) -> int:
        """The number of features of a document."""

    @property
    def hidden(self) -> int:
        """The number of hidden units, 0 for a linear ranker."""

    @property
    def rectified(self) -> bool:
        """Whether a hidden unit is max(0, x) and not a sigmoid."""

    @property
    def dimension(self) -> int:
        """The length of θ."""

    def initial(self, seed: int) -> Reals:
        """The θ that training starts from."""

    def scores(self, thetas: Reals, features: Features) -> Reals:
        """The scores [m, n] that m models [m, dimension] give n documents [n, features]."""


def scores_of(ranker: Ranker, thetas: Reals, features: Features) -> Reals:
    """`Ranker.scores` for any ranker that `learning.rankers.scoring` can score."""
    if thetas.ndim != 2 or thetas.shape[1] != ranker.dimension:
        raise LearningError(f"models must have the shape (m, {ranker.dimension}); got {thetas.shape}")
    if features.ndim != 2 or features.shape[1] != ranker.features:
        raise LearningError(f"documents must have the shape (n, {ranker.features}); got {features.shape}")
    scores = np.empty((len(thetas), len(features)))
    activations = np.empty((len(features), ranker.hidden))
    for model, theta in enumerate(np.array(thetas, dtype=np.float64, order="C")):
        score(theta, read_only(features), ranker.hidden, ranker.rectified, activations, scores[model])
    return scores
