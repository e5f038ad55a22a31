"""What an attack is, and when it is on."""

from dataclasses import dataclass
from math import isfinite
from typing import Protocol

import numpy as np

from learning.errors import LearningError
from learning.kernels.arrays import Reals

__all__ = ["Attack", "Scheduled", "check_number"]


class Attack(Protocol):
    """A frozen dataclass of the attack's settings, called once a round of one client."""

    def __call__(self, local: Reals, before: Reals, random: np.random.Generator) -> Reals:
        """What is sent [d] instead of the local model [d]; `before` is the global one, `random` the client's stream."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """An attack from round `start` to round `stop` (none: to the end); outside it the client is honest."""

    attack: Attack
    start: int = 1
    stop: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("start", self.start), ("stop", self.stop)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise LearningError(f"an attack's {name} must be a round from 1 on; got {value!r}")
        if self.stop is not None and self.stop < self.start:
            raise LearningError(f"an attack must not stop before it starts; got {self.start} to {self.stop}")

    def is_on(self, number: int) -> bool:
        """Whether the client attacks in this round."""
        return self.start <= number and (self.stop is None or number <= self.stop)


def check_number(attack: str, name: str, value: object, *, least: float) -> None:
    """Refuse a setting that is not a finite number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < least:
        raise LearningError(f"{name} of attack {attack} must be a finite number from {least:g} on; got {value!r}")
