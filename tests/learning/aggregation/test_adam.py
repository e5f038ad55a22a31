"""The coordinator's step of FOLtR-ES."""

import numpy as np
import pytest
from es_twin import gradient as slow_gradient

from learning.aggregation import Updates
from learning.aggregation.adam import Adam, gradient
from learning.errors import LearningError
from learning.learners.es import SEEDS


def updates(trials, before, number=1):
    """Trials of the clients 0, 1, … as a rule is given them."""
    trials = np.asarray(trials, dtype=float)
    return Updates(trials, np.full(len(trials), 4), np.arange(len(trials)), np.asarray(before, dtype=float), number)


@pytest.mark.parametrize("dimension", [1, 16, 46, 480])
def test_the_gradient_is_the_mean_of_weighted_directions(dimension):
    """As the twin has it, for any number of weights, with the largest seed and with figures that are equal."""
    random = np.random.default_rng(1)
    trials = np.column_stack((random.integers(0, SEEDS, 30), random.random((30, 2))))
    trials[3, 0], trials[5, 1] = SEEDS - 1, trials[5, 2]
    np.testing.assert_allclose(
        gradient(trials, 0.01, dimension), slow_gradient(trials, 0.01, dimension), rtol=1e-11, atol=1e-12
    )


def test_adam_by_hand():
    """Two steps in one dimension, each number worked out by hand from g₁ and g₂."""
    first, second = [[5, 1.0, 0.5]], [[6, 0.25, 0.75]]
    g1, g2 = gradient(np.array(first), 0.01, 1)[0], gradient(np.array(second), 0.01, 1)[0]
    rule = Adam(sigma=0.01, learning_rate=0.1)
    one = rule(updates(first, [2.0])).theta
    # m = 0.1 g₁, v = 0.001 g₁²; divided by 1 − 0.9 and 1 − 0.999 they are g₁ and g₁²
    assert one[0] == pytest.approx(2.0 + 0.1 * g1 / (abs(g1) + 1e-8), rel=1e-12)
    two = rule(updates(second, one, 2)).theta
    # m = 0.09 g₁ + 0.1 g₂, v = 0.000999 g₁² + 0.001 g₂²; divided by 1 − 0.81 and 1 − 0.998001
    m, v = (0.09 * g1 + 0.1 * g2) / 0.19, (0.000999 * g1**2 + 0.001 * g2**2) / 0.001999
    assert two[0] == pytest.approx(one[0] + 0.1 * m / (np.sqrt(v) + 1e-8), rel=1e-12)


def test_a_fresh_rule_that_is_given_the_same_rounds_goes_on_with_the_same_bits():
    """What it remembers follows from the trials alone."""
    random = np.random.default_rng(2)
    rounds = [np.column_stack((random.integers(0, SEEDS, 9), random.random((9, 2)))) for _ in range(4)]
    whole, again, theta = Adam(sigma=0.01, learning_rate=0.001), Adam(sigma=0.01, learning_rate=0.001), np.zeros(5)
    models = []
    for number, trials in enumerate(rounds, start=1):
        made = whole(updates(trials, theta, number))
        models.append(made.theta)
        theta = made.theta
    assert Adam.remembers
    before = np.zeros(5)
    for number, trials in enumerate(rounds, start=1):
        before = again(updates(trials, before, number)).theta
    assert before.tobytes() == models[-1].tobytes()
    assert made.info["clients"] == 9
    assert made.info["fitness"] == pytest.approx(rounds[-1][:, 1:].mean())


def test_nothing_told_moves_nothing():
    """Where every client saw no difference, the first step is none."""
    assert Adam(sigma=0.01, learning_rate=0.1)(updates([[1, 0.5, 0.5], [2, 0, 0]], [1.0, 2.0])).theta.tolist() == [1, 2]


def test_what_is_no_trial_is_refused():
    """A row has three numbers."""
    with pytest.raises(LearningError, match=r"rows of a seed and two figures, at least 1; got the shape \(2, 4\)"):
        gradient(np.ones((2, 4)), 0.01, 4)
