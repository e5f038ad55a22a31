"""Rolling back: the last model that the leavers had no part in."""

from dataclasses import dataclass

from learning.kernels.arrays import Reals
from learning.unlearning.method import Story

__all__ = ["Rollback"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """The model from before the first of the leavers took part: exact, and all that came later is lost."""

    @property
    def steps(self) -> None:
        """No rounds."""
        return

    @property
    def needs_weights(self) -> bool:
        """Models are enough."""
        return False

    def start(self, story: Story) -> tuple[Reals, int]:
        """The model of the round of the lineage before the leavers' first; the last one if they never took part."""
        if story.joined is None:
            return story.last, story.lineage[-1] if story.lineage else 0
        earlier = [one for one in story.lineage if one < story.joined]
        return (story.model(earlier[-1]), earlier[-1]) if earlier else (story.initial, 0)
