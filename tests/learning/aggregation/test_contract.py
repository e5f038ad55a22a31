"""What every aggregation rule promises, those with a pre-aggregator and those that remember included."""

import json

import numpy as np
import pytest

from learning.aggregation import PRE_AGGREGATORS, RULES, Updates, make_rule, options_of
from learning.errors import LearningError, UnknownName

KINDS = [*RULES, *([mixer, rule] for mixer in PRE_AGGREGATORS for rule in ("trimmed_mean", "krum", "guarded"))]
COORDINATE_WISE = ["trimmed_mean", "median", "bulyan", "krum", "multi_krum", "geometric_median", ["nnm", "median"]]
"""Rules whose model stays within the honest models' range, coordinate by coordinate, when the liars are far away."""
MEANS = ["fedavg", "multi_krum", "trimmed_mean", "bulyan", "norm_clipping", "centred_clipping", "fldetector", "guarded"]
"""Rules that are the plain mean when all clients count alike and nothing is to be tolerated or clipped."""


def named(kind):
    """A rule's name in a test's."""
    return kind if isinstance(kind, str) else "+".join(kind)


def made(kind, tolerate=2, judge=np.ones_like, **options):
    """A fresh rule that is told to tolerate two clients, if it wants to be told."""
    stages = [kind] if isinstance(kind, str) else kind
    if any("tolerate" in options_of(stage) for stage in stages):
        options["tolerate"] = tolerate
    return make_rule(kind, judge, **options)


def updates(thetas, interactions=None, before=None, number=1):
    """Updates of the clients 0, 1, …, each of one interaction where nothing else is said."""
    thetas = np.array(thetas, dtype=np.float64)
    interactions = np.ones(len(thetas), np.int64) if interactions is None else np.asarray(interactions)
    before = np.zeros(thetas.shape[1]) if before is None else np.asarray(before)
    return Updates(thetas, interactions, np.arange(len(thetas)), before, number)


def rounds(count=6, clients=11, order=None):
    """Some rounds of random local models with unequal interactions; with an order, the same of reordered clients."""
    random = np.random.default_rng(1)
    found = []
    for number in range(1, count + 1):
        before, thetas = random.normal(size=5), random.normal(size=(clients, 5)) + 3
        interactions = random.integers(1, 9, clients)
        rows = np.arange(clients) if order is None else order
        found.append(updates(thetas[rows], interactions[rows], before, number))
    return found


@pytest.fixture(params=KINDS, ids=named)
def kind(request):
    """Every registered rule, and some after a pre-aggregator."""
    return request.param


def test_a_rule_gives_finite_models_with_the_same_bits_and_changes_nothing(kind):
    """Shape, dtype, no mutation, the same bits from a fresh rule, and a record that JSON can hold."""
    one, two = made(kind), made(kind)
    names = [f"c{place}" for place in range(11)]
    for given, again, kept in zip(rounds(), rounds(), rounds(), strict=True):
        first, second = one(given), two(again)
        assert first.theta.shape == (5,)
        assert first.theta.dtype == np.float64
        assert np.isfinite(first.theta).all()
        assert first.theta.tobytes() == second.theta.tobytes()
        for name in ("thetas", "interactions", "clients", "before"):
            assert np.array_equal(getattr(given, name), getattr(kept, name))
        record = first.record(names)
        assert record == second.record(names)
        assert json.loads(json.dumps(record)) == record


def test_a_rule_does_not_care_about_the_clients_order(kind):
    """The same rounds with the clients numbered otherwise: the same models up to rounding, the same clients used."""
    order = np.random.default_rng(2).permutation(11)
    one, two = made(kind), made(kind)
    for given, shuffled in zip(rounds(), rounds(order=order), strict=True):
        first, second = one(given), two(shuffled)
        np.testing.assert_allclose(second.theta, first.theta, rtol=1e-7, atol=1e-9)
        for name in ("used", "scores"):
            if getattr(first, name) is not None and "nnm" not in kind:  # which makes equal rows, and ties among them
                np.testing.assert_allclose(getattr(second, name), getattr(first, name)[order], rtol=1e-6, atol=1e-9)


def test_a_rule_takes_updates_from_the_wire(kind):
    """Read-only and misaligned matrices, as parts of a received frame are, give the same bits."""
    given = rounds(1)[0]
    received = np.frombuffer(b"x" + given.thetas.tobytes(), dtype=np.float64, offset=1).reshape(given.thetas.shape)
    moved = Updates(received, given.interactions, given.clients, given.before, 1)
    assert made(kind)(moved).theta.tobytes() == made(kind)(given).theta.tobytes()


def test_equal_models_are_their_own_aggregate(kind):
    """When everyone sends the same model, that is the result."""
    theta = np.array([1.0, 2.0, -0.5])
    aggregate = made(kind)(updates(np.tile(theta, (11, 1)), np.full(11, 4)))
    np.testing.assert_allclose(aggregate.theta, theta, rtol=1e-14)


@pytest.mark.parametrize("kind", [*MEANS, ["nnm", "multi_krum"]], ids=named)
def test_with_nothing_to_tolerate_it_is_the_mean(kind):
    """Told m = 0, no clipping, no history: the mean of all."""
    options = {"radius": 1e9} if "clipping" in named(kind) else {}
    thetas = np.random.default_rng(3).normal(size=(9, 4))
    theta = made(kind, tolerate=0, **options)(updates(thetas)).theta
    np.testing.assert_allclose(theta, thetas.mean(axis=0), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", COORDINATE_WISE, ids=named)
@pytest.mark.parametrize("far", [1e3, -1e6])
def test_it_stays_within_the_honest_range(kind, far):
    """Two of eleven send something far away: every coordinate of the model is within the others' range."""
    honest = np.random.default_rng(4).normal(size=(9, 4))
    theta = made(kind)(updates(np.vstack([np.full((2, 4), far), honest]))).theta
    assert (theta >= honest.min(axis=0)).all()
    assert (theta <= honest.max(axis=0)).all()


@pytest.mark.parametrize(
    ("kind", "clients", "tolerate", "sentence"),
    [
        ("krum", 4, 2, "krum needs n > 2m, a majority of honest clients; got n = 4, m = 2"),
        ("multi_krum", 6, 3, "multi_krum needs n > 2m, a majority of honest clients; got n = 6, m = 3"),
        ("trimmed_mean", 2, 1, "trimmed_mean needs n > 2m, a majority of honest clients; got n = 2, m = 1"),
        ("bulyan", 10, 2, "bulyan needs n ≥ 4m \\+ 3; got n = 10, m = 2"),
        (["nnm", "median"], 4, 2, "nnm needs n > 2m, a majority of honest clients; got n = 4, m = 2"),
    ],
    ids=lambda value: named(value) if isinstance(value, str | list) else None,
)
def test_numbers_that_cannot_be_served_are_refused_with_the_inequality(kind, clients, tolerate, sentence):
    """Before the run by check, and in the round; one client more and it works."""
    rule = made(kind, tolerate)
    with pytest.raises(LearningError, match=sentence):
        rule.check(clients)
    with pytest.raises(LearningError, match=sentence):
        rule(updates(np.eye(clients)))
    rule.check(clients + 1)
    assert rule(updates(np.eye(clients + 1))).theta.shape == (clients + 1,)


def test_names_and_options_are_checked():
    """Unknown ones are told with the known ones; what must be set is said."""
    with pytest.raises(UnknownName, match=r"aggregation rule must be one of .*fedavg.*; got 'mean'"):
        make_rule("mean")
    with pytest.raises(UnknownName, match="pre-aggregator must be one of nnm; got 'krum'"):
        make_rule(["krum", "median"], tolerate=1)
    with pytest.raises(LearningError, match="an option of aggregation rule fedavg must be one of none; got 'f'"):
        make_rule("fedavg", f=1)
    with pytest.raises(LearningError, match="aggregation rule krum needs the option 'tolerate'"):
        make_rule("krum")
    with pytest.raises(LearningError, match="fltrust needs judged queries; got none"):
        make_rule("fltrust")
    with pytest.raises(LearningError, match=r"one of fedavg, krum, .*; got none"):
        make_rule([])
    with pytest.raises(LearningError, match="the radius must be a finite number from 0 on"):
        make_rule("norm_clipping", radius=-1.0)


def test_updates_that_do_not_fit_are_refused():
    """No updates, and arrays of different lengths, are errors."""
    thetas, interactions, before = np.ones((7, 5)), np.ones(7, np.int64), np.ones(5)
    with pytest.raises(LearningError, match="at least 1 local model"):
        updates(thetas[:0].reshape(0, 5), interactions[:0], before)
    with pytest.raises(LearningError, match="as many interaction counts"):
        updates(thetas, interactions[1:], before)
    with pytest.raises(LearningError, match="as many client numbers"):
        Updates(thetas, interactions, np.arange(6), before, 1)
    with pytest.raises(LearningError, match="and a model before"):
        updates(thetas, interactions, before[np.newaxis])


def test_the_record_names_the_fewer():
    """Who was used, or who was not, whichever list is shorter; scores in five digits."""
    names = ["a", "b", "c", "d"]
    record = made("krum", 1)(updates([[0.0], [1.0], [3.0], [10.0]])).record(names)
    assert record == {"used": ["a"], "scores": [1.0, 1.0, 2.0, 7.0]}
    record = made("multi_krum", 1)(updates([[0.0], [1.0], [3.0], [10.123456]])).record(names)
    assert record == {"excluded": ["d"], "scores": [1.0, 1.0, 2.0, 7.1235]}
