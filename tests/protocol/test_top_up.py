"""The books of a top-up: what is asked of whom, and which answers may be used."""

import numpy as np
import pytest

from protocol.errors import Refusal
from protocol.messages import Shares
from protocol.top_up import TopUpBook


def book():
    """Six of ten shares came; b holds clients 4 and 7, a holds 5, and they replace the other four."""
    return TopUpBook(3, 10, 4, {"b": np.array([4, 7]), "a": np.array([5])}, 2)


def shares(**changes):
    """What b should give."""
    right = {"round": 3, "clients": np.array([4, 7]), "promised": 10, "lacking": 4, "givers": 3}
    return Shares(**(right | {"noise": np.array([[1.0, 2.0], [3.0, 4.0]])} | changes))


def test_noise_is_kept_in_client_order():
    """Rows belong to the givers, rising, whoever gives first."""
    made = book()
    assert made.givers.tolist() == [4, 5, 7]
    made.enter("b", shares())
    assert not made.complete
    made.enter("a", shares(clients=np.array([5]), noise=np.array([[9.0, 9.0]])))
    assert made.complete
    assert made.noise.tolist() == [[1.0, 2.0], [9.0, 9.0], [3.0, 4.0]]


def test_the_question_is_what_a_host_owes():
    """The clients of the host, and the numbers that their noise depends on."""
    question = book().question("b")
    assert question.clients.tolist() == [4, 7]
    assert (question.round, question.promised, question.lacking, question.givers) == (3, 10, 4, 3)


@pytest.mark.parametrize(
    ("host", "changes", "reason"),
    [
        ("c", {}, Refusal.NOT_ASKED),
        ("a", {}, Refusal.NOT_YOURS),
        ("b", {"clients": np.array([4])}, Refusal.NOT_YOURS),
        ("b", {"givers": 4}, Refusal.WRONG_SHARES),
        ("b", {"lacking": 5}, Refusal.WRONG_SHARES),
        ("b", {"promised": 9}, Refusal.WRONG_SHARES),
        ("b", {"noise": np.zeros((2, 3))}, Refusal.WRONG_DIMENSION),
        ("b", {"noise": np.array([[1.0, np.nan], [0.0, 0.0]])}, Refusal.NOT_FINITE),
        ("b", {"noise": np.full((2, 2), 1e308)}, Refusal.NOT_FINITE),
    ],
)
def test_other_noise_is_refused(host, changes, reason):
    """Nobody else's, for no other question, of no other shape, no infinite numbers."""
    assert book().problem(host, shares(**changes))[0] is reason


def test_noise_that_came_already_is_refused():
    """A host gives once."""
    made = book()
    assert made.problem("b", shares()) is None
    made.enter("b", shares())
    assert made.problem("b", shares())[0] is Refusal.NOT_ASKED
