"""Every aggregation rule, and each by hand."""

import json

import numpy as np
import pytest

from learning.aggregation import RULES, Updates, make_rule
from learning.errors import LearningError, UnknownName


@pytest.fixture(params=sorted(RULES))
def rule(request):
    """Each registered rule with its default settings."""
    return make_rule(request.param)


def updates(thetas=None, interactions=None, before=None):
    """Updates of the clients 0, 1, …; those of seven in five dimensions where nothing else is said."""
    random = np.random.default_rng(1)
    thetas = random.normal(size=(7, 5)) if thetas is None else np.asarray(thetas)
    interactions = random.integers(1, 9, len(thetas)) if interactions is None else np.asarray(interactions)
    before = np.zeros(thetas.shape[1]) if before is None else np.asarray(before)
    return Updates(thetas, interactions, np.arange(len(thetas)), before, 1)


def test_a_rule_gives_one_finite_model_and_changes_nothing(rule):
    """Shape, dtype, no mutation, the same bits again, and info that JSON can hold."""
    given, kept = updates(), updates()
    one, two = rule(given), rule(given)
    assert one.theta.shape == (5,)
    assert one.theta.dtype == np.float64
    assert one.theta.tobytes() == two.theta.tobytes()
    for name in ("thetas", "interactions", "clients", "before"):
        assert np.array_equal(getattr(given, name), getattr(kept, name))
    assert json.loads(json.dumps(one.info)) == one.info


def test_equal_models_are_their_own_aggregate(rule):
    """When everyone sends the same model, that is the result."""
    theta = np.array([1.0, -2.0, 0.5])
    aggregate = rule(updates(np.tile(theta, (5, 1)), np.full(5, 4)))
    np.testing.assert_allclose(aggregate.theta, theta, rtol=1e-15)


def test_updates_that_do_not_fit_are_refused():
    """No updates, and arrays of different lengths, are errors."""
    thetas, interactions, before = np.ones((7, 5)), np.ones(7, np.int64), np.ones(5)
    with pytest.raises(LearningError, match="at least 1 local model"):
        updates(thetas[:0], interactions[:0], before)
    with pytest.raises(LearningError, match="as many interaction counts"):
        updates(thetas, interactions[1:], before)
    with pytest.raises(LearningError, match="as many client numbers"):
        Updates(thetas, interactions, np.arange(6), before, 1)
    with pytest.raises(LearningError, match="and a model before"):
        updates(thetas, interactions, before[np.newaxis])


def test_fedavg_by_hand():
    """(1·(1, 2) + 3·(5, −2)) / 4 = (4, −1)."""
    aggregate = make_rule("fedavg")(updates([[1.0, 2.0], [5.0, -2.0]], [1, 3]))
    assert aggregate.theta.tolist() == [4.0, -1.0]
    assert aggregate.info == {"clients": 2, "interactions": 4}


def test_fedavg_adds_in_client_order():
    """The sum is ((n_1·θ_1 + n_2·θ_2) + n_3·θ_3) …: exactly these bits."""
    given = updates(np.random.default_rng(2).normal(size=(1000, 46)))
    total = np.zeros(46)
    for theta, count in zip(given.thetas, given.interactions, strict=True):
        total = total + count * theta
    assert make_rule("fedavg")(given).theta.tobytes() == (total / given.interactions.sum()).tobytes()


def test_a_rule_takes_updates_from_the_wire(rule):
    """Read-only and misaligned matrices, as parts of a received frame are, give the same bits."""
    given = updates()
    received = np.frombuffer(b"x" + given.thetas.tobytes(), dtype=np.float64, offset=1).reshape(given.thetas.shape)
    assert rule(updates(received, given.interactions)).theta.tobytes() == rule(given).theta.tobytes()


def test_fedavg_needs_interactions():
    """Without any interaction there is no mean."""
    with pytest.raises(LearningError, match=r"fedavg needs counts from 0 on with a sum above 0; got \[0, 0\]"):
        make_rule("fedavg")(updates(np.ones((2, 3)), [0, 0]))


def test_an_unknown_rule_lists_the_known_ones():
    """Names and options are checked."""
    with pytest.raises(UnknownName, match=r"aggregation rule must be one of .*fedavg.*; got 'mean'"):
        make_rule("mean")
    with pytest.raises(LearningError, match="an option of aggregation rule fedavg must be one of none; got 'f'"):
        make_rule("fedavg", f=1)
