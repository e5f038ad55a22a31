"""Retraining without the leavers, exactly: every round again, each client with the random streams that it had."""

from dataclasses import dataclass

from learning.kernels.arrays import Reals
from learning.unlearning.method import Steps, Story

__all__ = ["Retrain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrain:
    """What the model would be had the leavers never been there: the ground truth of forgetting."""

    @property
    def steps(self) -> Steps:
        """Every round, in full."""
        return Steps(1, 0, calibrated=False, again=True)

    @property
    def needs_weights(self) -> bool:
        """No update is used again."""
        return False

    def start(self, story: Story) -> tuple[Reals, int]:
        """The initial model."""
        return story.initial, 0
