"""Every aggregation rule, and each by hand."""

import json

import numpy as np
import pytest

from learning.aggregation import RULES, make_rule
from learning.errors import LearningError, UnknownName


@pytest.fixture(params=sorted(RULES))
def rule(request):
    """Each registered rule with its default settings."""
    return make_rule(request.param)


def updates(clients=7, dimension=5):
    """Local models, their interactions and the model before."""
    random = np.random.default_rng(1)
    return random.normal(size=(clients, dimension)), random.integers(1, 9, clients), random.normal(size=dimension)


def test_a_rule_gives_one_finite_model_and_changes_nothing(rule):
    """Shape, dtype, no mutation, the same bits again, and info that JSON can hold."""
    given = updates()
    kept = [array.copy() for array in given]
    one, two = rule(*given), rule(*given)
    assert one.theta.shape == (5,)
    assert one.theta.dtype == np.float64
    assert one.theta.tobytes() == two.theta.tobytes()
    assert all(np.array_equal(now, before) for now, before in zip(given, kept, strict=True))
    assert json.loads(json.dumps(one.info)) == one.info


def test_equal_models_are_their_own_aggregate(rule):
    """When everyone sends the same model, that is the result."""
    theta = np.array([1.0, -2.0, 0.5])
    aggregate = rule(np.tile(theta, (5, 1)), np.full(5, 4), np.zeros(3))
    np.testing.assert_allclose(aggregate.theta, theta, rtol=1e-15)


def test_updates_that_do_not_fit_are_refused(rule):
    """No updates, and arrays of different lengths, are errors."""
    thetas, interactions, before = updates()
    with pytest.raises(LearningError, match="at least 1 local model"):
        rule(thetas[:0], interactions[:0], before)
    with pytest.raises(LearningError, match="as many interaction counts"):
        rule(thetas, interactions[1:], before)
    with pytest.raises(LearningError, match="model before of that dimension"):
        rule(thetas, interactions, before[1:])


def test_fedavg_by_hand():
    """(1·(1, 2) + 3·(5, −2)) / 4 = (4, −1)."""
    aggregate = make_rule("fedavg")(np.array([[1.0, 2.0], [5.0, -2.0]]), np.array([1, 3]), np.zeros(2))
    assert aggregate.theta.tolist() == [4.0, -1.0]
    assert aggregate.info == {"clients": 2, "interactions": 4}


def test_fedavg_adds_in_client_order():
    """The sum is ((n_1·θ_1 + n_2·θ_2) + n_3·θ_3) …: exactly these bits."""
    thetas, interactions, before = updates(clients=1000, dimension=46)
    total = np.zeros(46)
    for theta, count in zip(thetas, interactions, strict=True):
        total = total + count * theta
    assert make_rule("fedavg")(thetas, interactions, before).theta.tobytes() == (total / interactions.sum()).tobytes()


def test_a_rule_takes_updates_from_the_wire(rule):
    """Read-only and misaligned matrices, as parts of a received frame are, give the same bits."""
    thetas, interactions, before = updates()
    received = np.frombuffer(b"x" + thetas.tobytes(), dtype=np.float64, offset=1).reshape(thetas.shape)
    assert rule(received, interactions, before).theta.tobytes() == rule(thetas, interactions, before).theta.tobytes()


def test_fedavg_needs_interactions():
    """Without any interaction there is no mean."""
    with pytest.raises(LearningError, match=r"fedavg needs counts from 0 on with a sum above 0; got \[0, 0\]"):
        make_rule("fedavg")(np.ones((2, 3)), np.zeros(2, np.int64), np.zeros(3))


def test_an_unknown_rule_lists_the_known_ones():
    """Names and options are checked."""
    with pytest.raises(UnknownName, match=r"aggregation rule must be one of .*fedavg.*; got 'mean'"):
        make_rule("mean")
    with pytest.raises(LearningError, match="an option of aggregation rule fedavg must be one of none; got 'f'"):
        make_rule("fedavg", f=1)
