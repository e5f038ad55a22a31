"""The clients of one host, and what a round of theirs gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from learning.clicks import ClickModel
from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals, Words

__all__ = ["Cohort", "Learner", "LocalUpdates"]


@dataclass(frozen=True, slots=True)
class Cohort:
    """m clients as arrays.

    keys          uint64[m], `client_key` of each id
    interactions  int64[m], how many a client has in a round, at least 1
    clicks        each client's user, m of them
    """

    keys: Words
    interactions: Integers
    clicks: Sequence[ClickModel]

    def __post_init__(self) -> None:
        sizes = (len(self.keys), len(self.interactions), len(self.clicks))
        if min(sizes) != max(sizes) or sizes[0] == 0:
            raise LearningError(
                f"a cohort needs at least 1 client and a key, interactions and clicks for each; got {sizes}"
            )
        if self.interactions.min() < 1:
            raise LearningError(f"a client must have at least 1 interaction a round; got {self.interactions.min()}")
        levels = {model.levels for model in self.clicks}
        if len(levels) != 1:
            raise LearningError(f"all clients must know the same number of relevance grades; got {sorted(levels)}")

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class LocalUpdates:
    """What k clients return of a round, in the order they were asked in.

    thetas        float64[k, d], the local models; of a learner that sends none, what it sends instead, a row a client
    interactions  int64[k], how many interactions each is made of
    online        float64[k], mean nDCG@k of the lists shown
    maxrr         float64[k], mean MaxRR of the clicks, of a learner that goes by it
    """

    thetas: Reals
    interactions: Integers
    online: Reals
    maxrr: Reals | None = None


class Learner(Protocol):
    """What the clients of one host do in a round."""

    def train(
        self,
        theta: Reals,
        round: int,  # noqa: A002 (the domain's word)
        members: Integers | None = None,
        *,
        most: int = 0,
    ) -> LocalUpdates:
        """The updates of the members (indices into the cohort; all of it if None) from the global model θ [d].

        most  a client's interactions at most; 0: as many as the cohort says
        """
