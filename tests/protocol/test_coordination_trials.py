"""The coordinator's machine in a run whose clients send trials: seeds and figures, no weights."""

import numpy as np
import pytest
from stage import Stage

from protocol.codec import Codec
from protocol.messages import Trial, Update
from protocol.terms import Aggregate

ONE = np.zeros(1, dtype=np.int64)


@pytest.fixture
def stage():
    """A run of trials whose figures are at most 1, with its first round open."""
    return Stage(fitness=1.0).gather()


def test_trials_are_kept_and_aggregated_as_rows_of_three(stage):
    """Seeds of 53 bits come through the rows whole; the log has them as whole numbers, and the counts asked for."""
    assert stage.trial("host-2") == ["trial.received"]
    fields = stage.fields("trial.received")
    assert fields["clients"] == ["c1", "c2"]
    assert fields["interactions"].tolist() == [2, 3]
    assert fields["seeds"].tolist() == [2**53 - 8, 2**53 - 7]
    assert fields["fitness"].tolist() == [[0.125, 1.0], [0.25, 1.0]]
    assert stage.trial("host-1") == ["trial.received", "aggregate c0 c1 c2"]
    asked = stage.did[-1]
    assert isinstance(asked, Aggregate)
    assert asked.thetas.tolist() == [[2.0**53 - 9, 0, 1], [2.0**53 - 8, 0.125, 1], [2.0**53 - 7, 0.25, 1]]
    assert "train -> host-1 host-2" in stage.aggregated()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"number": 0}, "stale-round"),
        ({"number": 2}, "future-round"),
        ({"clients": [1]}, "not-yours"),
        ({"seeds": np.array([-1])}, "out-of-range"),
        ({"seeds": np.array([2**53])}, "out-of-range"),
        ({"seeds": np.array([1, 2])}, "wrong-dimension"),
        ({"fitness": np.zeros((1, 3))}, "wrong-dimension"),
        ({"fitness": np.array([[0.0, np.nan]])}, "out-of-range"),
        ({"fitness": np.array([[0.0, 1.5]])}, "out-of-range"),
        ({"fitness": np.array([[-0.1, 0.5]])}, "out-of-range"),
    ],
)
def test_what_no_client_can_have_is_refused(stage, changes, reason):
    """Nobody can weigh more than the metric allows: a liar's figures are from 0 to its largest value."""
    assert stage.trial("host-1", **changes) == [f"update.refused: {reason}"]
    assert stage.trial("host-1") == ["trial.received"]
    assert stage.trial("host-1") == ["update.refused: duplicate"]


def test_weights_are_refused_in_a_run_of_trials_and_trials_in_one_of_weights(stage):
    """A client cannot choose what it sends."""
    assert stage.update("host-1") == ["update.refused: wrong-dimension"]
    assert Stage().gather().trial("host-1") == ["update.refused: wrong-dimension"]


def test_a_trial_is_a_few_numbers_a_client():
    """A frame of 2,000 trials has 32 bytes a client (its number, seed and two figures) and less than 100 beside."""
    clients = np.arange(2000)
    frame = Codec().encode(Trial(1, clients, clients, np.zeros((2000, 2))), 1)
    assert 0 < len(frame) - 32 * 2000 < 100
    weights = Codec().encode(Update(1, clients, np.zeros((2000, 46)), clients, np.zeros(2000), 0), 1)
    assert len(weights) > 12 * len(frame)
