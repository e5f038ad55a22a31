"""What attacks are: on a client's own model, on its users' clicks, by several clients together, or on the wire."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from learning.clicks.model import ClickModel
from learning.errors import LearningError
from learning.kernels.arrays import Reals

__all__ = [
    "Attack",
    "ClickAttack",
    "ClientAttack",
    "ColludingAttack",
    "Crafted",
    "Seen",
    "WireAttack",
    "check_number",
]


class ClientAttack(ABC):
    """A frozen dataclass of an attack's settings, called once a round of one client that acts alone."""

    @abstractmethod
    def __call__(self, local: Reals, before: Reals, random: np.random.Generator) -> Reals:
        """What is sent [d] instead of the local model [d]; `before` is the global one, `random` the client's stream."""


class ClickAttack(ABC):
    """A frozen dataclass of an attack's settings, called once: it changes how a client's users click, nothing else."""

    @abstractmethod
    def __call__(self, own: ClickModel) -> ClickModel:
        """The users that the client learns from while it attacks, in the place of its `own`."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What colluding clients know of a round: m members of n clients.

    members  float64[m, d], what the members learned, in client order
    honest   float64[h, d], what the others sent, in client order; h = 0 with partial knowledge
    before   float64[d], the global model that everybody started from
    clients  n, how many clients the round is made of
    """

    members: Reals
    honest: Reals
    before: Reals
    clients: int

    @property
    def visible(self) -> Reals:
        """Every before-attack model that they see: the members' own, then the others'."""
        return np.concatenate([self.members, self.honest])

    @property
    def moved(self) -> Reals:
        """How far those models are from the one before in the mean, μ − θ_t [d]: exactly 0 where nobody moved."""
        mean: Reals = (self.visible - self.before).mean(axis=0)
        return mean

    @property
    def benign(self) -> Reals:
        """The models that are up against the crafted ones: the others', or where none is seen the members' own."""
        return self.honest if len(self.honest) else self.members


@dataclass(frozen=True, slots=True)
class Crafted:
    """What the members are to send, float64[m, d], and what is worth logging about it; `info` is plain JSON."""

    thetas: Reals
    info: Mapping[str, Any]


class ColludingAttack(ABC):
    """A frozen dataclass of an attack's settings, called once a round for all members."""

    @abstractmethod
    def __call__(self, seen: Seen, random: np.random.Generator) -> Crafted:
        """What the members send instead of what they learned; `random` is the adversary's stream of the round."""


@dataclass(frozen=True, slots=True)
class WireAttack:
    """An attack on the protocol and not on the numbers: the client sends its honest update, and more than it may.

    What it sends is the business of `protocol.mischief`, which has the same names.
    """

    name: str


Attack = ClientAttack | ClickAttack | ColludingAttack | WireAttack


def check_number(
    attack: str, name: str, value: object, *, least: float | None = None, most: float | None = None
) -> None:
    """Refuse a setting that is not a finite number from `least` to `most`."""
    low, high = -np.inf if least is None else least, np.inf if most is None else most
    if isinstance(value, bool) or not isinstance(value, int | float) or not (isfinite(value) and low <= value <= high):
        bounds = "" if least is None else f" from {least:g} on" if most is None else f" from {least:g} to {most:g}"
        raise LearningError(f"{name} of attack {attack} must be a finite number{bounds}; got {value!r}")
