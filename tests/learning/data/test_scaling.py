"""Per-query min-max scaling."""

from itertools import pairwise

import numpy as np

from learning.data.scaling import scale_queries


def scale_slowly(features, offsets):
    """(x − min) / (max − min), one value at a time."""
    scaled = features.copy()
    for first, last in pairwise(offsets):
        for column in range(features.shape[1] if last - first > 1 else 0):
            values = features[first:last, column]
            span = values.max() - values.min()
            scaled[first:last, column] = (values - values.min()) / span if span else 0
    return scaled


def test_scaling_agrees_with_the_slow_version():
    """Queries of many sizes, features of many ranges, some of them constant."""
    random = np.random.default_rng(3)
    counts = random.integers(1, 9, 50)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    features = random.normal(size=(offsets[-1], 7)) * 10.0 ** np.arange(-3, 4)
    features[:, 2] = 5
    np.testing.assert_array_equal(scale_queries(features, offsets), scale_slowly(features, offsets))


def test_scaling_by_hand():
    """A feature runs from 0 to 1 in its query, a constant one is 0, a lone document stays as it is."""
    features = np.array([[2.0, 7.0], [4.0, 7.0], [3.0, 7.0], [-8.0, 9.0]])
    expected = [[0, 0], [1, 0], [0.5, 0], [-8, 9]]
    np.testing.assert_array_equal(scale_queries(features, np.array([0, 3, 4])), expected)


def test_scaling_leaves_its_input_alone():
    """The given array is not changed."""
    features = np.array([[2.0], [4.0]])
    scale_queries(features, np.array([0, 2]))
    np.testing.assert_array_equal(features, [[2.0], [4.0]])


def test_the_largest_doubles_do_not_overflow():
    """Some sets mark a missing value with the largest double."""
    most = np.finfo(float).max
    scaled = scale_queries(np.array([[-most], [most], [0.0]]), np.array([0, 3]))
    np.testing.assert_array_equal(scaled, [[0], [1], [0.5]])
