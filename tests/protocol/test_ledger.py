"""The open round's books against a naive model of them."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import Refusal
from protocol.ledger import Ledger
from protocol.membership import Membership
from protocol.messages import Update

HOSTS = {"a": [0], "b": [1, 2], "c": [3, 4, 5]}
NAMES = [f"c{number}" for number in range(6)]
BEFORE = np.array([0.5, -0.5])


def books(quorum=0.5):
    """A roster of six clients on three hosts, and its ledger."""
    members = Membership(NAMES, {host: np.array(own) for host, own in HOSTS.items()}, np.arange(1, 7))
    return members, Ledger(members, 2, quorum)


def update(clients, **changes):
    """An update of these clients, right in all but whether it may come."""
    numbers = np.array(clients, dtype=np.int64)
    right = {
        "round": 1,
        "clients": numbers,
        "theta": numbers[:, None] + np.array([0.25, 0.75]),
        "interactions": numbers + 1,
        "online": np.full(len(numbers), 0.5),
        "promised": 0,
    }
    return Update(**(right | changes))


hosts = st.sampled_from(list(HOSTS))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), hosts, st.sets(st.integers(0, 5))),
        st.tuples(st.just("ask_again"), hosts),
        st.tuples(st.just("release"), hosts),
        st.tuples(st.just("leave"), st.integers(0, 5), st.booleans()),
        st.tuples(st.just("open"), st.sets(hosts)),
    ),
    max_size=30,
)


class Books:
    """The ledger beside plain sets of clients: who takes part, was asked, has answered, is about to leave."""

    def __init__(self, quorum):
        self.members, self.ledger = books(quorum)
        self.active, self.asked, self.answered, self.leaving = set(range(6)), set(), set(), set()
        self.awaited = set()

    def open(self, hosts):
        """Another round begins."""
        self.active -= self.leaving
        self.members.turn(2)
        self.awaited = {host for host in hosts if self.active & set(HOSTS[host])}
        self.ledger.open(1, tuple(sorted(self.awaited)))
        self.asked = {one for host in self.awaited for one in HOSTS[host]} & self.active
        self.answered, self.leaving = set(), set()

    def answer(self, host, clients):
        """A host answers for any clients, its own or not."""
        problem = self.ledger.problem(host, update(sorted(clients)))
        if not clients or not clients <= set(HOSTS[host]):
            assert problem[0] is Refusal.NOT_YOURS
        elif clients & self.answered:
            assert problem[0] is Refusal.DUPLICATE
        elif not clients <= self.asked & self.active:
            assert problem[0] is Refusal.NOT_ASKED
        else:
            assert problem is None
            self.ledger.enter(host, update(sorted(clients)))
            self.answered |= clients
            self.settle(host)

    def ask_again(self, host):
        """A host speaks up."""
        owed = set(HOSTS[host]) & self.active - self.answered
        assert self.ledger.ask_again(host).tolist() == sorted(owed)
        self.asked |= owed
        self.awaited |= {host} if owed else set()

    def release(self, host):
        """A host is not waited for."""
        self.ledger.release(host)
        self.awaited.discard(host)

    def leave(self, number, later):
        """A client leaves, at once or after this round; an answer that is in the books stays there."""
        if not self.members.stays(NAMES[number]):
            return
        counted = later or number in self.answered
        self.members.leave(NAMES[number], 2 if counted else 1, 1)
        (self.leaving.add if counted else self.active.discard)(number)
        host = self.members.host_of(NAMES[number])
        self.ledger.strike(host)
        self.settle(host)

    def settle(self, host):
        """A host that owes nothing is not waited for."""
        if not (self.asked & self.active - self.answered) & set(HOSTS[host]):
            self.awaited.discard(host)


@given(steps, st.sampled_from([0.1, 0.5, 0.55, 1.0]))
def test_the_books_are_sets_of_clients(steps, quorum):
    """Who is asked, has answered and takes part, kept as plain sets, decides everything that the ledger says."""
    both = Books(quorum)
    both.open(set(HOSTS))
    for step, *how in steps:
        getattr(both, step)(*how)
        ledger, active, answered = both.ledger, both.active, both.answered
        assert ledger.awaited == both.awaited
        assert ledger.count == len(answered)
        assert ledger.complete == (active - both.leaving <= answered)
        assert ledger.quorum == max(1, ceil(Fraction(str(quorum)) * len(active)))
        assert ledger.missing() == [NAMES[one] for one in sorted(active - answered)]
        assert ledger.owing() == tuple(host for host, own in HOSTS.items() if set(own) & active - answered)
        assert [ledger.has(name) for name in NAMES] == [number in answered for number in range(6)]
        thetas, interactions, numbers = ledger.updates()
        assert numbers.tolist() == sorted(answered)
        assert ledger.participants() == [NAMES[one] for one in sorted(answered)]
        assert interactions.tolist() == [one + 1 for one in sorted(answered)]
        np.testing.assert_array_equal(thetas, update(sorted(answered)).theta)


def test_a_host_without_a_client_that_takes_part_cannot_answer_for_nobody():
    """An empty update is nobody's, though it is all that the host has."""
    members, ledger = books()
    members.leave("c0", 1, 1)
    ledger.open(1, ("b", "c"))
    assert ledger.problem("a", update([]))[0] is Refusal.NOT_YOURS


def test_a_host_that_was_enrolled_in_the_open_round_is_not_asked_in_it():
    """Its places are there, its answers are not wanted yet, and everyone else's books are as they were."""
    members, ledger = books()
    ledger.open(1, tuple(HOSTS))
    ledger.enter("b", update([1, 2]))
    members.enrol("d", ["c6"], np.array([7]), 2)
    ledger.grow()
    assert ledger.problem("d", update([6]))[0] is Refusal.NOT_ASKED
    assert len(ledger.ask_again("d")) == 0
    assert ledger.missing() == ["c0", "c3", "c4", "c5"]
    thetas, interactions, numbers = ledger.updates()
    assert (numbers.tolist(), interactions.tolist()) == ([1, 2], [2, 3])
    np.testing.assert_array_equal(thetas, update([1, 2]).theta)
    ledger.enter("a", update([0]))
    ledger.enter("c", update([3, 4, 5]))
    assert ledger.complete
    members.turn(2)
    ledger.open(2, ("a", "b", "c", "d"))
    assert ledger.problem("d", update([6])) is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200])
def test_norms_have_a_number_or_there_are_none(value):
    """The distance of each row from the model before, or nothing if one number is not finite."""
    _, ledger = books()
    np.testing.assert_allclose(ledger.change_norms(update([0]), BEFORE), [np.hypot(0.25, 1.25)], rtol=1e-15)
    assert ledger.change_norms(update([1, 2], theta=np.array([[0.0, 0.0], [value, 0.0]])), BEFORE) is None
