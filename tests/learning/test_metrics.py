"""nDCG, MaxRR and online performance."""

import itertools

import numpy as np
import pytest
from slow_twin import ndcg

from learning.data.dataset import Queries
from learning.errors import LearningError
from learning.metrics import OfflineEvaluator, ideal_dcg, online_performance
from learning.rankers import make_ranker
from learning.streams import Purpose, stream

SIZES = [1, 3, 12, 8, 25, 2, 10, 40]


def ranx_ndcg(queries, scores, at):
    """Mean nDCG@at of the queries with a relevant document, by ranx."""
    from ranx import Qrels, Run, evaluate

    qrels, run = {}, {}
    for query in range(len(queries)):
        rows = range(queries.offsets[query], queries.offsets[query + 1])
        relevant = {f"d{row}": int(queries.labels[row]) for row in rows if queries.labels[row] > 0}
        if relevant:
            qrels[f"q{query}"] = relevant
            run[f"q{query}"] = {f"d{row}": float(scores[row]) for row in rows}
    return evaluate(Qrels(qrels), Run(run), f"ndcg_burges@{at}")


@pytest.mark.filterwarnings("ignore")  # ranx compiles with unsafe casts
@pytest.mark.parametrize("at", [1, 5, 10])
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_ndcg_is_ranxs(make_queries, levels, at):
    """Offline nDCG is ranx's ndcg_burges on the queries with a relevant document."""
    queries = make_queries(SIZES, levels=levels, seed=levels)
    ranker = make_ranker("linear", 5)
    thetas = np.random.default_rng(3).normal(size=(4, 5))
    ours = OfflineEvaluator(queries, ranker, at).ndcg(thetas)
    for theta, value in zip(thetas, ours, strict=True):
        assert value == pytest.approx(ranx_ndcg(queries, queries.features @ theta, at), abs=1e-12)


def test_a_query_by_hand():
    """Grades 0, 2, 1 from the top: (3/log2(3) + 1/2) / (3 + 1/log2(3)), and the first relevant one has rank 2."""
    queries = Queries(np.array([[1.0], [3.0], [2.0]]), np.array([1, 0, 2], np.int8), np.array([0, 3]))
    evaluator = OfflineEvaluator(queries, make_ranker("linear", 1))
    theta = np.ones((1, 1))
    assert evaluator.ndcg(theta)[0] == pytest.approx((3 / np.log2(3) + 0.5) / (3 + 1 / np.log2(3)), abs=1e-15)
    assert evaluator.maxrr(theta).tolist() == [0.5]
    assert ideal_dcg(queries, 10).tolist() == pytest.approx([3 + 1 / np.log2(3)])
    assert ideal_dcg(queries, 1).tolist() == [3.0]


def test_maxrr_is_zero_beyond_the_cutoff():
    """A first relevant document below rank k counts nothing; queries without any are skipped."""
    labels = np.array([0, 0, 1, 0, 0], np.int8)
    queries = Queries(np.array([[3.0], [2.0], [1.0], [2.0], [1.0]]), labels, np.array([0, 3, 5]))
    ranker, theta = make_ranker("linear", 1), np.array([[1.0], [-1.0]])
    assert OfflineEvaluator(queries, ranker, at=3).maxrr(theta).tolist() == [1 / 3, 1.0]
    assert OfflineEvaluator(queries, ranker, at=2).maxrr(theta).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(("kind", "options"), [("linear", {}), ("neural", {"hidden": 3})])
def test_a_model_is_measured_alike_in_any_block(make_queries, kind, options):
    """Alone, among 150 others, in any place: the same bits."""
    queries = make_queries(SIZES, features=13)
    ranker = make_ranker(kind, 13, **options)
    evaluator = OfflineEvaluator(queries, ranker)
    thetas = np.random.default_rng(4).normal(size=(150, ranker.dimension))
    ndcg, maxrr = evaluator.ndcg(thetas), evaluator.maxrr(thetas)
    for i in (0, 1, 63, 64, 127, 149):
        assert evaluator.ndcg(thetas[i : i + 1])[0] == ndcg[i]
        assert evaluator.maxrr(thetas[i : i + 1])[0] == maxrr[i]
    assert evaluator.ndcg(thetas[::-1])[::-1].tobytes() == ndcg.tobytes()


def test_a_neural_ranker_is_measured_by_its_scores(make_queries):
    """The nDCG of a neural model is that of a linear ranker whose one feature is its score."""
    queries = make_queries(SIZES)
    neural = make_ranker("neural", 5, hidden=4)
    theta = np.random.default_rng(5).normal(size=(1, neural.dimension))
    scores = neural.scores(theta, queries.features)[0]
    scored = Queries(scores[:, np.newaxis].copy(), queries.labels, queries.offsets)
    expected = OfflineEvaluator(scored, make_ranker("linear", 1)).ndcg(np.ones((1, 1)))
    assert OfflineEvaluator(queries, neural).ndcg(theta).tolist() == expected.tolist()


def test_ties_do_not_follow_the_file():
    """An all-zero model scores what chance scores, whether relevant documents come first or last in the file."""
    size, queries = 20, 400
    relevant_first = np.tile(np.array([2] * 3 + [0] * 17, np.int8), queries)
    offsets = np.arange(queries + 1) * size
    features = np.zeros((queries * size, 1))
    ranker = make_ranker("linear", 1)
    random = np.random.default_rng(0)
    shuffled = np.concatenate([random.permutation(relevant_first[:size]) for _ in range(queries)])
    values = [
        OfflineEvaluator(Queries(features, labels, offsets), ranker).ndcg(np.zeros((1, 1)))[0]
        for labels in (relevant_first, relevant_first[::-1].copy(), shuffled)
    ]
    discount = 1 / np.log2(np.arange(2, 12))
    chance = 3 / size * discount.sum() / discount[:3].sum()
    assert values == pytest.approx([chance] * 3, abs=0.04)


def test_ties_follow_the_stream_of_ties(make_queries):
    """Documents of equal score rank by their draws from the stream TIES, the least first."""
    queries = make_queries(SIZES)
    draws = stream(0, Purpose.TIES).random(queries.documents)
    values = []
    for first, last in itertools.pairwise(queries.offsets):
        grades = queries.labels[first:last].tolist()
        if any(grades):
            values.append(ndcg([grades[i] for i in np.argsort(draws[first:last])], grades, 10))
    evaluator = OfflineEvaluator(queries, make_ranker("linear", 5))
    assert evaluator.ndcg(np.zeros((1, 5)))[0] == pytest.approx(np.mean(values), abs=1e-12)


def test_float32_features_measure_alike(make_queries):
    """Features stored in float32 are computed with in float64."""
    narrow = make_queries(SIZES, dtype=np.float32)
    wide = Queries(narrow.features.astype(np.float64), narrow.labels, narrow.offsets)
    ranker, thetas = make_ranker("linear", 5), np.random.default_rng(6).normal(size=(3, 5))
    assert (
        OfflineEvaluator(narrow, ranker).ndcg(thetas).tobytes() == OfflineEvaluator(wide, ranker).ndcg(thetas).tobytes()
    )


def test_no_models_have_no_measures(make_queries):
    """Zero models give zero values."""
    assert OfflineEvaluator(make_queries(SIZES), make_ranker("linear", 5)).ndcg(np.empty((0, 5))).shape == (0,)


def test_what_cannot_be_measured_is_refused(make_queries):
    """Models of another width, lists of no rank and splits without a relevant document are errors."""
    queries, ranker = make_queries(SIZES), make_ranker("linear", 5)
    with pytest.raises(LearningError, match=r"models must have the shape \(m, 5\); got \(5,\)"):
        OfflineEvaluator(queries, ranker).ndcg(np.zeros(5))
    with pytest.raises(LearningError, match="documents must have 4 features; got 5"):
        OfflineEvaluator(queries, make_ranker("linear", 4))
    with pytest.raises(LearningError, match="a list must have at least 1 rank; got 0"):
        OfflineEvaluator(queries, ranker, at=0)
    irrelevant = Queries(queries.features, np.zeros_like(queries.labels), queries.offsets)
    with pytest.raises(LearningError, match="a query with a relevant document; got none in 8"):
        OfflineEvaluator(irrelevant, ranker)


def test_online_performance_is_discounted_by_round():
    """Σ gamma^(t−1)·mean_t: by hand, and the papers' ceilings over 1,000 and 10,000 rounds."""
    assert online_performance([1.0, 0.5, 0.25], gamma=0.5) == 1.0 + 0.25 + 0.0625
    assert online_performance(np.ones(10_000)) == pytest.approx(1986.5, abs=0.1)
    assert online_performance(np.ones(1_000)) == pytest.approx(787, abs=0.1)
