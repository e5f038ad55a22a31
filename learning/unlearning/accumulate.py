"""Accumulating: the others' stored updates summed, without anybody learning anew (FedAccum beside FedEraser).

θ = θ_0 + Σ_t Σ_{i ∉ leavers} n_i/N_t · (θ_{i,t} − θ_{t−1}),   N_t = Σ_{i ∉ leavers} n_i
"""

from dataclasses import dataclass

import numpy as np

from learning.kernels.arrays import Reals
from learning.unlearning.method import Story, check_counts

__all__ = ["Accumulate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Accumulate:
    """The weighted means of the others' changes in every `every`-th round, added to the initial model.

    The changes were made from models that the leavers had a part in, so that it forgets in form only.
    """

    every: int = 1

    def __post_init__(self) -> None:
        check_counts(every=self.every)

    @property
    def steps(self) -> None:
        """No rounds."""
        return

    @property
    def needs_weights(self) -> bool:
        """It is made of updates."""
        return True

    def start(self, story: Story) -> tuple[Reals, int]:
        """The sum; everybody else's rounds stay in the model."""
        theta = story.initial.copy()
        for one in story.made(story.lineage[:: self.every]):
            others = np.array([client not in story.leavers for client in one.clients])
            total = int(one.interactions[others].sum())
            for row in np.flatnonzero(others):
                theta += one.interactions[row] / total * (one.thetas[row] - one.before)
        return theta, _last(story)


def _last(story: Story) -> int:
    return story.lineage[-1] if story.lineage else 0
