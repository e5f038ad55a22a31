"""What an aggregation rule is: what it is given each round, and what it gives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from learning.errors import LearningError
from learning.kernels.arrays import Bits, Integers, Reals

__all__ = ["Aggregate", "Rule", "Updates"]


@dataclass(frozen=True, slots=True)
class Updates:
    """What n clients sent in one round, one row a client; a rule knows nothing else of them.

    thetas        float64[n, d], the local models; of a learner that sends none, what it sends instead
    interactions  int64[n], how many interactions each is made of
    clients       int64[n], the clients' numbers, rising: a client keeps its number from its first round to its last
    before        float64[d], the global model that they started from
    round         the number of the model that will be made of them
    """

    thetas: Reals
    interactions: Integers
    clients: Integers
    before: Reals
    round: int

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit each other, and a round without updates."""
        thetas = self.thetas
        if thetas.ndim != 2 or len(thetas) == 0:
            raise LearningError(f"aggregation needs a matrix with at least 1 local model; got the shape {thetas.shape}")
        shapes = (self.interactions.shape, self.clients.shape)
        if shapes != ((len(thetas),), (len(thetas),)) or self.before.ndim != 1:
            raise LearningError(
                f"{len(thetas)} updates need as many interaction counts, as many client numbers and a model before; "
                f"got {shapes[0]}, {shapes[1]} and {self.before.shape}"
            )

    def __len__(self) -> int:
        return len(self.thetas)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The new global model, and what is worth logging about how it came to be.

    used    bool[n], whose updates are in it; none: everybody's
    scores  float64[n], what the rule thinks of each update, in the rule's own measure; none: it does not judge
    info    anything else worth telling, as plain JSON
    groups  bool[n] each, clients that something else happened to
    """

    theta: Reals
    used: Bits | None = None
    scores: Reals | None = None
    info: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, Bits] = field(default_factory=dict)

    def record(self, names: Sequence[str]) -> dict[str, Any]:
        """What the log keeps, with the clients' names: `used` or `excluded`, whichever is shorter, and `scores`.

        The scores are in the names' order, rounded to five digits of the largest.
        """
        told = dict(self.info)
        if self.used is not None:
            few = 2 * int(self.used.sum()) < len(self.used)
            told["used" if few else "excluded"] = _chosen(names, self.used if few else ~self.used)
        told |= {what: _chosen(names, who) for what, who in self.groups.items() if who.any()}
        if self.scores is not None:
            largest = float(np.abs(self.scores).max())
            digits = 4 - int(np.floor(np.log10(largest))) if largest > 0.0 else 0
            told["scores"] = np.round(self.scores, min(digits, 300)).tolist()
        return told


def _chosen(names: Sequence[str], who: Bits) -> list[str]:
    return [names[place] for place in np.flatnonzero(who).tolist()]


class Rule(Protocol):
    """A rule with its settings, made fresh for a run and called once a round, in the rounds' order.

    A rule that remembers depends on earlier rounds' updates too. It is deterministic in all it was given so far, so
    that a fresh one that is given the same rounds goes on with the same bits.
    """

    @property
    def remembers(self) -> bool:
        """Whether a model depends on earlier rounds."""

    def check(self, clients: int) -> None:
        """Refuse a number of clients that it cannot serve, with the inequality."""

    def __call__(self, updates: Updates) -> Aggregate:
        """The next model; the updates' arrays are not changed, and not kept beyond the call."""
