"""What a method of unlearning is, and what it is told of the run that is to forget.

Unlearning starts from a model and may go on with rounds, the *steps*. The *lineage* of a run's model are the rounds
whose updates made it, in order: all rounds, unless the run has forgotten somebody before.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals

__all__ = ["Made", "Method", "Steps", "Story", "check_counts"]


@dataclass(frozen=True, slots=True)
class Made:
    """One round of the lineage: the model before it [d], and whose local models [n, d] of how many interactions."""

    round: int
    before: Reals
    clients: tuple[str, ...]
    thetas: Reals
    interactions: Integers


@dataclass(frozen=True, slots=True)
class Story:
    """What a method may know.

    initial  model 0 [d]
    last     the model that is to forget [d]
    leavers  who is to be forgotten
    lineage  the rounds that made it, in order
    joined   the first round of the lineage that a leaver took part in; none if there is none
    model    the model of a round
    made     the updates of rounds, one after the other; raises where the log lacks their weights
    """

    initial: Reals
    last: Reals
    leavers: tuple[str, ...]
    lineage: tuple[int, ...]
    joined: int | None
    model: Callable[[int], Reals]
    made: Callable[[tuple[int, ...]], Iterator[Made]]


@dataclass(frozen=True, slots=True)
class Steps:
    """The rounds after the start: one for every `every`-th round of the lineage, with those who took part in it.

    interactions  how many a client has in a step at most; 0: as many as in training
    calibrated    whether an update gets the length of the one that its client kept
    again         whether users do again what they did in that round, to the bit; else they search anew
    """

    every: int
    interactions: int
    calibrated: bool
    again: bool = False


class Method(Protocol):
    """A frozen dataclass of the method's settings.

    steps          the rounds after the start; none if the start is already the end
    needs_weights  whether it needs the weights of updates in the log
    """

    @property
    def steps(self) -> Steps | None:
        """The rounds after the start."""

    @property
    def needs_weights(self) -> bool:
        """Whether the log must hold the weights of updates."""

    def start(self, story: Story) -> tuple[Reals, int]:
        """The model to start from, and the last round of the lineage that stays in it (0: none)."""


def check_counts(**counts: int) -> None:
    """Refuse counts below 1."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise LearningError(f"{name} must be a whole number from 1 on; got {count!r}")
