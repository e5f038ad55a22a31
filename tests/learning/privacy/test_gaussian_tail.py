"""The Gaussian mechanism's ε and δ, against an integral of densities and dp-accounting."""

from math import exp

import pytest
from dp_accounting.pld import accountant, common
from scipy.integrate import quad
from scipy.stats import norm

from learning.privacy.gaussian_tail import gaussian_delta, gaussian_epsilon, noise_ratio


@pytest.mark.parametrize(("epsilon", "ratio"), [(0.5, 0.7), (1.2, 3.0), (10.0, 0.3)])
def test_delta_is_the_mass_beyond_epsilon(epsilon, ratio):
    """δ is the integral of what one density exceeds e^ε times the other by."""
    excess = quad(lambda x: max(0.0, norm.pdf(x, 1, ratio) - exp(epsilon) * norm.pdf(x, 0, ratio)), -20, 20, limit=500)
    assert gaussian_delta(epsilon, ratio) == pytest.approx(excess[0], rel=1e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.2, 4.5, 10.0, 100.0])
def test_noise_and_epsilon_are_each_others_inverse(epsilon):
    """The noise for an ε gives that ε back."""
    assert gaussian_epsilon(1e-5, noise_ratio(epsilon, 1e-5)) == pytest.approx(epsilon, rel=1e-9)


def test_the_noise_is_dp_accountings():
    """The smallest σ for (1.2, 1e-5), to the accuracy that dp-accounting searches with."""
    theirs = accountant.get_smallest_gaussian_noise(common.DifferentialPrivacyParameters(1.2, 1e-5), 1, 1.0)
    assert noise_ratio(1.2, 1e-5) == pytest.approx(theirs, rel=1e-4)


def test_delta_alone_can_suffice():
    """With enough noise ε is 0."""
    assert gaussian_epsilon(0.1, 100.0) == 0.0
