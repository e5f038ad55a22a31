"""Clients that learn from poisoned clicks in some rounds."""

import numpy as np

from learning.attacks import make_attack
from learning.learners import Poisoned
from learning.learners.cohort import LocalUpdates


class Marked:
    """A learner whose clients send their place plus a mark."""

    def __init__(self, mark):
        self.mark = mark

    def train(self, theta, _round, members=None, *, most=0):
        """A row a member: its place plus the mark."""
        del most
        places = np.arange(4) if members is None else members
        return LocalUpdates(np.outer(places + self.mark, theta), places + 1, places / 10)


def test_rows_come_from_the_clients_own_users_or_from_the_poisoned_in_the_order_asked():
    """Client 1 attacks in rounds 2 and 3, client 3 always."""
    attacks = {
        1: make_attack({"kind": "poison_clicks", "start": 2, "stop": 3}),
        3: make_attack({"kind": "flipped_clicks"}),
    }
    learner = Poisoned(Marked(0), Marked(100), 4, attacks)
    one = np.ones(1)

    def rows(number, members=None):
        made = learner.train(one, number, None if members is None else np.array(members))
        assert (made.interactions - 1).tolist() == (members or [0, 1, 2, 3])
        return made.thetas[:, 0].tolist()

    assert rows(1) == [0, 1, 2, 103]
    assert rows(2) == [0, 101, 2, 103]
    assert rows(4, [1, 2]) == [1, 2]
    assert rows(3, [1, 3]) == [101, 103]
    assert rows(3, [2, 1]) == [2, 101]
