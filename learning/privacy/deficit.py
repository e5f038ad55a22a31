"""The ε of a sum of noise shares, also where some are missing.

The sum of k of n shares is γ − γ' with both Gamma(a, b), a = k/n: a variance-gamma variable, Laplace(b) for a = 1. With
ν = a − 1/2 and K the modified Bessel function of the second kind its density is

    f(x) ∝ |x|^ν K_ν(|x|/b)

For a ≤ 1/2 it grows without limit at 0, so that a shift makes some outcomes arbitrarily more likely: no finite ε. For
1/2 < a < 1, (log f)' = −K_{1−ν}(x/b) / (b K_ν(x/b)) for x > 0, which rises from −∞ to −1/b: log f falls, and is convex
on either side of its peak. Hence the largest ratio f(x)/f(x + s) is at x = 0, and for all shifts up to s = z·b

    ε = log f(0) − log f(s) = log( 2^(ν−1) Γ(ν) / (z^ν K_ν(z)) )

For a ≥ 1 log f is concave and its slope tends to ∓1/b: ε = z, the Laplace mechanism's, and more noise does not help.
ε is concave in s, so over d independent coordinates whose shifts s_j have Σ s_j² ≤ s² the sum of ε(s_j) is largest
where all are s/√d: this is `joint_epsilon`, √d·z for a ≥ 1.

Shares of unequal weight: Laplace noise of scale w·b is noise of scale v·b < w·b plus independent noise (it is
self-decomposable), so a sum with weights from v to w is at least as private as one where all noise has the weight v and
the shift the weight w. Give z·w/v for z; the ε is then an upper bound.
"""

from math import acosh, cosh, exp, fsum, inf, lgamma, log, sinh, sqrt

__all__ = ["joint_epsilon", "scaled_bessel", "sum_epsilon"]

_LOG_SMALLEST = 745.0  # e^−745 is the smallest float64


def sum_epsilon(noise: float, shift: float) -> float:
    """The ε of one coordinate with the fraction `noise` = k/n of all shares, for changes up to `shift` = z scales."""
    order = noise - 0.5
    if order <= 0:
        return inf
    if noise >= 1:
        return shift
    peak = (order - 1) * log(2) + lgamma(order)
    return peak - order * log(shift) + shift - log(scaled_bessel(order, shift))


def joint_epsilon(noise: float, shift: float, dimension: int) -> float:
    """The ε of d coordinates together, for changes of up to `shift` scales in L2."""
    return dimension * sum_epsilon(noise, shift / sqrt(dimension))


def scaled_bessel(order: float, z: float) -> float:
    """e^z K_ν(z) = ∫_0^∞ e^(−z(cosh t − 1)) cosh(νt) dt for 0 ≤ ν < 1 and z > 0, by the trapezoidal rule.

    The integrand is entire and falls doubly exponentially, so the rule's error is about e^(−π²/h) where z is small and
    e^(−2π²/(h²z)) where it is large: below 1e-17 of the integral with the steps used.
    """
    step = min(0.2, 0.6 / sqrt(z))
    last = int(acosh(1 + _LOG_SMALLEST / z) / step) + 1
    terms = (exp(-2 * z * sinh(at * step / 2) ** 2) * cosh(order * at * step) for at in range(1, last + 1))
    return step * (0.5 + fsum(terms))
