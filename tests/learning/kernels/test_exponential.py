"""The exponential of compiled code."""

import math

import numpy as np
import pytest

from learning.kernels.exponential import LOWEST, exponential


def test_it_is_right_to_two_units_in_the_last_place():
    """Over the whole range it differs from libm's e^x by at most two units in the last place."""
    points = np.concatenate((np.random.default_rng(0).uniform(LOWEST, 709.0, 20_000), np.linspace(-1.0, 1.0, 20_001)))
    ours = np.array([exponential(x) for x in points])
    libm = np.array([math.exp(x) for x in points])
    assert (np.abs(ours - libm) <= 2 * np.spacing(libm)).all()


@pytest.mark.parametrize(
    ("x", "expected"), [(0.0, 1.0), (-0.0, 1.0), (LOWEST - 1, 0.0), (-1e300, 0.0), (-math.inf, 0.0)]
)
def test_its_ends_are_exact(x, expected):
    """E^0 is 1, and what is too small for a normal number is 0."""
    assert exponential(x) == expected


def test_not_a_number_stays_not_a_number():
    """An invalid score must not become a valid weight."""
    assert math.isnan(exponential(math.nan))
