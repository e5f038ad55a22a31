"""How alike rankings are: by hand, and pair by pair."""

from itertools import combinations

import numpy as np
import pytest

from learning.agreement import agreement, kendall_tau, rank_biased_overlap
from learning.data.dataset import Queries
from learning.rankers import make_ranker


def test_tau_counts_pairs():
    """Against a count of every pair, from equal to reversed."""
    random = np.random.default_rng(5)
    for size in (2, 3, 17):
        one, other = random.permutation(size), random.permutation(size)
        places = [{document: place for place, document in enumerate(ranking.tolist())} for ranking in (one, other)]
        signs = [
            np.sign((places[0][a] - places[0][b]) * (places[1][a] - places[1][b]))
            for a, b in combinations(range(size), 2)
        ]
        assert kendall_tau(one, other) == pytest.approx(np.mean(signs), abs=1e-15)
    assert kendall_tau(np.arange(4), np.arange(4)) == 1
    assert kendall_tau(np.arange(4), np.arange(4)[::-1]) == -1


def test_overlap_is_weighted_from_the_top():
    """By hand at depth 2: only the second prefix is shared, so 0.9 of 1.9."""
    assert rank_biased_overlap(np.array([0, 1, 2]), np.array([1, 0, 2]), 2) == pytest.approx(0.9 / 1.9)
    assert rank_biased_overlap(np.arange(3), np.arange(3), 10) == pytest.approx(1)
    assert rank_biased_overlap(np.array([0, 1]), np.array([1, 0]), 1) == 0


def test_rankers_agree_with_themselves_and_not_with_their_opposites():
    """Over queries of several sizes; a query with one document says nothing."""
    features = np.random.default_rng(2).random((9, 3)).astype(np.float32)
    queries = Queries(features, np.zeros(9, dtype=np.int8), np.array([0, 1, 4, 9], dtype=np.int64))
    ranker, theta = make_ranker("linear", 3), np.array([1.0, -2.0, 0.5])
    assert agreement(queries, ranker, theta, 7 * theta) == pytest.approx((1, 1))
    assert agreement(queries, ranker, theta, -theta)[0] == pytest.approx(-1)
