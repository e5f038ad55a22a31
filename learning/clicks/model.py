"""A simulated user as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from learning.errors import LearningError

__all__ = ["ClickModel", "probabilities"]


@dataclass(frozen=True, slots=True)
class ClickModel:
    """A user who scans a list from the top; one form for cascade and position-based models.

    At rank i = 1, 2, … a document of grade r is clicked with probability click[r]·(1/i)^eta; after a click the user
    goes away with probability stop[r]. Cascade models have eta = 0, position-based ones stop = 0.

    click, stop: a probability for each grade r = 0 … levels − 1.
    """

    click: tuple[float, ...]
    stop: tuple[float, ...]
    eta: float = 0.0

    @property
    def levels(self) -> int:
        """How many relevance grades the user knows."""
        return len(self.click)


def probabilities(name: str, values: object, levels: int) -> tuple[float, ...]:
    """The values as probabilities, one a grade, or an error that says what is wrong with them."""
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != levels:
        raise LearningError(f"{name} must be a list of {levels} probabilities, one a relevance grade; got {values!r}")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise LearningError(f"each of {name} must be a probability from 0 to 1; got {value!r} in {values!r}")
    return tuple(float(value) for value in values)
