"""Synthetic sets look like the public ones and can be learned, but not perfectly."""

import hashlib

import numpy as np
import pytest

from learning.data import describe, open_dataset, synthetic
from learning.data.synthetic import SHAPES


def mean_ndcg(queries, scores):
    """nDCG@10 straight from its definition, over the queries that have a relevant document."""
    values = []
    for first, last in zip(queries.offsets[:-1], queries.offsets[1:], strict=True):
        gains = 2.0 ** queries.labels[first:last] - 1
        if gains.any():
            discounts = 1 / np.log2(np.arange(2, 12))[: last - first]
            shown = gains[np.argsort(-scores[first:last], kind="stable")][:10]
            values.append(shown @ discounts / (np.sort(gains)[::-1][:10] @ discounts))
    return float(np.mean(values))


def least_squares(queries):
    """The linear ranker that fits the labels of each query best."""
    counts, starts = np.diff(queries.offsets), queries.offsets[:-1]

    def centred(values):
        means = np.add.reduceat(values, starts, axis=0) / counts.reshape(-1, *[1] * (values.ndim - 1))
        return values - np.repeat(means, counts, axis=0)

    features, labels = centred(queries.features.astype(float)), centred(queries.labels.astype(float))
    return np.linalg.lstsq(features, labels, rcond=None)[0]


def test_mq2007_has_the_shape_of_mq2007():
    """Queries, documents, features, grades; about every eighth query has no relevant document."""
    description = describe("synthetic:mq2007")
    assert [split.queries for split in description.splits.values()] == [1_017, 339, 339]
    assert (description.name, description.features, description.levels) == ("synthetic:mq2007", 46, 3)
    train = description.splits["train"]
    assert 38 < train.documents / train.queries < 44
    assert (train.documents_min, train.documents_max) == (5, 123)
    assert 0.10 <= train.queries_without_relevant / train.queries <= 0.15


@pytest.mark.parametrize("name", SHAPES)
def test_a_set_has_its_label_shares(name):
    """Exactly over the whole set, because the thresholds are quantiles of it."""
    description = describe(f"synthetic:{name}?queries=60")
    labels = np.sum([split.labels for split in description.splits.values()], axis=0)
    np.testing.assert_allclose(labels / labels.sum(), SHAPES[name].shares, atol=2 / labels.sum())
    assert description.features == SHAPES[name].features
    assert description.levels == len(SHAPES[name].shares)


@pytest.mark.parametrize("name", SHAPES)
def test_features_are_as_in_letor_files(name):
    """From 0 to 1 in every query with six decimals; some sparse, some skewed."""
    train = open_dataset(f"synthetic:{name}?queries=60", dtype="float64").train
    lows = np.minimum.reduceat(train.features, train.offsets[:-1], axis=0)
    highs = np.maximum.reduceat(train.features, train.offsets[:-1], axis=0)
    assert np.all(lows == 0)
    assert set(np.unique(highs)) <= {0.0, 1.0}
    np.testing.assert_array_equal(train.features, np.round(train.features, 6))
    mostly_zero = np.mean(np.mean(train.features == 0, axis=0) > 0.5)
    assert abs(mostly_zero - SHAPES[name].sparse) < 0.1
    low_medians = np.mean(np.median(train.features, axis=0) < 0.3)
    assert low_medians >= SHAPES[name].sparse + SHAPES[name].skewed / 2


def test_a_seed_gives_these_bits():
    """The same on every machine, for ever; raise the cache's FORMAT when this must change."""
    data = open_dataset("synthetic:mq2007?queries=20&seed=7")
    digest = hashlib.sha256()
    for split in (data.train, data.vali, data.test):
        for array in (split.features, split.labels, split.offsets):
            digest.update(array.tobytes())
    assert digest.hexdigest()[:16] == "6f6209c4c2c89dfd"


def test_seeds_give_different_sets():
    """The seed is 1 unless it is given."""
    one, two, default = (open_dataset(f"synthetic:mq2007?queries=9{seed}") for seed in ("&seed=1", "&seed=2", ""))
    assert one.train.features.tobytes() == default.train.features.tobytes()
    assert one.train.features.tobytes() != two.train.features.tobytes()


def test_splits_are_different_documents():
    """No block of random numbers is used twice."""
    data = open_dataset("synthetic:mq2007?queries=30")
    rows = np.concatenate([split.features for split in (data.train, data.vali, data.test)])
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_options_set_the_size():
    """The number of queries is for training and the others follow in proportion; documents is the mean."""
    description = describe("synthetic:mq2007?queries=300&documents=10")
    assert [split.queries for split in description.splits.values()] == [300, 100, 100]
    assert 9 < description.splits["train"].documents / 300 < 11


def test_a_set_may_be_tiny():
    """One query of two documents a split is still a set."""
    description = describe("synthetic:istella?queries=1&documents=2")
    assert [split.queries for split in description.splits.values()] == [1, 1, 1]


def test_a_large_set_is_made_block_by_block(monkeypatch):
    """More than one block a split gives whole queries of the shape asked for."""
    monkeypatch.setattr(synthetic, "BLOCK_VALUES", 46 * 41 * 7)
    description = describe("synthetic:mq2007?queries=50")
    assert [split.queries for split in description.splits.values()] == [50, 17, 17]


def test_explicit_scaling_changes_nothing():
    """The features are scaled within their query already."""
    scaled, raw = (open_dataset("synthetic:mq2007?queries=9", scale=scale).train for scale in ("query", "none"))
    assert scaled.features.tobytes() == raw.features.tobytes()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_linear_ranker_learns_much_but_not_all(seed):
    """Far above chance on unseen queries, far below perfection even on the queries it was fitted to."""
    data = open_dataset(f"synthetic:mq2007?seed={seed}")
    weights = least_squares(data.train)
    chance = mean_ndcg(data.test, np.random.default_rng(seed).random(data.test.documents))
    assert 0.24 < chance < 0.31
    assert 0.52 < mean_ndcg(data.test, data.test.features @ weights) < 0.65
    assert mean_ndcg(data.train, data.train.features @ weights) < 0.65
