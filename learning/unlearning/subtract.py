"""Subtracting: the leavers' own updates taken out of the last model.

θ = θ_T − Σ_t Σ_{c ∈ leavers} n_c/N_t · (θ_{c,t} − θ_{t−1}),   N_t over everybody
"""

from dataclasses import dataclass

import numpy as np

from learning.kernels.arrays import Reals
from learning.unlearning.method import Story

__all__ = ["Subtract"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtract:
    """What federated averaging added for the leavers, taken away; how the others reacted to it stays."""

    @property
    def steps(self) -> None:
        """No rounds."""
        return

    @property
    def needs_weights(self) -> bool:
        """It is made of updates."""
        return True

    def start(self, story: Story) -> tuple[Reals, int]:
        """The difference; everybody's rounds stay in the model."""
        theta = story.last.copy()
        for one in story.made(story.lineage):
            total = int(one.interactions.sum())
            for row in np.flatnonzero([client in story.leavers for client in one.clients]):
                theta -= one.interactions[row] / total * (one.thetas[row] - one.before)
        return theta, story.lineage[-1] if story.lineage else 0
