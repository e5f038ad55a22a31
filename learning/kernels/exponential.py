"""e^x in plain arithmetic, so that a loop over it becomes vector instructions; right to about one unit in the last.

x = k·ln 2 + r with |r| ≤ ln 2 / 2, e^x = 2^k·e^r, and e^r is its Taylor series to the 13th power (the next term is
below 5e-18). Adding 1.5·2^52 rounds to a whole number and leaves that number in the lowest bits of the sum.
"""

from learning.kernels.compiling import bits_of, compiled, fma, real_of

__all__ = ["LOWEST", "exponential"]

LOWEST = -708.0  # e^x is a normal number from here on; below it `exponential` is 0

_ROUNDER = 6755399441055744.0  # 1.5·2^52
_PER_LN2 = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # the leading 33 bits of ln 2: k·_LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10
_BIAS = 1023  # of the exponent of a float64
_MANTISSA = 52


@compiled
def exponential(x: float) -> float:
    """e^x for x ≤ 709; 0 below -708."""
    shifted = fma(x, _PER_LN2, _ROUNDER)
    k = shifted - _ROUNDER
    r = fma(k, -_LN2_LOW, fma(k, -_LN2_HIGH, x))
    series = fma(r, 1.0 / 6227020800.0, 1.0 / 479001600.0)
    series = fma(series, r, 1.0 / 39916800.0)
    series = fma(series, r, 1.0 / 3628800.0)
    series = fma(series, r, 1.0 / 362880.0)
    series = fma(series, r, 1.0 / 40320.0)
    series = fma(series, r, 1.0 / 5040.0)
    series = fma(series, r, 1.0 / 720.0)
    series = fma(series, r, 1.0 / 120.0)
    series = fma(series, r, 1.0 / 24.0)
    series = fma(series, r, 1.0 / 6.0)
    series = fma(series, r, 0.5)
    series = fma(series, r, 1.0)
    series = fma(series, r, 1.0)
    power = real_of((bits_of(shifted) + _BIAS) << _MANTISSA)
    return 0.0 if x < LOWEST else series * power
