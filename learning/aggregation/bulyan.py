"""Bulyan: Krum again and again, then a trimmed mean around the median (El Mhamdi et al., ICML 2018, §4).

1. choose n − 2m local models, each the Krum of those not chosen yet
2. θ'_j = mean of the n − 4m chosen values closest to the chosen ones' median in coordinate j

When Krum counts one neighbour only, two that are nearest to each other tie: then the one with the smaller sum of all
distances is chosen, so that the clients' order does not matter.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learning.aggregation.arithmetic import distances, mean
from learning.aggregation.krum import krum_scores
from learning.aggregation.rule import Aggregate, Updates
from learning.errors import LearningError

__all__ = ["Bulyan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulyan:
    """Who is close to its neighbours, and of these in each coordinate what is close to the median."""

    tolerate: int
    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "share of the coordinates in which the client's value is used"

    def check(self, clients: int) -> None:
        """Needs n ≥ 4m + 3."""
        if clients < 4 * self.tolerate + 3:
            raise LearningError(f"bulyan needs n ≥ 4m + 3; got n = {clients}, m = {self.tolerate}")

    def __call__(self, updates: Updates) -> Aggregate:
        """Those are used whose value is in the mean of some coordinate; info has who was chosen in step 1, by place."""
        self.check(len(updates))
        thetas, clients, m = updates.thetas, len(updates), self.tolerate
        apart = distances(thetas)
        left, chosen = np.arange(clients), []
        for _ in range(clients - 2 * m):
            among = apart[np.ix_(left, left)]
            best = int(np.lexsort((among.cumsum(axis=1)[:, -1], krum_scores(among, m)))[0])
            chosen.append(left[best])
            left = np.delete(left, best)
        places = np.sort(np.array(chosen))
        values = thetas[places]
        off = np.abs(values - np.median(values, axis=0))
        order = np.argsort(off, axis=0, kind="stable")[: clients - 4 * m]
        kept = np.take_along_axis(values, np.sort(order, axis=0), axis=0)
        shares = np.bincount(places[order].ravel(), minlength=clients) / thetas.shape[1]
        return Aggregate(mean(kept), shares > 0, shares)
