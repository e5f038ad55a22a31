"""What a client says of a number that it may not tell."""

import math

import numpy as np
import pytest

from learning.errors import LearningError
from learning.kernels.philox import GENERATOR_WORDS, restart
from learning.learners.randomised_response import answer, epsilon
from learning.streams import Purpose


@pytest.mark.parametrize(("p", "expected"), [(0.25, 1.204), (0.5, 2.303), (0.9, 4.500)])
def test_epsilon_of_the_papers(p, expected):
    """With eleven values p = 0.25, 0.5 and 0.9 are ε = 1.2, 2.3 and 4.5."""
    assert epsilon(p, 11) == pytest.approx(expected, abs=5e-4)


def test_epsilon_has_its_limits():
    """Always the truth protects nobody; an answer that says nothing is refused."""
    assert epsilon(1.0, 11) == math.inf
    for p in (1 / 11, 0.05, 1.5, math.nan):
        with pytest.raises(LearningError, match=r"p must be above 1/11, .* and at most 1; got"):
            epsilon(p, 11)


def test_answers_are_true_with_probability_p_and_else_uniform():
    """Each of the other values is as frequent as any, and the ratio of frequencies is e^ε."""
    generator, counts, draws = np.empty(GENERATOR_WORDS, np.uint64), np.zeros(11), 40_000
    restart(generator, np.uint64(1), np.uint64(Purpose.PRIVACY), np.uint64(2), np.uint64(3))
    for _ in range(draws):
        counts[answer(generator, 4, 11, 0.5)] += 1
    expected = np.full(11, 0.05)
    expected[4] = 0.5
    assert (abs(counts / draws - expected) < 5 * np.sqrt(expected * (1 - expected) / draws)).all()
    assert math.exp(epsilon(0.5, 11)) == pytest.approx(0.5 / 0.05)
