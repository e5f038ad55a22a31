"""Median: in each coordinate the median of the local models, of an even number the middle two's mean (Yin 2018)."""

from dataclasses import dataclass
from typing import ClassVar

from learning.aggregation.coordinates import middle
from learning.aggregation.rule import Aggregate, Updates

__all__ = ["Median"]


@dataclass(frozen=True, slots=True)
class Median:
    """The middle value, coordinate by coordinate; it needs not be told how many to tolerate."""

    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "share of the coordinates in which the client's value is used"

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """Those are used whose value is in the median of some coordinate."""
        return middle(updates.thetas, (len(updates) - 1) // 2)
