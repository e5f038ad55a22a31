"""The roster of a run against a naive model of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.membership import RESERVED, Membership
from protocol.messages import Enrol

HOSTS = {"a": [0], "b": [1, 2]}


def roster():
    """Three clients on two hosts; client k is called ck and has k + 1 interactions."""
    hosts = {host: np.array(own) for host, own in HOSTS.items()}
    return Membership(["c0", "c1", "c2"], hosts, np.array([1, 2, 3]))


def enrol(host, *clients, **changes):
    """A right enrolment but for the changes."""
    right = {
        "host": host,
        "key": "",
        "clients": clients,
        "clicks": ("perfect",) * len(clients),
        "attacks": ("",) * len(clients),
        "interactions": np.full(len(clients), 7),
        "by": "ann",
    }
    return Enrol(**(right | changes))


class Naive:
    """For each client its host and the rounds [since, until) in which it takes part; nothing is remembered but that."""

    def __init__(self):
        self.host = {"c0": "a", "c1": "b", "c2": "b"}
        self.since = dict.fromkeys(self.host, 0)
        self.until = dict.fromkeys(self.host, np.inf)

    def active(self, now):
        """Who takes part in a round."""
        return [one for one in self.host if self.since[one] <= now < self.until[one]]

    def stays(self, client, now):
        """Whether a client takes part or will, and nobody has asked it to leave."""
        return client in self.host and max(self.since[client], now) < self.until[client] == np.inf

    def holds(self, host, now):
        """Whether a client of a host takes part now or will."""
        return any(own == host and max(self.since[one], now) < self.until[one] for one, own in self.host.items())

    def turn(self, now):
        """If nobody is left, those who are to come come now."""
        early = [one for one in self.host if now < self.since[one] < self.until[one]]
        if self.active(now) or not early:
            return []
        self.since |= dict.fromkeys(early, now)
        return early


actions = st.lists(
    st.one_of(
        st.tuples(st.just("turn")),
        st.tuples(st.just("enrol"), st.integers(1, 3), st.integers(0, 3)),
        st.tuples(st.just("leave"), st.integers(0, 20), st.booleans()),
    ),
    max_size=40,
)


@given(actions)
def test_membership_is_intervals_of_rounds(actions):
    """Whatever comes and goes: who is active, needed, known, and with which numbers, is what the intervals say."""
    members, naive, now = roster(), Naive(), 1
    for action, *how in actions:
        match action, how:
            case "turn", []:
                now += 1
                assert members.turn(now) == naive.turn(now)
            case "enrol", [count, later]:
                host = f"host-{len(naive.host)}"
                new = [f"c{len(naive.host) + place}" for place in range(count)]
                members.enrol(host, new, np.arange(count) + 10, now + 1 + later)
                naive.host |= dict.fromkeys(new, host)
                naive.since |= dict.fromkeys(new, now + 1 + later)
                naive.until |= dict.fromkeys(new, np.inf)
            case "leave", [place, later]:
                client = list(naive.host)[place % len(naive.host)]
                if not naive.stays(client, now):
                    continue
                first = now + 1 if later and naive.since[client] <= now else now
                members.leave(client, first, now)
                naive.until[client] = first
        names = list(naive.host)
        assert members.clients == names
        assert len(members) == len(names) == len(members.interactions) == len(members.active)
        assert members.names(np.flatnonzero(members.active)) == naive.active(now)
        leaving = [one for one in naive.active(now) if naive.stays(one, now)]
        assert members.names(np.flatnonzero(members.needed)) == leaving
        for number, client in enumerate(names):
            assert client in members
            assert members.number_of(client) == number
            assert members.host_of(client) == naive.host[client]
            assert members.stays(client) == naive.stays(client, now)
        for host in dict.fromkeys(naive.host.values()):
            own = [one for one in names if naive.host[one] == host]
            assert members.names(members.hosts[host]) == own
            assert members.names(members.numbers(host)) == [one for one in own if one in naive.active(now)]
            assert members.holds(host) == naive.holds(host, now)
            assert members.needs(host) == any(naive.stays(one, now) for one in own)


def test_new_clients_get_the_next_numbers_and_bring_their_interactions():
    """Numbers are appended, never given again."""
    members = roster()
    members.enrol("d", ["c3", "c4"], np.array([9, 8]), 2)
    members.leave("c0", 1, 1)
    members.enrol("e", ["c5"], np.array([6]), 2)
    assert members.hosts["d"].tolist() == [3, 4]
    assert members.hosts["e"].tolist() == [5]
    assert members.interactions.tolist() == [1, 2, 3, 9, 8, 6]


def test_a_number_that_nobody_has_stands_for_itself():
    """What a hostile frame names can be logged."""
    assert roster().names(np.array([-1, 1, 3, 2**62])) == ["-1", "c1", "3", str(2**62)]


def test_a_stranger_takes_no_part():
    """Unknown names are no members."""
    members = roster()
    assert "c9" not in members
    assert not members.stays("c9")


REFUSED = {
    "a host's name that is taken": enrol("a", "c9"),
    "a client's name as the host's": enrol("c1", "c9"),
    "a client that is there": enrol("d", "c9", "c1"),
    "a host's name as a client's": enrol("d", "b"),
    **{f"the {name}'s name": enrol(name, "c9") for name in RESERVED},
    "nobody": enrol("d"),
    "a client twice": enrol("d", "c9", "c9"),
    "too few interactions": enrol("d", "c8", "c9", interactions=np.array([7])),
    "too few click models": enrol("d", "c8", "c9", clicks=("perfect",)),
    "no interactions": enrol("d", "c9", interactions=np.array([0])),
    "negative interactions": enrol("d", "c8", "c9", interactions=np.array([1, -1])),
}


@pytest.mark.parametrize("message", REFUSED.values(), ids=REFUSED)
def test_an_enrolment_that_cannot_be_is_told_in_a_sentence(message):
    """It says what must hold and what came."""
    assert "got" in roster().problem(message)


def test_an_enrolment_that_can_be_has_no_problem():
    """A host of one client may be called as its client."""
    assert roster().problem(enrol("c9", "c9")) == ""
    assert roster().problem(enrol("d", "c8", "c9")) == ""


def test_the_name_of_a_client_that_left_stays_taken():
    """The log could not tell the two apart."""
    members = roster()
    members.leave("c0", 1, 1)
    assert "c0" in members.problem(enrol("d", "c0"))
