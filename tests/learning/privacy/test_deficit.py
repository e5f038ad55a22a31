"""The ε of a sum of noise shares, against the Bessel functions of SciPy and densities integrated from the Gammas."""

from math import gamma, inf, log, sqrt

import numpy as np
import pytest
from scipy.special import kve

from learning.privacy.deficit import joint_epsilon, scaled_bessel, sum_epsilon


def density(x, shape):
    """The density at |x| > 0 of γ − γ', both Gamma(shape, 1): ∫ f(|x| + γ')·f(γ') dγ', in steps of log γ'."""
    steps = np.linspace(-90.0, 5.0, 5001)
    inner = np.exp(steps)
    heights = (abs(x) + inner) ** (shape - 1) * inner**shape * np.exp(-abs(x) - 2 * inner)
    return heights.sum() * (steps[1] - steps[0]) / gamma(shape) ** 2


@pytest.mark.parametrize("order", [1e-3, 0.1, 0.3, 0.4999])
@pytest.mark.parametrize("z", [1e-8, 1e-3, 0.5, 4.5, 60.0, 1e4])
def test_the_bessel_function_is_scipys(order, z):
    """e^z K_ν(z) to 14 digits, from tiny arguments to large ones."""
    assert scaled_bessel(order, z) == pytest.approx(kve(order, z), rel=1e-14)


@pytest.mark.parametrize(("received", "promised", "shift"), [(6, 10, 4.5), (9, 10, 1.2), (2, 3, 0.2), (99, 100, 10.0)])
def test_no_two_outcomes_tell_more_than_epsilon(received, promised, shift):
    """Over a grid of outcomes the log ratio of densities a shift apart stays below ε, and comes near it at the peak."""
    shape, epsilon = received / promised, sum_epsilon(received / promised, shift)
    outcomes = [sign * shift * at for sign in (1, -1) for at in (1e-9, 1e-4, 0.01, 0.2, 0.49, 0.7, 1.5, 4.0)]
    ratios = [log(density(x, shape) / density(x + shift, shape)) for x in outcomes]
    assert max(ratios) <= epsilon + 1e-9
    assert max(ratios) > epsilon - 0.05 - 0.2 * (shape < 0.7)  # at 1e-9 of the shift; the peak is sharp


def test_all_shares_are_the_laplace_mechanism():
    """With every share ε is the change over the scale; more shares than promised do not lower it."""
    assert sum_epsilon(1.0, 4.5) == sum_epsilon(1.3, 4.5) == 4.5
    assert sum_epsilon(1.0 - 1e-12, 4.5) == pytest.approx(4.5, abs=1e-9)


@pytest.mark.parametrize("noise", [0.1, 0.4, 0.5])
def test_half_of_the_shares_protect_nobody(noise):
    """At k ≤ n/2 the density has no bound at 0: no finite ε."""
    assert sum_epsilon(noise, 0.01) == joint_epsilon(noise, 0.01, 46) == inf


def test_every_missing_share_costs_more():
    """ε falls strictly with the shares that arrive, and just above one half it is large."""
    costs = [sum_epsilon(received / 100, 4.5) for received in range(51, 101)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > 8.0


def test_the_worst_change_of_a_vector_is_spread_evenly():
    """Of all changes of one L2 length the even one costs most; for all shares it is √d times a coordinate's ε."""
    assert joint_epsilon(1.0, 4.5, 46) == pytest.approx(sqrt(46) * 4.5)
    even = joint_epsilon(0.7, 4.5, 2)
    for first in (0.1, 1.0, 2.0, 3.0, 4.0):
        assert sum_epsilon(0.7, first) + sum_epsilon(0.7, sqrt(4.5**2 - first**2)) < even
