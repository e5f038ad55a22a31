"""Student's t, against tables and against simulation-free identities."""

import math

import pytest

from analysis.statistics import incomplete_beta, interval_factor, paired_test, t_quantile, two_tailed


@pytest.mark.parametrize(
    ("confidence", "freedom", "expected"),
    [
        (0.95, 1, 12.7062),
        (0.95, 2, 4.3027),
        (0.95, 4, 2.7764),
        (0.95, 24, 2.0639),
        (0.99, 4, 4.6041),
        (0.99, 24, 2.7969),
        (0.95, 1000, 1.9623),
    ],
)
def test_quantiles_are_those_of_the_tables(confidence, freedom, expected):
    """The table that every textbook has."""
    assert t_quantile(confidence, freedom) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("t", [0.0, 1e-7, 0.3, 1.0, 2.0, 7.5, 300.0])
def test_closed_forms(t):
    """One degree of freedom is Cauchy's distribution, two has a square root: both are written out."""
    assert two_tailed(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), rel=1e-9, abs=1e-14)
    assert two_tailed(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-9, abs=1e-9)
    assert two_tailed(-t, 5) == two_tailed(t, 5)


def test_many_degrees_of_freedom_are_the_normal_distribution():
    """Far out, too, where nothing may cancel."""
    for t in (0.5, 1.96, 5.0):
        assert two_tailed(t, 10**7) == pytest.approx(math.erfc(t / math.sqrt(2)), rel=1e-4)


def test_the_beta_function_of_whole_numbers_is_a_binomial_sum():
    """I_x(a, b) = P(at least a of a + b - 1 succeed)."""
    for a, b, x in ((2, 3, 0.4), (5, 1, 0.9), (7, 9, 0.2), (30, 40, 0.5)):
        n = a + b - 1
        tail = sum(math.comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(a, n + 1))
        assert incomplete_beta(a, b, x) == pytest.approx(tail, rel=1e-12)
    assert (incomplete_beta(2, 3, 0.0), incomplete_beta(2, 3, 1.0)) == (0.0, 1.0)


def test_a_paired_test_by_hand():
    """Differences 1, 2, 3: mean 2, deviation 1, t = 2√3, p = 1 - t/√(2 + t²)."""
    test = paired_test([0, 0, 0], [1, 2, 3])
    t = 2 * math.sqrt(3)
    assert (test.pairs, test.difference, test.effect) == (3, 2.0, 2.0)
    assert test.t == pytest.approx(t)
    assert test.p == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-12)


def test_pairs_without_spread_and_too_few_pairs():
    """Equal differences leave no doubt, one pair leaves nothing but doubt."""
    assert paired_test([1, 2], [1, 2]).p == 1.0
    assert paired_test([1, 2], [2, 3]).p == 0.0
    assert paired_test([1, 2], [0, 1]).t == -math.inf
    assert paired_test([1], [3]).p is None
    assert paired_test([], []).difference == 0.0


def test_the_interval_of_a_mean():
    """t(4) / √5."""
    assert interval_factor(5) == pytest.approx(2.7764451 / math.sqrt(5), rel=1e-7)
