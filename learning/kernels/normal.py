"""Normal numbers in plain arithmetic, so that a loop over them becomes vector instructions and keeps its bits.

Box & Muller (1958): of 2h words of a Philox stream the first h give radii and the last h angles, and

    r = √(−2 ln u)        z_i = r_i·cos(2π v_i)        z_{i + h} = r_i·sin(2π v_i)        i = 0 … h − 1

with u in (0, 1] and v in [0, 1) of 52 bits each. ln and cos, sin are their series on a short interval, right to about
one unit in the last place: a library's would differ between machines.
"""

import math

import numpy as np

from learning.kernels.arrays import Reals, Words
from learning.kernels.compiling import bits_of, compiled, fma, real_of
from learning.kernels.philox import NUMBERS, make_numbers

__all__ = ["NORMALS", "fill_normals", "padded"]

NORMALS = 16
"""Words of a stream that are made at a time."""

_MANTISSA = 52
_SPARE = np.uint64(12)  # bits of a word that a mantissa has no room for
_ONE = np.uint64(0x3FF0000000000000)  # the bits of 1.0
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of √½
_ROUNDER = 6755399441055744.0  # 1.5·2^52
_ROUNDER_BITS = 0x4338000000000000
_LN2_HIGH = 6.93147180369123816490e-01  # the leading 33 bits of ln 2
_LN2_LOW = 1.90821492927058770002e-10
_TURN = 2.0 * math.pi


def padded(length: int) -> int:
    """The least multiple of NORMALS that is no less: how long an array must be for `fill_normals`."""
    return -(-length // NORMALS) * NORMALS


@compiled
def fill_normals(generator: Words, out: Reals) -> None:
    """Fill `out`, whose length is a multiple of NORMALS, from a stream that was just restarted."""
    half = len(out) // 2
    for first in range(0, len(out), NORMALS):
        make_numbers(generator)
        for i in range(NORMALS):
            out[first + i] = real_of((generator[NUMBERS + i] >> _SPARE) | _ONE)  # in [1, 2): a word's upper 52 bits
    for i in range(half):
        u, v = 2.0 - out[i], out[i + half] - 1.0
        radius = math.sqrt(-2.0 * _logarithm(u))
        quarters = fma(v, 4.0, _ROUNDER)
        angle = fma(quarters - _ROUNDER, -0.25, v) * _TURN  # from −π/4 to π/4
        quarter = bits_of(quarters) & 3
        cosine, sine = _cosine(angle), _sine(angle)
        across = quarter & 1 == 1
        x = sine if across else cosine
        y = cosine if across else sine
        x = -x if (quarter + 1) & 2 else x
        y = -y if quarter & 2 else y
        out[i] = radius * x
        out[i + half] = radius * y


@compiled
def _logarithm(u: float) -> float:
    """The logarithm of a normal number u: u = 2^k·m with m from √½ to √2, ln m = 2·artanh((m − 1)/(m + 1))."""
    bits = bits_of(u)
    k = (bits - _ROOT_HALF) >> _MANTISSA
    m = real_of(bits - (k << _MANTISSA))
    power = real_of(k + _ROUNDER_BITS) - _ROUNDER
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = fma(z, 1.0 / 19.0, 1.0 / 17.0)
    series = fma(series, z, 1.0 / 15.0)
    series = fma(series, z, 1.0 / 13.0)
    series = fma(series, z, 1.0 / 11.0)
    series = fma(series, z, 1.0 / 9.0)
    series = fma(series, z, 1.0 / 7.0)
    series = fma(series, z, 1.0 / 5.0)
    series = fma(series, z, 1.0 / 3.0)
    series = fma(series, z, 1.0)
    logarithm: float = fma(power, _LN2_HIGH, fma(power, _LN2_LOW, 2.0 * s * series))
    return logarithm


@compiled
def _cosine(x: float) -> float:
    """Cos x for |x| ≤ π/4, its Taylor series to the 16th power."""
    z = x * x
    series = fma(z, 1.0 / 20922789888000.0, -1.0 / 87178291200.0)
    series = fma(series, z, 1.0 / 479001600.0)
    series = fma(series, z, -1.0 / 3628800.0)
    series = fma(series, z, 1.0 / 40320.0)
    series = fma(series, z, -1.0 / 720.0)
    series = fma(series, z, 1.0 / 24.0)
    series = fma(series, z, -0.5)
    cosine: float = fma(series, z, 1.0)
    return cosine


@compiled
def _sine(x: float) -> float:
    """Sin x for |x| ≤ π/4, its Taylor series to the 15th power."""
    z = x * x
    series = fma(z, -1.0 / 1307674368000.0, 1.0 / 6227020800.0)
    series = fma(series, z, -1.0 / 39916800.0)
    series = fma(series, z, 1.0 / 362880.0)
    series = fma(series, z, -1.0 / 5040.0)
    series = fma(series, z, 1.0 / 120.0)
    series = fma(series, z, -1.0 / 6.0)
    sine: float = fma(series * z, x, x)
    return sine
