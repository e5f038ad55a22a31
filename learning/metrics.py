"""What is measured: nDCG@k and MaxRR of rankings by score, and online performance.

nDCG@k = DCG@k / ideal DCG@k        DCG@k = Σ_{i = 1 … k} (2^r_i − 1)/log2(i + 1)        MaxRR@k = 1/(rank of the first
relevant document), 0 if none is in the top k.
"""

from collections.abc import Sequence

import numpy as np

from learning.data.dataset import Features, Queries
from learning.errors import LearningError
from learning.kernels.arrays import Integers, Labels, Reals, read_only
from learning.kernels.compiling import compiled
from learning.kernels.products import multiply
from learning.rankers.ranker import Ranker
from learning.rankers.scoring import score
from learning.streams import Purpose, stream

__all__ = ["OfflineEvaluator", "discounts", "gains", "ideal_dcg", "online_performance"]

_MODELS = 64  # models whose scores of one query are made together: their weights fit into the second-level cache


def gains() -> Reals:
    """2^r − 1 for every grade r that a label can have."""
    return np.exp2(np.arange(128)) - 1.0


def discounts(at: int) -> Reals:
    """1/log2(i + 1) for the ranks i = 1 … at."""
    if at < 1:
        raise LearningError(f"a list must have at least 1 rank; got {at}")
    return 1.0 / np.log2(np.arange(2, at + 2))


def ideal_dcg(queries: Queries, at: int) -> Reals:
    """The largest DCG@at that an order of each query's documents has, [queries]; 0 if none is relevant."""
    if queries.documents and queries.labels.min() < 0:
        raise LearningError(f"relevance grades must be 0 or above; got {queries.labels.min()}")
    ideal = np.zeros(len(queries))
    _fill_ideal(queries.labels, queries.offsets, gains(), discounts(at), ideal)
    return ideal


def online_performance(per_round_means: Sequence[float] | Reals, gamma: float = 0.9995) -> float:
    """Σ_t gamma^(t−1)·(mean online nDCG of the clients in round t), t = 1, 2, … (Wang et al., ICTIR 2021, §4)."""
    performance = 0.0
    factor = 1.0
    for mean in per_round_means:
        performance += factor * float(mean)
        factor *= gamma
    return performance


class OfflineEvaluator:
    """Measures rankers on the queries that have a relevant document; a pure function of θ.

    Equal scores are ordered by a fixed pseudo-random order of each query's documents (stream TIES of seed 0), never by
    the order in the file. A model's result has the same bits whichever models it is measured with.
    """

    def __init__(self, queries: Queries, ranker: Ranker, at: int = 10) -> None:
        ideal = ideal_dcg(queries, at)
        kept = np.flatnonzero(ideal > 0.0)
        if len(kept) == 0:
            raise LearningError(f"offline measures need a query with a relevant document; got none in {len(queries)}")
        self._ranker = ranker
        self._features = read_only(queries.features)
        self._labels = read_only(queries.labels)
        self._order = _tie_order(queries)
        self._offsets = queries.offsets
        self._kept = kept
        self._inverse_ideal = 1.0 / ideal[kept]
        self._gains = gains()
        self._discounts = discounts(at)

    def ndcg(self, thetas: Reals) -> Reals:
        """The mean nDCG@at of each of the models [m, d], [m]."""
        ndcg, _ = self._measure(thetas)
        return ndcg

    def maxrr(self, thetas: Reals) -> Reals:
        """The mean of 1/(rank of the first relevant document in the top `at`, 0 if there is none), [m]."""
        _, maxrr = self._measure(thetas)
        return maxrr

    def _measure(self, thetas: Reals) -> tuple[Reals, Reals]:
        dimension = self._ranker.dimension
        if thetas.ndim != 2 or thetas.shape[1] != dimension:
            raise LearningError(f"models must have the shape (m, {dimension}); got {thetas.shape}")
        ndcg, maxrr = np.zeros(len(thetas)), np.zeros(len(thetas))
        for first in range(0, len(thetas), _MODELS):
            _add_measures(
                np.ascontiguousarray(thetas[first : first + _MODELS], dtype=np.float64),
                self._ranker.hidden,
                self._features,
                self._labels,
                self._order,
                self._offsets,
                self._kept,
                self._inverse_ideal,
                self._gains,
                self._discounts,
                ndcg[first : first + _MODELS],
                maxrr[first : first + _MODELS],
            )
        return ndcg / len(self._kept), maxrr / len(self._kept)


def _tie_order(queries: Queries) -> Integers:
    """For each query the places 0 … n − 1 of its documents in a pseudo-random order, one query after the other."""
    draws = stream(0, Purpose.TIES).random(queries.documents)
    sizes = np.diff(queries.offsets)
    query = np.repeat(np.arange(len(queries)), sizes)
    return np.lexsort((draws, query)) - np.repeat(queries.offsets[:-1], sizes)


@compiled
def _fill_ideal(labels: Labels, offsets: Integers, gain: Reals, discount: Reals, ideal: Reals) -> None:
    counts = np.zeros(128, np.int64)
    for query in range(len(ideal)):
        counts[:] = 0
        for document in range(offsets[query], offsets[query + 1]):
            counts[labels[document]] += 1
        rank = 0
        for grade in range(127, 0, -1):
            for _ in range(min(counts[grade], len(discount) - rank)):
                ideal[query] += gain[grade] * discount[rank]
                rank += 1


@compiled
def _add_measures(
    thetas: Reals,
    hidden: int,
    features: Features,
    labels: Labels,
    order: Integers,
    offsets: Integers,
    kept: Integers,
    inverse_ideal: Reals,
    gain: Reals,
    discount: Reals,
    ndcg: Reals,
    maxrr: Reals,
) -> None:
    """Add each model's nDCG and MaxRR on every kept query, query after query, to ndcg [m] and maxrr [m]."""
    models = thetas.shape[0]
    most = 0
    for query in kept:
        most = max(most, offsets[query + 1] - offsets[query])
    scores = np.empty((most, models))
    column = np.empty(most)
    activations = np.empty((most + 1, hidden))
    best_scores = np.empty(len(discount))
    best = np.empty(len(discount), np.int64)
    weights = np.ascontiguousarray(thetas.T)
    for index in range(len(kept)):
        first, last = offsets[kept[index]], offsets[kept[index] + 1]
        rows = features[first:last]
        if hidden == 0:
            scores[: last - first] = 0.0
            multiply(rows, weights, scores)
        else:
            for model in range(models):
                score(thetas[model], rows, hidden, activations, column)
                for document in range(last - first):
                    scores[document, model] = column[document]
        for model in range(models):
            ranks = _select(scores[:, model], order[first:last], best_scores, best)
            dcg = 0.0
            reciprocal = 0.0
            for rank in range(ranks):
                grade = labels[first + best[rank]]
                dcg += gain[grade] * discount[rank]
                if grade > 0 and reciprocal == 0.0:
                    reciprocal = 1.0 / (rank + 1)
            ndcg[model] += dcg * inverse_ideal[index]
            maxrr[model] += reciprocal


@compiled
def _select(scores: Reals, order: Integers, best_scores: Reals, best: Integers) -> int:
    """Fill best with the documents of the highest scores from the top, equal ones as `order` has them; how many."""
    ranks = 0
    for document in order:
        value = scores[document]
        if ranks == len(best):
            if not value > best_scores[ranks - 1]:
                continue
            place = ranks - 1
        else:
            place = ranks
            ranks += 1
        while place > 0 and value > best_scores[place - 1]:
            best_scores[place] = best_scores[place - 1]
            best[place] = best[place - 1]
            place -= 1
        best_scores[place] = value
        best[place] = document
    return ranks
