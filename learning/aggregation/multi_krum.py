"""Multi-Krum: the unweighted mean of the n − m local models of the best Krum scores (Blanchard et al., 2017, §4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learning.aggregation.arithmetic import check_majority, distances, mean
from learning.aggregation.krum import krum_scores
from learning.aggregation.rule import Aggregate, Updates

__all__ = ["MultiKrum"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiKrum:
    """The mean of the f = n − m models with the nearest neighbours, scored once (`learning.aggregation.krum`)."""

    tolerate: int
    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "as krum; the n − m lowest are used"

    def check(self, clients: int) -> None:
        """Needs n > 2m."""
        check_majority("multi_krum", clients, self.tolerate)

    def __call__(self, updates: Updates) -> Aggregate:
        """The mean of those who are used; of equal scores the first clients."""
        self.check(len(updates))
        scores = krum_scores(distances(updates.thetas), self.tolerate)
        used = np.zeros(len(updates), dtype=bool)
        used[np.argsort(scores, kind="stable")[: len(updates) - self.tolerate]] = True
        return Aggregate(mean(updates.thetas[used]), used, scores)
