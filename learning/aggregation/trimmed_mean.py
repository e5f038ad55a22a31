"""Trimmed mean: in each coordinate the mean without the m largest and the m smallest values (Yin et al., ICML 2018).

θ'_j = mean of the values of rank m + 1 … n − m among θ_1j … θ_nj
"""

from dataclasses import dataclass
from typing import ClassVar

from learning.aggregation.arithmetic import check_majority
from learning.aggregation.coordinates import middle
from learning.aggregation.rule import Aggregate, Updates

__all__ = ["TrimmedMean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimmedMean:
    """The mean of the middle values, coordinate by coordinate, with β = m; at n = 2m + 1 or 2m + 2 it is the median."""

    tolerate: int
    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "share of the coordinates in which the client's value is used"

    def check(self, clients: int) -> None:
        """Needs n > 2m."""
        check_majority("trimmed_mean", clients, self.tolerate)

    def __call__(self, updates: Updates) -> Aggregate:
        """Those are used whose value is in the mean of some coordinate."""
        self.check(len(updates))
        return middle(updates.thetas, self.tolerate)
