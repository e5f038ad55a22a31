"""When an attack is on, and what its accomplices know and do."""

from dataclasses import dataclass
from typing import Literal, get_args

from learning.attacks.attack import Attack
from learning.errors import LearningError, UnknownName

__all__ = ["Collusion", "Knowledge", "Scheduled", "WithoutAdversary"]

Knowledge = Literal["partial", "full"]
"""What the adversary sees of a round: its members' before-attack models only, or every client's."""
WithoutAdversary = Literal["honest", "silent", "wait"]
"""What members do while the adversary is dead: send what they learned, send nothing, or wait for it."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """An attack in the rounds start, start + every, … up to `stop` (none: to the end); else the client is honest."""

    attack: Attack
    start: int = 1
    stop: int | None = None
    every: int = 1

    def __post_init__(self) -> None:
        for name, value, what in (
            ("start", self.start, "a round"),
            ("stop", self.stop, "a round"),
            ("every", self.every, "a number of rounds"),
        ):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise LearningError(f"an attack's {name} must be {what} from 1 on; got {value!r}")
        if self.stop is not None and self.stop < self.start:
            raise LearningError(f"an attack must not stop before it starts; got {self.start} to {self.stop}")

    def is_on(self, number: int) -> bool:
        """Whether the client attacks in this round."""
        begun = self.start <= number and (self.stop is None or number <= self.stop)
        return begun and (number - self.start) % self.every == 0


@dataclass(frozen=True, slots=True)
class Collusion(Scheduled):
    """A scheduled attack of several clients together; `without` is none where the scenario does not say it."""

    knowledge: Knowledge = "partial"
    without: WithoutAdversary | None = None

    def __post_init__(self) -> None:
        Scheduled.__post_init__(self)
        if self.knowledge not in get_args(Knowledge):
            raise UnknownName("knowledge of an attack", str(self.knowledge), get_args(Knowledge))
        if self.without is not None and self.without not in get_args(WithoutAdversary):
            raise UnknownName("without_adversary of an attack", str(self.without), get_args(WithoutAdversary))
