"""Normal numbers in compiled code."""

import numpy as np
import pytest

from learning.kernels.normal import NORMALS, fill_normals, padded
from learning.kernels.philox import GENERATOR_WORDS, restart
from learning.streams import Purpose, stream


def normals(seed, count):
    """So many normal numbers of a seed's stream."""
    generator, out = np.empty(GENERATOR_WORDS, np.uint64), np.empty(padded(count))
    restart(generator, np.uint64(seed), np.uint64(Purpose.PERTURBATION), np.uint64(0), np.uint64(0))
    fill_normals(generator, out)
    return out


@pytest.mark.parametrize("count", [16, 48, 100_000])
def test_they_are_those_of_the_transformation(count):
    """√(−2 ln u)·cos 2πv and √(−2 ln u)·sin 2πv of the stream's words, to the last digits."""
    out = normals(5, count)
    words = stream(5, Purpose.PERTURBATION).bit_generator.random_raw(len(out))
    fractions = (words >> np.uint64(12)).astype(float) * 2.0**-52
    u, v = 1 - fractions[: len(out) // 2], fractions[len(out) // 2 :]
    radius = np.sqrt(-2 * np.log(u))
    expected = np.concatenate((radius * np.cos(2 * np.pi * v), radius * np.sin(2 * np.pi * v)))
    np.testing.assert_allclose(out, expected, rtol=1e-14, atol=4e-15)


def test_they_are_normal():
    """The first four moments of many are those of N(0, 1), within five standard errors."""
    out = normals(6, 200_000)
    for power, moment, spread in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((out**power).mean() - moment) < 5 * np.sqrt(spread / len(out))


def test_the_extremes_of_a_word_give_finite_numbers():
    """A word of zeros or of ones, for the radius or the angle, is no special case: 0 and √(104 ln 2) at most."""
    for first in (np.uint64(0), np.uint64(2**64 - 1)):
        fraction = float(first >> np.uint64(12)) * 2.0**-52
        assert 0 <= -2 * np.log(1 - fraction) <= 104 * np.log(2)
    assert np.isfinite(normals(7, NORMALS * 1000)).all()
