"""Simulated users: their tables, their errors, and that they click as the tables say."""

import numpy as np
import pytest

from learning.clicks import CLICK_MODELS, ClickModel, click_model
from learning.clicks.simulation import click_list
from learning.errors import LearningError, UnknownName
from learning.kernels.philox import GENERATOR_WORDS, restart

TRIALS = 20_000


@pytest.mark.parametrize(
    ("name", "levels", "click", "stop"),
    [
        ("perfect", 3, (0, 0.5, 1), (0, 0, 0)),
        ("navigational", 3, (0.05, 0.5, 0.95), (0.2, 0.5, 0.9)),
        ("informational", 3, (0.4, 0.7, 0.9), (0.1, 0.3, 0.5)),
        ("poison", 3, (1, 0.5, 0), (0, 0, 0)),
        ("perfect", 5, (0, 0.2, 0.4, 0.8, 1), (0, 0, 0, 0, 0)),
        ("navigational", 5, (0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
        ("informational", 5, (0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
        ("poison", 5, (1, 0.8, 0.4, 0.2, 0), (0, 0, 0, 0, 0)),
        ("navigational", 2, (0.05, 0.95), (0.2, 0.9)),
        ("poison", 2, (1, 0), (0, 0)),
    ],
)
def test_the_tables_are_the_papers(name, levels, click, stop):
    """Every number of the papers' table; binary labels take its lowest and its top grade."""
    assert click_model(name, levels) == ClickModel(click=click, stop=stop, eta=0.0)


def test_a_position_based_user_takes_its_attraction_from_a_base_or_a_list():
    """A PBM has the base's P(click|r), or a list of one's own, and never stops."""
    by_base = click_model({"kind": "pbm", "eta": 0.5, "base": "informational"}, 3)
    assert by_base == ClickModel(click=(0.4, 0.7, 0.9), stop=(0.0, 0.0, 0.0), eta=0.5)
    by_list = click_model({"kind": "pbm", "eta": 2, "click": [0.1, 0.1, 0.1, 1, 1]}, 5)
    assert by_list == ClickModel(click=(0.1, 0.1, 0.1, 1.0, 1.0), stop=(0.0,) * 5, eta=2.0)
    assert click_model("pbm", 3) == ClickModel(click=(0.0, 0.5, 1.0), stop=(0.0,) * 3, eta=1.0)


def test_a_table_of_ones_own_is_a_cascade():
    """The kind cascade takes click and stop as they are."""
    model = click_model({"kind": "cascade", "click": [0, 0.3], "stop": [1, 0]}, 2)
    assert model == ClickModel(click=(0.0, 0.3), stop=(1.0, 0.0), eta=0.0)


def test_a_name_and_a_mapping_of_its_kind_are_the_same_user():
    """`"poison"` is short for `{"kind": "poison"}`."""
    assert click_model("poison", 3) == click_model({"kind": "poison"}, 3)


@pytest.mark.parametrize(
    ("spec", "levels", "message"),
    [
        (
            "perfekt",
            3,
            "clicks must be one of cascade, informational, navigational, pbm, perfect, poison; got 'perfekt'",
        ),
        (3, 3, "clicks must be one of"),
        ({"eta": 1}, 3, "clicks must have a kind, one of cascade"),
        ({"kind": "pmb"}, 3, "clicks must be one of"),
        ({"kind": "pbm", "beta": 1}, 3, "must be one of base, click, eta; got 'beta'"),
        (
            {"kind": "pbm", "base": "pbm"},
            3,
            "base must be one of informational, navigational, perfect, poison; got 'pbm'",
        ),
        ({"kind": "pbm", "base": "perfect", "click": [0, 1, 1]}, 3, "not from both"),
        ({"kind": "pbm", "eta": -1}, 3, "eta must be a finite number from 0 on; got -1"),
        ({"kind": "pbm", "eta": "1"}, 3, "eta must be a finite number from 0 on; got '1'"),
        ({"kind": "perfect", "eta": 1}, 3, "must be one of none; got 'eta'"),
        ({"kind": "cascade", "click": [0, 1]}, 2, "needs the option 'stop'"),
        ({"kind": "cascade", "click": [0, 1], "stop": [0, 0]}, 3, "click must be a list of 3 probabilities"),
        ({"kind": "cascade", "click": "010", "stop": [0, 0, 0]}, 3, "click must be a list of 3 probabilities"),
        ({"kind": "cascade", "click": [0, 1, 1.5], "stop": [0, 0, 0]}, 3, "a probability from 0 to 1; got 1.5"),
        ({"kind": "cascade", "click": [0, 1, True], "stop": [0, 0, 0]}, 3, "a probability from 0 to 1; got True"),
        ("perfect", 4, "2, 3 or 5 relevance grades; got 4"),
    ],
)
def test_a_wrong_spec_is_one_sentence(spec, levels, message):
    """Wrong names, keys, lengths and probabilities are refused with the choices."""
    with pytest.raises(LearningError, match=message):
        click_model(spec, levels)


def test_an_unknown_name_is_its_own_kind_of_error():
    """Callers can tell an unknown name from a bad value."""
    with pytest.raises(UnknownName):
        click_model("nobody", 3)


def clicks_on(model, grades, trials=TRIALS):
    """Clicked ranks, bool[trials, k], and the rank of the last click, int[trials], on one list again and again."""
    generator = np.empty(GENERATOR_WORDS, np.uint64)
    restart(generator, np.uint64(3), np.uint64(2), np.uint64(1), np.uint64(0))
    labels = np.array(grades, np.int8)
    ranks = len(labels)
    clicked = np.empty((trials, ranks), np.bool_)
    click, stop = np.array(model.click), np.array(model.stop)
    examination = (1.0 / np.arange(1, ranks + 1)) ** model.eta
    last = [click_list(generator, labels, np.arange(ranks), click, stop, examination, row) for row in clicked]
    return clicked, np.array(last)


def assert_close_to(frequencies, probabilities):
    """Within five standard deviations of a mean of TRIALS draws; exact where the probability is 0 or 1."""
    probabilities = np.asarray(probabilities)
    bound = 5 * np.sqrt(probabilities * (1 - probabilities) / TRIALS)
    assert (np.abs(frequencies - probabilities) <= bound).all()


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("name", ["perfect", "navigational", "informational", "poison"])
def test_a_cascade_user_clicks_and_stops_as_the_table_says(name, levels):
    """Rank by rank: reached = not stopped above, and the click frequencies are those of the cascade."""
    model = click_model(name, levels)
    grades = list(range(levels))[::-1] * 2
    clicked, last = clicks_on(model, grades)
    reached, expected = 1.0, []
    for grade in grades:
        expected.append(reached * model.click[grade])
        reached *= 1 - model.click[grade] * model.stop[grade]
    assert_close_to(clicked.mean(axis=0), expected)
    ranks = np.arange(1, len(grades) + 1)
    assert (last == (clicked * ranks).max(axis=1)).all()


@pytest.mark.parametrize("eta", [0.0, 0.5, 1.0, 1.5, 2.0])
def test_a_position_based_user_clicks_by_rank_and_grade(eta):
    """P(click at rank i) = P(click|r)·(1/i)^eta."""
    grades = [2, 1, 0, 2, 1, 0, 2, 1, 0, 2]
    model = click_model({"kind": "pbm", "eta": eta, "base": "informational"}, 3)
    clicked, _ = clicks_on(model, grades)
    assert_close_to(clicked.mean(axis=0), [model.click[r] * (1 / (i + 1)) ** eta for i, r in enumerate(grades)])


def test_the_ranks_of_a_position_based_user_are_independent():
    """A click at one rank says nothing about the next."""
    clicked, _ = clicks_on(click_model({"kind": "pbm", "eta": 0.5, "base": "informational"}, 3), [1, 1, 1])
    together = (clicked[:, 0] & clicked[:, 1]).mean()
    assert_close_to(together, clicked[:, 0].mean() * clicked[:, 1].mean())


def test_every_registered_name_is_tested_or_takes_options():
    """A new click model has to be added to these tests."""
    assert set(CLICK_MODELS) == {"perfect", "navigational", "informational", "poison", "cascade", "pbm"}
