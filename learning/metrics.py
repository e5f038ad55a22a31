"""What is measured: nDCG@k and MaxRR of rankings by score, and online performance.

nDCG@k  = DCG@k / the largest DCG@k of any order        DCG@k = Σ_{i = 1 … k} (2^r_i − 1)/log2(i + 1)
MaxRR@k = 1/(rank of the first relevant document), 0 if none is in the top k
"""

import math
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

__all__ = ["OfflineEvaluator", "discounts", "gains", "ideal_dcg", "online_performance", "tie_order"]

_MODELS = 64  # models whose scores of one query are made together: their weights fit into the second-level cache


def gains() -> Reals:
    """2^r − 1 for every grade r that a label can have."""
    return np.exp2(np.arange(128)) - 1.0


def discounts(at: int) -> Reals:
    """1/log2(i + 1) for the ranks i = 1 … at."""
    if at < 1:
        raise LearningError(f"a list must have at least 1 rank; got {at}")
    return np.array([1.0 / math.log2(rank + 1) for rank in range(1, at + 1)])  # libm: the same bits with any registers


def ideal_dcg(queries: Queries, at: int) -> Reals:
    """The largest DCG@at that an order of each query's documents has, [queries]; 0 if none is relevant."""
    if queries.documents and queries.labels.min() < 0:
        raise LearningError(f"relevance grades must be 0 or above; got {queries.labels.min()}")
    ideal = np.zeros(len(queries))
    counts = np.empty(len(gains()), np.int64)
    _fill_ideal(read_only(queries.labels), read_only(queries.offsets), gains(), discounts(at), counts, ideal)
    return ideal


def online_performance(per_round_means: Sequence[float] | Reals, gamma: float = 0.9995) -> float:
    """Σ_t gamma^(t−1)·(mean online nDCG of the clients in round t), t = 1, 2, … (Wang et al., ICTIR 2021, §4)."""
    performance = 0.0
    factor = 1.0
    for mean in per_round_means:
        performance += factor * float(mean)
        factor *= gamma
    return performance


def tie_order(queries: Queries) -> Integers:
    """For each query the places 0 … n − 1 of its documents in a pseudo-random order, one query after the other."""
    draws = stream(0, Purpose.TIES).random(queries.documents)
    sizes = np.diff(queries.offsets)
    query = np.repeat(np.arange(len(queries)), sizes)
    return np.lexsort((draws, query)) - np.repeat(queries.offsets[:-1], sizes)


class OfflineEvaluator:
    """Measures rankers on the queries that have a relevant document; a pure function of θ.

    Equal scores are ordered by a fixed pseudo-random order of each query's documents (stream TIES of seed 0), never by
    the order in the file. A model's result has the same bits whichever models it is measured with.
    """

    def __init__(self, queries: Queries, ranker: Ranker, at: int = 10) -> None:
        if queries.features.shape[1] != ranker.features:
            raise LearningError(f"documents must have {ranker.features} features; got {queries.features.shape[1]}")
        ideal = ideal_dcg(queries, at)
        kept = np.flatnonzero(ideal > 0.0)
        if len(kept) == 0:
            raise LearningError(f"offline measures need a query with a relevant document; got none in {len(queries)}")
        self._ranker = ranker
        self._features = read_only(queries.features)
        self._gains = gains()[queries.labels]
        self._order = tie_order(queries)
        self._offsets = read_only(queries.offsets)
        self._kept = kept
        self._longest = int(np.diff(queries.offsets)[kept].max())
        self._inverse_ideal = 1.0 / ideal[kept]
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
            block = np.array(thetas[first : first + _MODELS], dtype=np.float64, order="C")
            models = len(block)
            _add_measures(
                block,
                np.ascontiguousarray(block.T),
                self._ranker.hidden,
                self._ranker.rectified,
                self._features,
                self._gains,
                self._order,
                self._offsets,
                self._kept,
                self._inverse_ideal,
                self._discounts,
                ndcg[first : first + models],
                maxrr[first : first + models],
                np.empty((self._longest, models)),
                np.empty(self._longest),
                np.empty((self._longest + 1, self._ranker.hidden)),
                np.empty((len(self._discounts), models)),
                np.empty((len(self._discounts), models)),
                np.empty((2, models)),
            )
        return ndcg / len(self._kept), maxrr / len(self._kept)


@compiled
def _fill_ideal(
    labels: Labels, offsets: Integers, gain: Reals, discount: Reals, counts: Integers, ideal: Reals
) -> None:
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
    transposed: Reals,
    hidden: int,
    rectified: bool,
    features: Features,
    gain: Reals,
    order: Integers,
    offsets: Integers,
    kept: Integers,
    inverse_ideal: Reals,
    discount: Reals,
    ndcg: Reals,
    maxrr: Reals,
    scores: Reals,
    column: Reals,
    activations: Reals,
    best: Reals,
    best_gains: Reals,
    carried: Reals,
) -> None:
    """Add each model's nDCG and MaxRR on every kept query, query after query, to ndcg [m] and maxrr [m].

    thetas [m, d] and transposed [d, m] are the models, gain [documents] is 2^r − 1, what comes after maxrr work space.
    """
    for index in range(len(kept)):
        first, last = offsets[kept[index]], offsets[kept[index] + 1]
        _score_models(thetas, transposed, hidden, rectified, features[first:last], scores, column, activations)
        _select(scores, gain[first:last], order[first:last], best, best_gains, carried)
        _add_list(best_gains, discount, inverse_ideal[index], ndcg, maxrr)


@compiled
def _score_models(
    thetas: Reals,
    transposed: Reals,
    hidden: int,
    rectified: bool,
    rows: Features,
    scores: Reals,
    column: Reals,
    activations: Reals,
) -> None:
    """Fill scores[document, model] for the documents of one query."""
    if hidden == 0:
        scores[: len(rows)] = 0.0
        multiply(rows, transposed, scores)
    else:
        for model in range(len(thetas)):
            score(thetas[model], rows, hidden, rectified, activations, column)
            for document in range(len(rows)):
                scores[document, model] = column[document]


@compiled
def _select(scores: Reals, gain: Reals, order: Integers, best: Reals, best_gains: Reals, carried: Reals) -> None:
    """Fill best_gains[rank, model] with the gains of the documents that each model ranks highest, 0 where is none.

    Each document in turn goes down the ranks and changes places with what it beats. It does so for all models at once,
    which is vector instructions and no branch; one that ties stays below, so equal scores rank as `order` has them. A
    document that no model ranks high, which is most of them for models of neighbouring rounds, goes nowhere.
    """
    models = best.shape[1]
    best[:] = -np.inf
    best_gains[:] = 0.0
    score_down, gain_down = carried[0], carried[1]
    lowest = best[len(best) - 1]
    for document in order:
        beating = 0
        for model in range(models):
            score_down[model] = scores[document, model]
            gain_down[model] = gain[document]
            beating += scores[document, model] > lowest[model]
        for rank in range(len(best) if beating else 0):
            score_there, gain_there = best[rank], best_gains[rank]
            for model in range(models):
                above, below = score_there[model], score_down[model]
                gain_above, gain_below = gain_there[model], gain_down[model]
                beats = below > above
                score_there[model] = below if beats else above
                score_down[model] = above if beats else below
                gain_there[model] = gain_below if beats else gain_above
                gain_down[model] = gain_above if beats else gain_below


@compiled
def _add_list(best_gains: Reals, discount: Reals, inverse_ideal: float, ndcg: Reals, maxrr: Reals) -> None:
    """Add the nDCG and the MaxRR of one list for each model."""
    for model in range(len(ndcg)):
        dcg = 0.0
        reciprocal = 0.0
        for rank in range(len(discount) - 1, -1, -1):
            dcg += best_gains[rank, model] * discount[rank]
            reciprocal = 1.0 / (rank + 1) if best_gains[rank, model] > 0.0 else reciprocal
        ndcg[model] += dcg * inverse_ideal
        maxrr[model] += reciprocal
