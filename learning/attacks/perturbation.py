"""How Min-Max and Min-Sum leave the mean: a direction p, and the largest step γ that a bound allows.

Shejwalkar & Houmansadr, NDSS 2021, §IV. Both bounds are on ‖μ + γp − w_i‖² = a_i + γ·b_i + γ²·c, which is convex in γ;
they hold at γ = 0, so that bisection finds the largest γ.
"""

from collections.abc import Callable
from typing import Final, Literal, get_args

import numpy as np

from learning.attacks.attack import Crafted, Seen
from learning.errors import UnknownName
from learning.kernels.arrays import Reals

__all__ = ["Perturbation", "check_perturbation", "furthest"]

Perturbation = Literal["std", "unit", "sign"]
"""p = −σ (std), −μ/‖μ‖ (unit) or −sign(μ) (sign), of the updates w_i = θ_i − θ_t."""

BISECTIONS: Final = 60  # beyond which a float64 in [0, 2^k] does not change any more
MOST_DOUBLINGS: Final = 60


def check_perturbation(attack: str, value: object) -> None:
    """Refuse a direction that there is not."""
    if value not in get_args(Perturbation):
        raise UnknownName(f"perturbation of attack {attack}", str(value), get_args(Perturbation))


def furthest(seen: Seen, perturbation: Perturbation, allowed: Callable[[Reals, Reals], bool]) -> Crafted:
    """θ_t + μ + γ·p for all members, with the largest γ that is allowed; γ = 0 where p is zero.

    allowed(to_each, apart): whether the squared distances of the crafted update from the k that are seen, float64[k],
    are within the bound that the squared distances of those from each other, float64[k, k], give.
    """
    updates = seen.visible - seen.before
    mean = updates.mean(axis=0)
    direction = _direction(updates, mean, perturbation)
    between = updates[:, None, :] - updates[None, :, :]
    apart = np.einsum("abd,abd->ab", between, between)
    offset = mean - updates
    constant = np.einsum("kd,kd->k", offset, offset)
    linear = 2 * np.einsum("d,kd->k", direction, offset)
    square = float(np.einsum("d,d->", direction, direction))

    def fits(step: float) -> bool:
        return allowed(constant + step * linear + step * step * square, apart)

    step = _largest(fits) if square > 0 else 0.0
    theta = seen.before + mean + step * direction
    return Crafted(np.tile(theta, (len(seen.members), 1)), {"gamma": step})


def _direction(updates: Reals, mean: Reals, perturbation: Perturbation) -> Reals:
    if perturbation == "std":
        found: Reals = -updates.std(axis=0)
    elif perturbation == "sign":
        found = -np.sign(mean)
    else:
        length = float(np.sqrt(np.einsum("d,d->", mean, mean)))
        found = -mean / length if length > 0 else np.zeros_like(mean)
    return found


def _largest(fits: Callable[[float], bool]) -> float:
    """The largest step that fits, where all smaller ones do."""
    low, high = 0.0, 1.0
    for _ in range(MOST_DOUBLINGS):
        if not fits(high):
            break
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
