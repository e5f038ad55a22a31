"""What a privacy mechanism is, and what a round under it costs."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, Protocol, get_args

import numpy as np

from learning.errors import LearningError, UnknownName
from learning.kernels.arrays import Integers, Reals

__all__ = ["Clip", "Cost", "Mechanism", "Needs", "check_privacy", "norm_bound", "sum_change"]

Clip = Literal["half", "full"]
Needs = Literal["none", "whole", "shares"]
"""What clients add to their models: nothing, the whole noise each, or shares of which all together make it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the model of one round gives away about any one client; `inf` where no finite ε holds.

    nominal  the ε that the scenario asks for, as the papers tell it
    epsilon  of one coordinate of the sum, with the noise that really is in it: who sees the models only
    joint    of all d coordinates together, their change bounded in L2 as clipping does: who sees the models only
    message  of one coordinate of a single client's message: who sees the messages, the coordinator and its log
    delta    the probability with which they may fail; 0 for the Laplace mechanism
    """

    nominal: float
    epsilon: float
    joint: float
    message: float
    delta: float


class Mechanism(Protocol):
    """A frozen dataclass of the mechanism's settings."""

    @property
    def bound(self) -> float:
        """The largest ‖θ‖₂ of a local model, after every local update."""

    @property
    def needs(self) -> Needs:
        """What clients add."""

    def client_noise(self, random: np.random.Generator, dimension: int, share: float) -> Reals:
        """What a client adds [d]: a fraction of the whole noise."""

    def server_noise(self, random: np.random.Generator, dimension: int, interactions: Integers) -> Reals | None:
        """What the coordinator adds to the weighted mean [d]; none if the noise is the clients'."""

    def cost(self, dimension: int, interactions: Integers, noise: float, share: float) -> Cost:
        """What a round costs.

        interactions  int64[k], of those in the sum
        noise         the fraction of the whole noise that is in it
        share         the fraction that a single client gave
        """


def check_privacy(mechanism: str, clip: str, **numbers: Any) -> None:
    """Refuse settings that are not finite numbers above 0, and an unknown way to clip."""
    if clip not in get_args(Clip):
        raise UnknownName("clip", clip, get_args(Clip))
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value <= 0:
            raise LearningError(f"{name} of {mechanism} must be a finite number above 0; got {value!r}")


def norm_bound(sensitivity: float, clip: Clip) -> float:
    """Δ/2 as the paper has it (Wang et al., ICTIR 2021, equation 13), or Δ as its authors' code has it."""
    return sensitivity / 2 if clip == "half" else sensitivity


def sum_change(sensitivity: float, clip: Clip) -> float:
    """How far the sum of local models moves in L2 if one is replaced: from one end of its ball to the other."""
    return 2 * norm_bound(sensitivity, clip)
