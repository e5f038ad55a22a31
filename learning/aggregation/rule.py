"""What an aggregation rule is."""

from dataclasses import dataclass
from typing import Any, Protocol

from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals

__all__ = ["Aggregate", "Rule", "check_updates"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The new global model and what is worth logging about how it came to be; `info` is plain JSON."""

    theta: Reals
    info: dict[str, Any]


class Rule(Protocol):
    """A frozen dataclass of the rule's settings, called once a round."""

    def __call__(self, thetas: Reals, interactions: Integers, before: Reals) -> Aggregate:
        """The next model from the local models [n, d] in client order, their interactions [n] and the last one [d]."""


def check_updates(thetas: Reals, interactions: Integers, before: Reals) -> None:
    """Refuse arrays that do not fit each other, and a round without updates."""
    if thetas.ndim != 2 or len(thetas) == 0:
        raise LearningError(f"aggregation needs a matrix with at least 1 local model; got the shape {thetas.shape}")
    if interactions.shape != (len(thetas),) or before.shape != (thetas.shape[1],):
        raise LearningError(
            f"{len(thetas)} local models of dimension {thetas.shape[1]} need as many interaction counts and a model "
            f"before of that dimension; got {interactions.shape} and {before.shape}"
        )
