"""Methods of unlearning: calibration against its equation, and each method on a story that is checked by hand."""

import numpy as np
import pytest

from learning.errors import LearningError
from learning.unlearning import METHODS, Made, Story, calibrate, lineage, make_method

THETA_0, THETA_1, THETA_2 = np.zeros(2), np.array([1.0, 1.0]), np.array([3.0, 0.0])


def story(joined=1, leavers=("c",)):
    """Two rounds of a, b and c with 1, 1 and 2 interactions."""
    rounds = {
        1: Made(1, THETA_0, ("a", "b", "c"), np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([1, 1, 2])),
        2: Made(2, THETA_1, ("a", "c"), np.array([[1.0, 2.0], [4.0, -1.0]]), np.array([1, 2])),
    }
    models = {0: THETA_0, 1: THETA_1, 2: THETA_2}
    return Story(
        THETA_0, THETA_2, leavers, (1, 2), joined, models.__getitem__, lambda wanted: (rounds[one] for one in wanted)
    )


def test_calibration_is_the_papers_equation_row_by_row():
    """‖ΔM‖·ΔM'/‖ΔM'‖ by NumPy, whatever other rows there are, and a client that learned nothing changes nothing."""
    random = np.random.default_rng(3)
    thetas, before, norms = random.normal(size=(5, 46)), random.normal(size=46), random.random(5)
    thetas[2] = before
    made = calibrate(thetas, before, norms)
    for row, (theta, norm) in enumerate(zip(thetas, norms, strict=True)):
        change = theta - before
        length = np.linalg.norm(change)
        expected = before + norm * change / length if length else before
        np.testing.assert_allclose(made[row], expected, rtol=1e-13, atol=1e-15)
        assert calibrate(thetas[row : row + 1], before, norms[row : row + 1]).tobytes() == made[row].tobytes()
    assert made[2].tobytes() == before.tobytes()
    with pytest.raises(LearningError, match="a norm each"):
        calibrate(thetas, before, norms[1:])


def test_the_lineage_leaves_out_what_was_forgotten():
    """Everything at first; from a restart on only what stayed, and what came after it."""
    assert lineage(4, []) == (1, 2, 3, 4)
    assert lineage(9, [(5, 0)]) == (6, 7, 8, 9)
    assert lineage(9, [(5, 2)]) == (1, 2, 6, 7, 8, 9)
    assert lineage(9, [(7, 6), (5, 2)]) == (1, 2, 6, 8, 9)
    assert lineage(4, [(5, 0)]) == (1, 2, 3, 4)
    assert lineage(0, []) == ()


@pytest.mark.parametrize(
    ("settings", "theta", "origin"),
    [
        ({"method": "federaser"}, [0, 0], 0),
        ({"method": "retrain"}, [0, 0], 0),
        ({"method": "fedavg-retrain"}, [0, 0], 0),
        ({"method": "rollback"}, [0, 0], 0),
        # the means of a's and b's changes, (1, 1), and of a's alone, (0, 1)
        ({"method": "accumulate"}, [1, 2], 2),
        ({"method": "accumulate", "every": 2}, [1, 1], 2),
        # c's share: 2/4 of (1, 1) and 2/3 of (3, -2)
        ({"method": "subtract"}, [3 - 0.5 - 2, 0 - 0.5 + 4 / 3], 2),
    ],
)
def test_every_method_starts_from_the_right_model(settings, theta, origin):
    """By hand, on two rounds; what the story holds is not changed."""
    method = make_method(settings)
    made, stays = method.start(story())
    np.testing.assert_allclose(made, theta, rtol=1e-14)
    assert stays == origin
    assert THETA_0.tolist() == [0, 0]
    assert THETA_2.tolist() == [3, 0]


def test_rollback_keeps_what_came_before_the_leavers():
    """Who joined in round 2 costs round 2; who never took part costs nothing."""
    assert make_method({"method": "rollback"}).start(story(joined=2)) == (pytest.approx(THETA_1), 1)
    assert make_method({"method": "rollback"}).start(story(joined=None)) == (pytest.approx(THETA_2), 2)


def test_every_method_says_what_it_needs():
    """A method without rounds has none, and one with rounds calibrates only if it is FedEraser."""
    methods = {name: make_method({"method": name}) for name in METHODS}
    assert {name for name, one in methods.items() if one.needs_weights} == {"accumulate", "subtract"}
    assert {name for name, one in methods.items() if one.steps and one.steps.calibrated} == {"federaser"}
    assert {name for name, one in methods.items() if one.steps is None} == {"accumulate", "subtract", "rollback"}
    assert make_method({"method": "federaser", "every": 5, "interactions": 2}).steps.every == 5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "amnesia"}, "federaser"),
        ({}, "unlearning method"),
        ({"method": "federaser", "every": 0}, "every must be a whole number from 1 on; got 0"),
        ({"method": "rollback", "every": 3}, "every"),
    ],
)
def test_what_is_not_a_method_is_refused(settings, words):
    """One sentence with the choices."""
    with pytest.raises(LearningError, match=words):
        make_method(settings)
