"""The Gaussian mechanism's (ε, δ), exactly (Balle and Wang, ICML 2018, theorem 8).

With noise N(0, σ²) on every coordinate and a change of at most s in L2, and r = σ/s, the mechanism is (ε, δ)-private
exactly for

    δ ≥ Φ(1/(2r) − εr) − e^ε Φ(−1/(2r) − εr)

which falls in ε and in r; both are found from it by bisection.
"""

from collections.abc import Callable
from functools import lru_cache
from math import erfc, exp, log, sqrt

__all__ = ["gaussian_delta", "gaussian_epsilon", "noise_ratio"]

_STEPS = 200  # halvings: more than a float64 has bits


def gaussian_delta(epsilon: float, ratio: float) -> float:
    """The smallest δ for this ε at r = σ/s."""
    tail = _normal(-0.5 / ratio - epsilon * ratio)
    return max(0.0, _normal(0.5 / ratio - epsilon * ratio) - (exp(epsilon + log(tail)) if tail > 0 else 0.0))


@lru_cache(maxsize=1024)
def gaussian_epsilon(delta: float, ratio: float) -> float:
    """The smallest ε for this δ at r = σ/s; 0 where δ alone suffices."""
    return _smallest(lambda epsilon: gaussian_delta(epsilon, ratio) <= delta)


@lru_cache(maxsize=1024)
def noise_ratio(epsilon: float, delta: float) -> float:
    """The smallest r = σ/s that is (ε, δ)-private."""
    return _smallest(lambda ratio: ratio > 0 and gaussian_delta(epsilon, ratio) <= delta)


def _smallest(holds: Callable[[float], bool]) -> float:
    """The smallest number from 0 on from which on a condition holds, rounded up."""
    if holds(0.0):
        return 0.0
    high = 1.0
    while not holds(high):
        high *= 2
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _normal(x: float) -> float:
    """Φ, the normal distribution function."""
    return erfc(-x / sqrt(2)) / 2
