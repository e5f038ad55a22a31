"""FedEraser as the paper has it (Wang et al., ECIR 2024, §3.2): calibrated rounds from the initial model."""

from dataclasses import dataclass

from learning.kernels.arrays import Reals
from learning.unlearning.method import Steps, Story, check_counts

__all__ = ["FedEraser"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FedEraser:
    """For every Δt-th round, Δt = `every`, the others learn from n' = `interactions`; kept norms give the lengths."""

    every: int = 10
    interactions: int = 3

    def __post_init__(self) -> None:
        check_counts(every=self.every, interactions=self.interactions)

    @property
    def steps(self) -> Steps:
        """T_unlearn = ⌈T/Δt⌉ calibrated rounds."""
        return Steps(self.every, self.interactions, calibrated=True)

    @property
    def needs_weights(self) -> bool:
        """Norms are enough."""
        return False

    def start(self, story: Story) -> tuple[Reals, int]:
        """The initial model."""
        return story.initial, 0
