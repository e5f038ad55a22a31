"""Retraining with fewer interactions: FedEraser without its calibration, as an ablation."""

from dataclasses import dataclass

from learning.kernels.arrays import Reals
from learning.unlearning.method import Steps, Story, check_counts

__all__ = ["FedAvgRetrain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FedAvgRetrain:
    """As many rounds, interactions and random draws as FedEraser has; updates keep their own lengths."""

    every: int = 10
    interactions: int = 3

    def __post_init__(self) -> None:
        check_counts(every=self.every, interactions=self.interactions)

    @property
    def steps(self) -> Steps:
        """⌈T/Δt⌉ plain rounds."""
        return Steps(self.every, self.interactions, calibrated=False)

    @property
    def needs_weights(self) -> bool:
        """No update is used again."""
        return False

    def start(self, story: Story) -> tuple[Reals, int]:
        """The initial model."""
        return story.initial, 0
