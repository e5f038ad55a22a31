"""The adversary's machine."""

import numpy as np

from protocol.codec import Envelope
from protocol.collusion import ATTEND_EVERY, Collusion, Conspire, Decided
from protocol.letters import Attend, Brief, Craft
from protocol.machine import Arrived, Began, Quit, Record, TimeCame
from protocol.messages import COORDINATOR, Finish

BRIEF = Brief(3, 5, np.zeros(2), ("ann", "bob"), np.ones((2, 2)), np.empty((0, 2)))


def hear(machine, message, peer=COORDINATOR):
    """A message arrives."""
    return machine.step(Arrived(5.0, peer, Envelope(message, 42, 0, 100)))


def test_it_says_that_it_is_there_and_again_after_each_second_of_silence():
    """So that a brief that was lost comes again."""
    machine = Collusion(7)
    (say,) = machine.step(Began(1.0))
    assert isinstance(say.message, Attend)
    assert (say.message.pid, machine.wake_at) == (7, 1.0 + ATTEND_EVERY)
    machine.step(TimeCame(2.0))
    assert machine.wake_at == 2.0 + ATTEND_EVERY


def test_it_answers_a_brief_with_what_its_members_send():
    """A row a member, in the brief's order; what the attack tells is logged."""
    machine = Collusion(7)
    machine.step(Began(1.0))
    told, conspire = hear(machine, BRIEF)
    assert (told.event, told.fields["clients"]) == ("brief.received", ["ann", "bob"])
    assert isinstance(conspire, Conspire)
    assert conspire.brief is BRIEF
    record, say = machine.step(Decided(6.0, np.full((2, 2), 4.0), {"z": 0.5}))
    assert record == Record("attack.crafted", {"round": 3, "clients": ["ann", "bob"], "attack": {"z": 0.5}})
    assert isinstance(say.message, Craft)
    assert (say.message.round, say.message.clients, say.answers) == (3, ("ann", "bob"), 42)


def test_it_ends_when_the_run_does_and_hears_only_the_coordinator():
    """A brief of anybody else is refused."""
    machine = Collusion(7)
    machine.step(Began(1.0))
    (refused,) = hear(machine, BRIEF, "mallory")
    assert refused.event == "frame.refused"
    assert hear(machine, Finish("completed"))[-1] == Quit("completed")
