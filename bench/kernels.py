"""How fast a client learns and a model is measured, each beside NumPy on the same documents in the same run.

The floor of an interaction is NumPy scoring the query's documents, features @ θ with θ in the features' dtype. Both go
through all queries in random order, so both find as little in the cache. Users are informational: they click most and
so make the most pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench.measurement import Measurement, at_least, at_most, least_seconds, within
from learning.aggregation.adam import gradient
from learning.clicks import click_model
from learning.data.dataset import Queries
from learning.learners import Cohort, Pdgd
from learning.learners.es import SEEDS
from learning.metrics import OfflineEvaluator
from learning.rankers import Ranker, make_ranker

__all__ = ["measure"]

MODELS = 128  # measured at once, two blocks
TRIALS = 2000  # clients of a round of FOLtR-ES


@dataclass(frozen=True, slots=True)
class _Shape:
    """The size of a data set: its name, queries, documents a query, features, relevance grades."""

    name: str
    queries: int
    documents: int
    features: int
    levels: int


MQ2007_TRAIN = _Shape("MQ2007", 1017, 41, 46, 3)
MQ2007_TEST = _Shape("MQ2007 test", 339, 41, 46, 3)
MSLR = _Shape("MSLR", 1000, 120, 136, 5)


def measure() -> Iterator[Measurement]:
    """The local step and the offline measures."""
    for shape, times in ((MQ2007_TRAIN, 1.6), (MSLR, 1.3)):
        for dtype in ("float32", "float64"):
            yield _linear_interaction(shape, dtype, times)
    yield _neural_interactions(MQ2007_TRAIN)
    yield from _es_gradients(MQ2007_TRAIN)
    yield _offline_in_blocks(MQ2007_TEST)
    yield _offline_against_one_product(MSLR)


def _linear_interaction(shape: _Shape, dtype: str, times: float) -> Measurement:
    queries, ranker = _queries(shape, dtype), make_ranker("linear", shape.features)
    theta = _theta(ranker)
    narrow = theta.astype(dtype)
    lists = _lists(queries)
    floor = least_seconds(lambda: [rows @ narrow for rows in lists]) / shape.queries
    ours = _seconds_an_interaction(ranker, queries, shape.levels)
    name = f"PDGD interaction, linear, {shape.name} {shape.documents} x {shape.features} {dtype} (floor: NumPy scoring)"
    return within(name, 1e6 * ours, "us", 1e6 * floor, times=times)


def _neural_interactions(shape: _Shape) -> Measurement:
    queries, ranker = _queries(shape, "float32"), make_ranker("neural", shape.features)
    theta = _theta(ranker).astype("float32")
    edge = shape.features * ranker.hidden
    weights, biases = theta[:edge].reshape(shape.features, ranker.hidden), theta[edge : edge + ranker.hidden]
    output = theta[edge + ranker.hidden :]
    lists = _lists(queries)
    floor = least_seconds(lambda: [1 / (1 + np.exp(-(rows @ weights + biases))) @ output for rows in lists])
    ours = _seconds_an_interaction(ranker, queries, shape.levels)
    name = f"PDGD interactions, neural (64), {shape.name} {shape.documents} x {shape.features} (floor: NumPy scoring)"
    return at_least(name, 1 / ours, "1/s", shape.queries / floor, limit=68_000)


def _es_gradients(shape: _Shape) -> Iterator[Measurement]:
    """The coordinator's gradient out of 2,000 trials; the authors' code takes 317 ms."""
    neural = make_ranker("neural", shape.features, hidden=10, activation="relu")
    for name, dimension in (("linear", shape.features), ("neural (10)", neural.dimension)):
        random = np.random.default_rng(3)
        trials = np.column_stack((random.integers(0, SEEDS, TRIALS).astype(np.float64), random.random((TRIALS, 2))))
        ours = least_seconds(partial(gradient, trials, 0.01, dimension))
        rival = least_seconds(partial(_numpy_gradient, trials, dimension), repeats=2)
        title = f"ES gradient of {TRIALS:,} clients, {name} (rival: NumPy, a generator a seed)"
        yield at_most(title, 1e3 * ours, "ms", 1e3 * rival, limit=10)


def _numpy_gradient(trials: np.ndarray, dimension: int) -> np.ndarray:
    total = np.zeros(dimension)
    for seed, plus, minus in trials:
        total += (plus - minus) * np.random.default_rng(int(seed)).standard_normal(dimension)
    return total / (0.02 * len(trials))


def _offline_in_blocks(shape: _Shape) -> Measurement:
    queries, ranker = _queries(shape, "float32"), make_ranker("linear", shape.features)
    thetas = np.stack([_theta(ranker, seed) for seed in range(MODELS)])
    evaluator = OfflineEvaluator(queries, ranker)
    ours = least_seconds(lambda: evaluator.ndcg(thetas)) / MODELS
    narrow = np.ascontiguousarray(thetas.T, dtype="float32")
    floor = least_seconds(lambda: queries.features @ narrow) / MODELS
    name = f"offline nDCG@10 of a model, {shape.name}, in blocks (floor: NumPy's product, in blocks)"
    return at_most(name, 1e3 * ours, "ms", 1e3 * floor, limit=0.19)


def _offline_against_one_product(shape: _Shape) -> Measurement:
    queries, ranker = _queries(shape, "float32"), make_ranker("linear", shape.features)
    thetas = np.stack([_theta(ranker, seed) for seed in range(MODELS)])
    evaluator = OfflineEvaluator(queries, ranker)
    ours = least_seconds(lambda: evaluator.ndcg(thetas), repeats=3) / MODELS
    narrow = thetas[0].astype("float32")
    floor = least_seconds(lambda: queries.features @ narrow)
    name = f"offline nDCG@10 of a model, {shape.name}, in blocks (floor: NumPy's product of one model)"
    return within(name, 1e3 * ours, "ms", 1e3 * floor, times=1.0)


def _seconds_an_interaction(ranker: Ranker, queries: Queries, levels: int) -> float:
    turns = 2 * len(queries)
    cohort = Cohort(np.zeros(1, np.uint64), np.array([turns]), [click_model("informational", levels)])
    learner = Pdgd(ranker, queries, cohort, seed=1, learning_rate=1e-3)  # so small that θ stays what the floor has
    theta = _theta(ranker)
    return least_seconds(lambda: learner.train(theta, 0)) / turns


def _queries(shape: _Shape, dtype: str) -> Queries:
    """Random documents whose grades follow a linear score, the upper ones rarer."""
    random = np.random.default_rng(1)
    features = random.random((shape.queries * shape.documents, shape.features)).astype(dtype)
    scores = features @ random.normal(size=shape.features)
    edges = np.quantile(scores, [0.75, 0.92] if shape.levels == 3 else [0.5, 0.8, 0.93, 0.98])
    offsets = np.arange(shape.queries + 1) * shape.documents
    return Queries(features, np.digitize(scores, edges).astype(np.int8), offsets)


def _lists(queries: Queries) -> list[np.ndarray]:
    """The documents of each query, in random order."""
    order = np.random.default_rng(2).permutation(len(queries))
    return [queries.features[queries.offsets[query] : queries.offsets[query + 1]] for query in order]


def _theta(ranker: Ranker, seed: int = 0) -> np.ndarray:
    """A model whose scores differ by a few units."""
    return np.random.default_rng(seed).normal(size=ranker.dimension) * 0.5
