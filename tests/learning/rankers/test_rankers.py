"""Every ranker: shapes, scores, gradients."""

import numpy as np
import pytest

from learning.errors import LearningError, UnknownName
from learning.rankers import RANKERS, make_ranker
from learning.rankers.scoring import add_gradient, score

FEATURES = 11


@pytest.fixture(params=sorted(RANKERS))
def ranker(request):
    """Each registered ranker with its default options."""
    return make_ranker(request.param, FEATURES)


def documents(count=9, dtype=np.float64):
    """Some rows of features."""
    return np.random.default_rng(1).normal(size=(count, FEATURES)).astype(dtype)


def model(ranker):
    """Some θ."""
    return np.random.default_rng(2).normal(size=ranker.dimension)


def test_the_start_is_a_function_of_the_seed(ranker):
    """The start has the right shape and dtype and the same bits each time."""
    start = ranker.initial(3)
    assert start.shape == (ranker.dimension,)
    assert start.dtype == np.float64
    assert start.tobytes() == ranker.initial(3).tobytes()


def test_scores_are_a_matrix_of_models_and_documents(ranker):
    """Each model scores each document, whichever others are scored with them."""
    thetas, rows = np.stack([model(ranker), ranker.initial(1), -model(ranker)]), documents()
    scores = ranker.scores(thetas, rows)
    assert scores.shape == (3, 9)
    assert scores[2:, 4:5].tobytes() == ranker.scores(thetas[2:], rows[4:5]).tobytes()


def test_shapes_that_do_not_fit_are_refused(ranker):
    """The models' and the documents' widths must be the ranker's."""
    with pytest.raises(LearningError, match="models must have the shape"):
        ranker.scores(np.zeros((1, ranker.dimension + 1)), documents())
    with pytest.raises(LearningError, match="documents must have the shape"):
        ranker.scores(ranker.initial(0)[np.newaxis], documents()[:, 1:])


def test_gradients_are_those_of_finite_differences(ranker):
    """Σ_i factor_i·f'(d_i) agrees with central differences of Σ_i factor_i·f(d_i) in every coordinate."""
    rows, theta = documents(), model(ranker)
    shown, factors = np.array([4, 0, 7]), np.array([0.5, -1.25, 0.75])
    activations = np.empty((len(rows) + 1, ranker.hidden))
    scored = np.empty(len(rows))
    score(theta, rows, ranker.hidden, ranker.rectified, activations, scored)
    gradient = np.zeros(ranker.dimension)
    add_gradient(theta, rows, ranker.hidden, activations, shown, factors, gradient)
    step = 1e-5
    moved = theta + step * np.concatenate((np.eye(ranker.dimension), -np.eye(ranker.dimension)))
    sums = ranker.scores(moved, rows)[:, shown] @ factors
    differences = (sums[: ranker.dimension] - sums[ranker.dimension :]) / (2 * step)
    np.testing.assert_allclose(gradient, differences, atol=1e-9)


def test_linear_scores_are_dot_products():
    """F(x) = θ·x, from zero, in float64 whatever the features are stored in."""
    linear = make_ranker("linear", FEATURES)
    assert linear.initial(7).tolist() == [0.0] * FEATURES
    theta = model(linear)
    for dtype in (np.float32, np.float64):
        rows = documents(dtype=dtype)
        np.testing.assert_allclose(linear.scores(theta[np.newaxis], rows)[0], rows.astype(float) @ theta, rtol=1e-13)


@pytest.mark.parametrize("features", [1, 2, 7, 8, 9, 15, 16, 46, 136])
def test_every_feature_counts_once(features):
    """Whole numbers are added up exactly, whatever the number of features."""
    linear = make_ranker("linear", features)
    rows = np.arange(3 * features, dtype=np.float64).reshape(3, features)
    theta = np.arange(1.0, features + 1)
    assert linear.scores(theta[np.newaxis], rows)[0].tolist() == (rows @ theta).tolist()


def test_neural_scores_are_those_of_the_formula():
    """F(x) = v·sigmoid(x·W + b) with θ = W, b, v."""
    neural = make_ranker("neural", FEATURES, hidden=4)
    theta, rows = model(neural), documents()
    weights, biases, output = theta[:44].reshape(FEATURES, 4), theta[44:48], theta[48:]
    expected = 1 / (1 + np.exp(-(rows @ weights + biases))) @ output
    np.testing.assert_allclose(neural.scores(theta[np.newaxis], rows)[0], expected, rtol=1e-12)


def test_rectified_scores_are_those_of_the_formula():
    """F(x) = v·max(0, x·W + b), from zero."""
    neural = make_ranker("neural", FEATURES, hidden=10, activation="relu")
    assert not neural.initial(3).any()
    theta, rows = model(neural), documents()
    weights, biases, output = theta[:110].reshape(FEATURES, 10), theta[110:120], theta[120:]
    expected = np.maximum(rows @ weights + biases, 0) @ output
    np.testing.assert_allclose(neural.scores(theta[np.newaxis], rows)[0], expected, rtol=1e-12)


def test_neural_sigmoids_saturate():
    """Enormous weights give activations of 0 and 1, not overflow."""
    neural = make_ranker("neural", 1, hidden=2)
    theta = np.array([1e6, -1e6, 0.0, 0.0, 2.0, 5.0])
    assert neural.scores(theta[np.newaxis], np.array([[1.0], [-1.0]]))[0].tolist() == pytest.approx([2.0, 5.0])


def test_neural_weights_start_normal_by_fan_in():
    """W and b have the standard deviation 1/features, v 1/hidden."""
    neural = make_ranker("neural", 50, hidden=400)
    start = neural.initial(1)
    assert neural.dimension == 52 * 400
    assert start[:-400].std() == pytest.approx(1 / 50, rel=0.03)
    assert start[-400:].std() == pytest.approx(1 / 400, rel=0.2)
    assert not np.array_equal(start, neural.initial(2))


def test_wrong_rankers_are_refused():
    """Names, options and sizes are checked."""
    with pytest.raises(UnknownName, match="ranker must be one of linear, neural; got 'deep'"):
        make_ranker("deep", 3)
    with pytest.raises(LearningError, match="must be one of activation, hidden; got 'units'"):
        make_ranker("neural", 3, units=3)
    with pytest.raises(LearningError, match="hidden must be a whole number of units from 1 on; got 0"):
        make_ranker("neural", 3, hidden=0)
    with pytest.raises(UnknownName, match="activation must be one of relu, sigmoid; got 'tanh'"):
        make_ranker("neural", 3, activation="tanh")
    with pytest.raises(LearningError, match="at least 1 feature; got 0"):
        make_ranker("linear", 0)
