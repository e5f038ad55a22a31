"""PDGD as a whole: the slow twin's models, and the same bits however the work is split."""

import numpy as np
import pytest
from slow_twin import draw_list, train_client

from learning.clicks import click_model
from learning.data.dataset import Queries
from learning.errors import LearningError, UnknownName
from learning.learners import LEARNERS, Cohort, Es, Pdgd, pdgd
from learning.rankers import make_ranker
from learning.streams import Purpose, client_key, stream

SIZES = [1, 3, 12, 8, 25, 2, 10, 17]  # single documents, fewer than a list, a whole list, more
USERS = ["perfect", "navigational", "informational", "poison", {"kind": "pbm", "eta": 1.0, "base": "informational"}]


def cohort_of(clients, users=USERS, levels=3):
    """Clients with different interactions and users."""
    keys = np.array([client_key(f"client-{i}") for i in range(clients)], dtype=np.uint64)
    interactions = np.array([3 + i % 4 for i in range(clients)])
    return Cohort(keys, interactions, [click_model(users[i % len(users)], levels) for i in range(clients)])


def theta_for(ranker, scale=1.0):
    """Some model that prefers some documents."""
    return np.random.default_rng(9).normal(size=ranker.dimension) * scale


@pytest.mark.parametrize("update", ["interaction", "batch"])
@pytest.mark.parametrize(("kind", "options"), [("linear", {}), ("neural", {"hidden": 3})])
@pytest.mark.parametrize(("scale", "bound"), [(1.0, np.inf), (300.0, np.inf), (1.0, 1.25)])
def test_a_round_is_the_slow_twins(make_queries, kind, options, update, scale, bound):
    """The same draws and the equations in full give every client's model and online nDCG, also at huge scores."""
    queries = make_queries(SIZES)
    ranker = make_ranker(kind, 5, **options)
    cohort = cohort_of(10)
    theta = theta_for(ranker, scale)
    updates = Pdgd(ranker, queries, cohort, seed=4, learning_rate=0.3, update=update, bound=bound).train(theta, 6)
    for i in range(len(cohort)):
        local, online = train_client(
            theta,
            queries,
            cohort.clicks[i],
            hidden=ranker.hidden,
            seed=4,
            key=int(cohort.keys[i]),
            round_=6,
            interactions=cohort.interactions[i],
            learning_rate=0.3,
            batch=update == "batch",
            bound=bound,
        )
        np.testing.assert_allclose(updates.thetas[i], local, rtol=1e-10, atol=1e-10)
        assert updates.online[i] == pytest.approx(online, abs=1e-12)
    assert updates.interactions.tolist() == cohort.interactions.tolist()
    assert not np.array_equal(updates.thetas, np.tile(theta, (10, 1)))


def test_a_model_is_clipped_also_without_a_click(make_queries):
    """Who never clicks still sends a model within the bound; without a bound it sends the round's model back."""
    ranker, queries = make_ranker("linear", 5), make_queries([4])
    nobody = {"kind": "cascade", "click": [0.0, 0.0, 0.0], "stop": [0.0, 0.0, 0.0]}
    theta = 3.0 * np.ones(5) / np.sqrt(5)
    for bound, norm in ((np.inf, 3.0), (1.5, 1.5), (5.0, 3.0)):
        learner = Pdgd(ranker, queries, cohort_of(1, users=[nobody]), seed=1, bound=bound)
        assert np.linalg.norm(learner.train(theta, 0).thetas[0]) == pytest.approx(norm, rel=1e-15)


@pytest.mark.filterwarnings("ignore")  # ranx compiles with unsafe casts
def test_online_ndcg_is_ranxs(make_queries):
    """The nDCG@10 of a list shown is ranx's ndcg_burges over all of the query's candidates."""
    from ranx import Qrels, Run, evaluate

    queries, ranker, clients = make_queries(SIZES, seed=3), make_ranker("linear", 5), 40
    keys = np.arange(clients, dtype=np.uint64)
    cohort = Cohort(keys, np.ones(clients, np.int64), [click_model("perfect", 3)] * clients)
    theta = theta_for(ranker)
    online = Pdgd(ranker, queries, cohort, seed=1).train(theta, 0).online
    qrels, run = {}, {}
    for key in range(clients):
        draws = stream(1, Purpose.TRAIN, key, 0)
        query = int(draws.random() * len(queries))
        rows = slice(queries.offsets[query], queries.offsets[query + 1])
        scores = (queries.features[rows] @ theta).tolist()
        shown = draw_list(draws, scores, min(10, len(scores)))
        qrels[f"{key:03}"] = {f"d{d}": int(grade) for d, grade in enumerate(queries.labels[rows])}
        run[f"{key:03}"] = {f"d{d}": 1.0 / (rank + 1) for rank, d in enumerate(shown)}
    expected = evaluate(Qrels(qrels), Run(run), "ndcg_burges@10", return_mean=False)
    np.testing.assert_allclose(online, expected, atol=1e-12)


def test_float32_features_are_only_stored_in_float32(make_queries):
    """The same numbers as float32 and as float64 give the same bits: all arithmetic is in float64."""
    narrow = make_queries(SIZES, dtype=np.float32)
    wide = Queries(narrow.features.astype(np.float64), narrow.labels, narrow.offsets)
    ranker = make_ranker("linear", 5)
    theta = theta_for(ranker)
    one, other = (Pdgd(ranker, q, cohort_of(5), seed=1).train(theta, 0) for q in (narrow, wide))
    assert one.thetas.tobytes() == other.thetas.tobytes()


@pytest.mark.parametrize(("kind", "features"), [("linear", 46), ("linear", 5), ("neural", 13)])
def test_a_client_has_the_same_bits_in_any_cohort(make_queries, kind, features):
    """Whole cohort, subsets, reversed order, other neighbours, misaligned data: every client's bytes are the same."""
    queries = make_queries(SIZES, features=features)
    ranker = make_ranker(kind, features)
    theta = theta_for(ranker)
    cohort = cohort_of(11)
    learner = Pdgd(ranker, queries, cohort, seed=2)
    whole = learner.train(theta, 3)
    order = np.arange(11)[::-1]
    backwards = learner.train(theta, 3, order)
    assert backwards.thetas[order].tobytes() == whole.thetas.tobytes()
    assert backwards.online[order].tobytes() == whole.online.tobytes()
    assert backwards.interactions[order].tolist() == whole.interactions.tolist()
    some = np.array([7, 2, 2])
    assert learner.train(theta, 3, some).thetas.tobytes() == whole.thetas[some].tobytes()
    for i in (0, 5, 10):
        alone = Cohort(cohort.keys[i : i + 1], cohort.interactions[i : i + 1], [cohort.clicks[i]])
        moved = np.empty(queries.features.size + 1)[1:].reshape(queries.features.shape)
        moved[:] = queries.features
        elsewhere = Queries(moved, queries.labels, queries.offsets)
        update = Pdgd(ranker, elsewhere, alone, seed=2).train(theta, 3)
        assert update.thetas.tobytes() == whole.thetas[i].tobytes()
        assert update.online[0] == whole.online[i]


def test_rounds_and_seeds_give_other_updates(make_queries):
    """The round and the seed are part of the stream."""
    queries, ranker, cohort = make_queries(SIZES), make_ranker("linear", 5), cohort_of(2)
    theta = theta_for(ranker)
    first = Pdgd(ranker, queries, cohort, seed=1)
    assert first.train(theta, 0).thetas.tobytes() == first.train(theta, 0).thetas.tobytes()
    assert first.train(theta, 0).thetas.tobytes() != first.train(theta, 1).thetas.tobytes()
    assert (
        first.train(theta, 0).thetas.tobytes() != Pdgd(ranker, queries, cohort, seed=2).train(theta, 0).thetas.tobytes()
    )


def test_arrays_from_the_wire_need_no_other_machine_code(make_queries):
    """Models and data that are read-only or misaligned, as parts of a received frame are, compile nothing new."""
    queries, ranker, cohort = make_queries(SIZES), make_ranker("linear", 5), cohort_of(3)
    theta = theta_for(ranker)
    expected = Pdgd(ranker, queries, cohort, seed=1).train(theta, 0)
    known = len(pdgd._train.signatures)
    received = np.frombuffer(b"x" + theta.tobytes(), dtype=np.float64, offset=1)
    labels = np.frombuffer(queries.labels.tobytes(), dtype=np.int8)
    offsets = np.frombuffer(b"x" + queries.offsets.tobytes(), dtype=np.int64, offset=1)
    update = Pdgd(ranker, Queries(queries.features, labels, offsets), cohort, seed=1).train(received, 0)
    assert update.thetas.tobytes() == expected.thetas.tobytes()
    assert len(pdgd._train.signatures) == known


def test_nothing_is_changed_that_was_given(make_queries):
    """θ and read-only data go in and come out as they were."""
    queries = make_queries(SIZES)
    for array in (queries.features, queries.labels, queries.offsets):
        array.flags.writeable = False
    ranker = make_ranker("linear", 5)
    theta = theta_for(ranker)
    before = theta.copy()
    Pdgd(ranker, queries, cohort_of(3), seed=1).train(theta, 0)
    assert theta.tobytes() == before.tobytes()


def test_a_query_without_relevant_documents_counts_as_zero(make_queries):
    """Online nDCG of a query with no relevant candidate is 0, and nobody clicks perfectly on it."""
    queries = make_queries([6, 6])
    nothing = Queries(queries.features, np.zeros_like(queries.labels), queries.offsets)
    ranker = make_ranker("linear", 5)
    theta = theta_for(ranker)
    update = Pdgd(ranker, nothing, cohort_of(1, users=["perfect"]), seed=1).train(theta, 0)
    assert update.online.tolist() == [0.0]
    assert update.thetas[0].tobytes() == theta.tobytes()


def test_an_empty_query_and_no_members_are_no_trouble(make_queries):
    """A query may have no documents, and nobody may be asked."""
    ranker = make_ranker("linear", 5)
    learner = Pdgd(ranker, make_queries([0, 4, 0]), cohort_of(4), seed=1)
    assert np.isfinite(learner.train(theta_for(ranker), 0).thetas).all()
    nobody = learner.train(theta_for(ranker), 0, np.array([], dtype=np.int64))
    assert (nobody.thetas.shape, nobody.interactions.shape, nobody.online.shape) == ((0, 5), (0,), (0,))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308])
@pytest.mark.parametrize("kind", ["linear", "neural"])
def test_a_broken_model_does_no_harm(make_queries, kind, value):
    """Whatever θ holds, compiled code stays inside its arrays and comes back."""
    ranker = make_ranker(kind, 5)
    update = Pdgd(ranker, make_queries(SIZES), cohort_of(5), seed=1).train(np.full(ranker.dimension, value), 0)
    assert update.thetas.shape == (5, ranker.dimension)
    assert ((update.online >= 0) & (update.online <= 1 + 1e-12)).all()


def test_training_learns_to_rank(make_queries):
    """With perfect clicks on labels that follow a feature, the weight of that feature becomes the largest."""
    queries = make_queries([20] * 30)
    grades = np.digitize(queries.features[:, 2], [0.5, 1.2]).astype(np.int8)
    ranker = make_ranker("linear", 5)
    learner = Pdgd(ranker, Queries(queries.features, grades, queries.offsets), cohort_of(1, users=["perfect"]), seed=1)
    theta = ranker.initial(0)
    for round_ in range(200):
        theta = learner.train(theta, round_).thetas[0]
    assert theta.argmax() == 2
    assert theta[2] > 3 * np.abs(np.delete(theta, 2)).max()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 0.0}, "the learning rate must be a finite number above 0; got 0.0"),
        ({"learning_rate": float("nan")}, "the learning rate must be"),
        ({"seed": -1}, "the seed must be from 0"),
        ({"at": 0}, "a list must have at least 1 rank; got 0"),
        ({"update": "sometimes"}, "update must be one of batch, interaction; got 'sometimes'"),
    ],
)
def test_wrong_settings_are_refused(make_queries, settings, message):
    """A setting outside its range is one sentence with the value."""
    with pytest.raises(LearningError, match=message):
        Pdgd(make_ranker("linear", 5), make_queries([3]), cohort_of(1), **{"seed": 1, **settings})


def test_data_that_does_not_fit_is_refused(make_queries):
    """Features, grades, models, rounds and members are checked before compiled code sees them."""
    ranker, cohort = make_ranker("linear", 5), cohort_of(2)
    with pytest.raises(LearningError, match="documents must have 5 features; got 4"):
        Pdgd(ranker, make_queries([3], features=4), cohort, seed=1)
    graded = make_queries([3])
    with pytest.raises(LearningError, match="grades 0 to 2; got 3"):
        Pdgd(ranker, Queries(graded.features, np.full(3, 3, np.int8), graded.offsets), cohort, seed=1)
    with pytest.raises(LearningError, match="grades must be 0 or above; got -1"):
        Pdgd(ranker, Queries(graded.features, np.full(3, -1, np.int8), graded.offsets), cohort, seed=1)
    with pytest.raises(LearningError, match="at least 1 query; got 0"):
        Pdgd(ranker, make_queries([]), cohort, seed=1)
    learner = Pdgd(ranker, graded, cohort, seed=1)
    with pytest.raises(LearningError, match=r"the model must have the shape \(5,\); got \(4,\)"):
        learner.train(np.zeros(4), 0)
    with pytest.raises(LearningError, match="the round must be from 0"):
        learner.train(np.zeros(5), -1)
    with pytest.raises(LearningError, match="members must be from 0 to 1; got 0 to 2"):
        learner.train(np.zeros(5), 0, np.array([0, 2]))


def test_a_cohort_must_be_whole():
    """Every client has a key, at least one interaction and a user for the same grades."""
    keys, users = np.zeros(2, np.uint64), [click_model("perfect", 3)] * 2
    with pytest.raises(LearningError, match=r"for each; got \(2, 1, 2\)"):
        Cohort(keys, np.ones(1, np.int64), users)
    with pytest.raises(LearningError, match=r"at least 1 client .* got \(0, 0, 0\)"):
        Cohort(keys[:0], np.ones(0, np.int64), [])
    with pytest.raises(LearningError, match="at least 1 interaction a round; got 0"):
        Cohort(keys, np.array([1, 0]), users)
    with pytest.raises(LearningError, match=r"same number of relevance grades; got \[3, 5\]"):
        Cohort(keys, np.ones(2, np.int64), [click_model("perfect", 3), click_model("perfect", 5)])


def test_the_registry_names_the_learners():
    """A scenario's learner kind is a name of the registry."""
    assert {"pdgd": Pdgd, "es": Es} == LEARNERS
    assert issubclass(UnknownName, LearningError)
