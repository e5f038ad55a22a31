"""Evolution strategies on clients, against a twin written from the method's words."""

import hashlib

import numpy as np
import pytest
from es_twin import try_client

from learning.clicks import click_model
from learning.errors import LearningError, UnknownName
from learning.learners import Cohort, Es
from learning.learners.es import largest_fitness
from learning.metrics import discounts, tie_order
from learning.rankers import make_ranker

KEYS = [3, 2**64 - 1, 17, 0]
COUNTS = [4, 2, 6, 8]
USERS = ["navigational", "informational", "perfect", {"kind": "pbm", "eta": 1.0}]


def cohort(counts=COUNTS):
    """Four clients with different users."""
    return Cohort(np.array(KEYS, np.uint64), np.array(counts), [click_model(one, 3) for one in USERS])


@pytest.mark.parametrize(("metric", "p"), [("maxrr", 1.0), ("maxrr", 0.4), ("dcg", 1.0)])
@pytest.mark.parametrize("hidden", [0, 3])
def test_trials_are_those_of_the_twin(make_queries, hidden, metric, p):
    """Seeds are equal; what was told, seen and clicked is what the slow way gives."""
    queries = make_queries([12, 3, 1, 25, 40], features=6, dtype=np.float32)
    ranker = make_ranker("neural", 6, hidden=3, activation="relu") if hidden else make_ranker("linear", 6)
    theta = np.random.default_rng(4).normal(size=ranker.dimension)
    learner = Es(ranker, queries, cohort(), seed=9, sigma=0.5, metric=metric, p=p)
    for round_ in (1, 7):
        made = learner.train(theta, round_)
        for place, key in enumerate(KEYS):
            expected = try_client(
                theta,
                queries,
                tie_order(queries),
                cohort().clicks[place],
                hidden=hidden,
                seed=9,
                key=key,
                round_=round_,
                interactions=COUNTS[place],
                sigma=0.5,
                metric=metric,
                p=p,
            )
            got = [*made.thetas[place], made.online[place], made.maxrr[place]]
            np.testing.assert_allclose(got, expected, rtol=1e-13)
        assert made.interactions.tolist() == COUNTS


def test_a_client_is_nobody_elses(make_queries):
    """A member's trial has the same bits alone, and in any company."""
    queries, ranker = make_queries([12, 30]), make_ranker("linear", 5)
    learner = Es(ranker, queries, cohort(), seed=1, p=0.5)
    everyone = learner.train(np.ones(5), 3)
    for place in range(4):
        alone = learner.train(np.ones(5), 3, np.array([place]))
        assert alone.thetas.tobytes() == everyone.thetas[place].tobytes()
        assert (alone.online[0], alone.maxrr[0]) == (everyone.online[place], everyone.maxrr[place])


def test_privatisation_changes_nothing_but_what_is_told(make_queries):
    """The same lists are shown and the same clicks made: streams of users and of privacy are apart."""
    queries, ranker = make_queries([12, 30]), make_ranker("linear", 5)
    open_, secret = (Es(ranker, queries, cohort(), seed=1, p=p).train(np.ones(5), 3) for p in (1.0, 0.2))
    assert open_.maxrr.tobytes() == secret.maxrr.tobytes()
    assert open_.online.tobytes() == secret.online.tobytes()
    assert open_.thetas[:, 0].tobytes() == secret.thetas[:, 0].tobytes()
    assert not np.array_equal(open_.thetas, secret.thetas)


def test_equal_scores_are_not_in_the_files_order(make_queries):
    """At θ = 0 and no push to speak of, lists are in the order of ties, the same for every client and round."""
    queries = make_queries([30])
    one = Cohort(np.array([1], np.uint64), np.array([2]), [click_model({"kind": "pbm", "eta": 0.0}, 3)])
    learner = Es(make_ranker("neural", 5, hidden=2, activation="relu"), queries, one, seed=1, sigma=1e-200)
    shown = {float(learner.train(np.zeros(14), round_).online[0]) for round_ in range(5)}
    grades = queries.labels[tie_order(queries)[:10]]
    ideal = np.sort(queries.labels)[::-1][:10]
    expected = ((2.0**grades - 1) @ discounts(10)) / ((2.0**ideal - 1) @ discounts(10))
    assert len(shown) == 1
    assert shown.pop() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sigma": 0.0}, "sigma must be a finite number above 0; got 0.0"),
        ({"p": 0.05}, "p must be above 1/11"),
        ({"metric": "dcg", "p": 0.5}, "p below 1 needs the metric maxrr, which takes 11 values; got dcg with p = 0.5"),
    ],
)
def test_wrong_settings_are_refused(make_queries, options, sentence):
    """Each with one sentence."""
    with pytest.raises(LearningError, match=sentence):
        Es(make_ranker("linear", 5), make_queries([4]), cohort(), seed=1, **options)
    with pytest.raises(UnknownName, match="metric must be one of dcg, maxrr; got 'ndcg'"):
        Es(make_ranker("linear", 5), make_queries([4]), cohort(), seed=1, metric="ndcg")
    with pytest.raises(LearningError, match="even number of interactions, half for each sign; got 3"):
        Es(make_ranker("linear", 5), make_queries([4]), cohort([4, 3, 2, 2]), seed=1)


def test_the_largest_figures():
    """MaxRR is at most 1, the discounted gain at most that of clicks everywhere."""
    assert largest_fitness("maxrr", discounts(10)) == 1.0
    assert largest_fitness("dcg", discounts(10)) == pytest.approx(4.5436, abs=1e-4)


def test_trials_have_the_same_bits_on_every_machine(make_queries):
    """A digest of seeds, figures and measures, made once."""
    queries = make_queries([12, 3, 1, 25, 40], features=6)
    ranker = make_ranker("neural", 6, hidden=3, activation="relu")
    made = Es(ranker, queries, cohort(), seed=9, p=0.5).train(np.linspace(-1, 1, ranker.dimension), 2)
    digest = hashlib.sha256(made.thetas.tobytes() + made.online.tobytes() + made.maxrr.tobytes()).hexdigest()
    assert digest[:16] == "e12e4bc86cc4a2bd"
