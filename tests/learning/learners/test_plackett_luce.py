"""Lists drawn from the Plackett–Luce model, and the weights of PDGD's pairs."""

import itertools
from collections import Counter

import numpy as np
import pytest
from slow_twin import document_factors, draw_list, list_probability, masses_of

from learning.kernels.philox import GENERATOR_WORDS, restart
from learning.learners.plackett_luce import BLOCK, pair_factors, sample_list
from learning.streams import Purpose, stream


def started(key=1):
    """A compiled generator at the start of the stream (0, TRAIN, key, 0)."""
    generator = np.empty(GENERATOR_WORDS, np.uint64)
    restart(generator, np.uint64(0), np.uint64(Purpose.TRAIN), np.uint64(key), np.uint64(0))
    return generator


def sample(generator, scores, length):
    """The documents drawn, their masses, and the mass left."""
    scores = np.asarray(scores, dtype=np.float64)
    blocks = -(-len(scores) // BLOCK)
    shown, masses = np.empty(length, np.int64), np.empty(length)
    left = sample_list(generator, scores, len(scores), np.empty(blocks * BLOCK), np.empty(blocks), shown, masses)
    return shown, masses, left


def factors_of(scores, shown, masses, left, clicked):
    """`pair_factors` for clicked ranks, as a factor for each document."""
    examined = min(max(clicked) + 2, len(shown))
    flags = np.zeros(examined, np.bool_)
    flags[list(clicked)] = True
    factors = np.empty(examined)
    scores = np.asarray(scores, dtype=np.float64)
    pair_factors(scores, len(scores), shown, masses, left, flags, np.empty((2, len(shown) + 1)), factors)
    by_document = np.zeros(len(scores))
    by_document[shown[:examined]] = factors
    return by_document


def list_of(scores, ranking):
    """Masses and the mass left of a list that was not drawn but chosen, or -1 where they leave the range."""
    weights = np.exp(np.asarray(scores) - max(scores))
    masses = weights[ranking]
    left = np.delete(weights, ranking).sum()
    return np.array(ranking), masses, left if masses.min() >= 1e-150 else -1.0


@pytest.mark.parametrize(
    ("scores", "length"), [([0.3, -1.0, 2.0, 0.0], 4), ([1.0, 0.5, -0.5, 0.0, 2.0], 3), ([700.0, 700.5, 699.0], 3)]
)
def test_lists_are_as_frequent_as_equation_2_says(scores, length):
    """Chi-square of all rankings of a small list against their exact probabilities."""
    trials = 20_000
    generator = started()
    seen = Counter(tuple(sample(generator, scores, length)[0].tolist()) for _ in range(trials))
    rankings = list(itertools.permutations(range(len(scores)), length))
    expected = np.array([float(list_probability(masses_of(scores), ranking)) for ranking in rankings]) * trials
    observed = np.array([seen[ranking] for ranking in rankings])
    assert expected.sum() == pytest.approx(trials)
    freedom = len(rankings) - 1
    assert ((observed - expected) ** 2 / expected).sum() < freedom + 4 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("documents", [1, 2, 7, 8, 9, 41, 120])
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e3, 1e5])
def test_a_list_is_the_slow_twins(documents, spread):
    """The same draws give the same documents, also where the mass left vanishes against the first ones."""
    scores = np.random.default_rng(documents).normal(size=documents) * spread
    generator, slow = started(), stream(0, Purpose.TRAIN, 1, 0)
    for _ in range(20):
        shown, _, _ = sample(generator, scores, min(10, documents))
        assert shown.tolist() == draw_list(slow, scores.tolist(), min(10, documents))


def test_documents_far_below_the_first_are_drawn_in_proportion():
    """Of two equal documents 2,000 below the first, each comes next equally often."""
    generator = started()
    seconds = Counter(int(sample(generator, [1000.0, -1000.0, -1000.0], 2)[0][1]) for _ in range(2000))
    assert set(seconds) == {1, 2}
    assert abs(seconds[1] - 1000) < 5 * np.sqrt(500)


def test_scores_that_are_no_numbers_still_give_valid_documents():
    """A broken model must not make compiled code read outside its arrays."""
    for scores in ([np.nan] * 9, [np.inf, 0.0, -np.inf] * 3, [1.0, np.nan, 2.0] * 3):
        shown, _, _ = sample(started(), scores, 9)
        assert ((shown >= 0) & (shown < 9)).all()


@pytest.mark.parametrize("spread", [0.0, 0.1, 1.0, 10.0, 100.0, 1e3])
@pytest.mark.parametrize("documents", [2, 5, 10, 14])
def test_factors_are_those_of_the_equations(documents, spread):
    """Equations 3 to 6 in full give the same factors, whichever ranks are clicked and however far scores are apart."""
    random = np.random.default_rng(documents)
    for _ in range(12):
        scores = random.uniform(-1, 1, size=documents) * spread
        ranking = random.permutation(documents)[:10].tolist()  # also lists that the model would hardly draw
        clicked = np.flatnonzero(random.random(len(ranking)) < 0.4).tolist() or [0]
        ours = factors_of(scores, *list_of(scores, ranking), clicked)
        np.testing.assert_allclose(ours, document_factors(scores, ranking, clicked), rtol=1e-10, atol=1e-14)


def test_both_ways_of_adding_up_agree():
    """Sums of masses and sums of logarithms give the same factors where both can."""
    random = np.random.default_rng(5)
    scores = random.normal(size=20) * 5
    ranking = random.permutation(20)[:10]
    shown, masses, left = list_of(scores, ranking)
    direct = factors_of(scores, shown, masses, left, [1, 4, 7])
    logarithmic = factors_of(scores, shown, masses, -1.0, [1, 4, 7])
    np.testing.assert_allclose(direct, logarithmic, rtol=1e-12)


def test_all_clicked_is_no_preference():
    """Without an unclicked document among those examined there is nothing to learn."""
    scores = np.linspace(-1, 1, 10)
    assert factors_of(scores, *list_of(scores, np.arange(10)), range(10)).tolist() == [0.0] * 10


@pytest.mark.parametrize(
    ("scores", "ranking"),
    [
        ([1000.0, -1000.0, 0.0, 0.5], [1, 0, 3, 2]),
        ([1000.0, 999.0, -1000.0, -1000.5, 0.0], [4, 3, 0, 2, 1]),
        ([-1000.0, -1000.0, -999.0], [2, 1, 0]),
        ([1000.0] * 12, list(range(10))),
        ([50.0, 0.0, -1.0], [1, 0, 2]),  # a list in which subtracting from the running sums would lose every digit
    ],
)
def test_extreme_scores_are_finite_and_right(scores, ranking):
    """At |score| = 1000 the factors are finite and still those of the equations."""
    for clicked in ([0], [1], [0, 2], [2]):
        ours = factors_of(scores, *list_of(scores, ranking), clicked)
        assert np.isfinite(ours).all()
        np.testing.assert_allclose(ours, document_factors(scores, ranking, clicked), rtol=1e-10, atol=1e-300)
