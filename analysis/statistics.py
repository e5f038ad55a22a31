"""Repeats of an experiment in numbers: Student's t distribution, the paired test, the confidence of a mean.

The two-tailed probability of |T| ≥ t with ν degrees of freedom is I_x(ν/2, 1/2) at x = ν / (ν + t²), where I is the
regularised incomplete beta function (Abramowitz & Stegun 26.7.1, 26.5.8).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import fmean, stdev
from typing import Final

__all__ = ["PairedTest", "incomplete_beta", "interval_factor", "paired_test", "t_quantile", "two_tailed"]

TERMS: Final = 10_000  # of the continued fraction, which needs a few √max(a, b)
PRECISE: Final = 1e-15
TINY: Final = 1e-300  # in place of a zero denominator


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A two-tailed paired t-test; t, p and effect are none where there are fewer than two pairs."""

    pairs: int
    difference: float  # the mean
    t: float | None
    p: float | None
    effect: float | None  # Cohen's d of the differences: their mean over their standard deviation


def paired_test(first: Sequence[float], second: Sequence[float]) -> PairedTest:
    """Whether second differs from first, pair by pair: t = mean(d) / (s(d) / √n), d = second - first, ν = n - 1."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    if len(differences) < 2:
        return PairedTest(len(differences), differences[0] if differences else 0.0, None, None, None)
    mean, spread = fmean(differences), stdev(differences)
    if spread == 0.0:  # all differences are the same: none at all, or beyond doubt
        return PairedTest(len(differences), mean, *((0.0, 1.0, 0.0) if mean == 0.0 else (_sign(mean) * inf, 0.0, None)))
    t = mean / (spread / sqrt(len(differences)))
    return PairedTest(len(differences), mean, t, two_tailed(t, len(differences) - 1), mean / spread)


def interval_factor(repeats: int, confidence: float = 0.95) -> float:
    """Half the interval of a mean over their standard deviation, for at least two repeats: t(n-1) / √n."""
    return t_quantile(confidence, repeats - 1) / sqrt(repeats)


def two_tailed(t: float, freedom: int) -> float:
    """P(|T| ≥ |t|) with so many degrees of freedom."""
    if t * t < 1.0:  # x is near 1 and has lost its last digits, 1 - x has not
        return 1.0 - incomplete_beta(0.5, freedom / 2, t * t / (freedom + t * t))
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def t_quantile(confidence: float, freedom: int) -> float:
    """The t that |T| stays below with this probability, by bisection."""
    low, high = 0.0, 1.0
    while two_tailed(high, freedom) > 1 - confidence:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if two_tailed(middle, freedom) > 1 - confidence else (low, middle)
    return high


def incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b) for a, b > 0 and 0 ≤ x ≤ 1, by its continued fraction where that converges fast (A&S 26.5.8)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front / _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """1 + d₁/(1 + d₂/(1 + …)), evaluated from the front by Lentz's method."""
    value, numerator, denominator = 1.0, 1.0, 0.0
    for m in range(TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) if m else None
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for d in (odd,) if even is None else (even, odd):
            denominator = 1.0 / ((1.0 + d * denominator) or TINY)
            numerator = (1.0 + d / numerator) or TINY
            value *= numerator * denominator
        if abs(numerator * denominator - 1.0) < PRECISE:
            break
    return value


def _sign(value: float) -> float:
    return 1.0 if value > 0 else -1.0
