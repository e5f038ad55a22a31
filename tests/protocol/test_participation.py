"""The host's machine: joins, trains when asked, joins again after a second of silence."""

import numpy as np
import pytest

from protocol.codec import Envelope
from protocol.errors import Refusal
from protocol.machine import Arrived, Began, Quit, Record, Say, TimeCame
from protocol.messages import AS_IT_IS, COORDINATOR, EVERYONE, Finish, Join, Train, Update, Welcome
from protocol.participation import JOIN_EVERY, LocalTraining, Participation, Trained

THETA = np.array([0.5, -0.5])


@pytest.fixture
def host():
    """A host with clients 3, 4 and 5 that has joined at second 10."""
    machine = Participation(np.array([3, 4, 5]), 2, pid=77)
    (say,) = machine.step(Began(10.0))
    assert isinstance(say, Say)
    assert say.peers == (COORDINATOR,)
    assert isinstance(say.message, Join)
    assert (say.message.clients.tolist(), say.message.pid) == ([3, 4, 5], 77)
    return machine


def hear(machine, message, now=10.0, number=42):
    """A message of the coordinator arrives."""
    return machine.step(Arrived(now, COORDINATOR, Envelope(message, number, 0, 100)))


def trained(now, count, value=1.0):
    """The result of a training of so many clients."""
    return Trained(now, np.full((count, 2), value), np.full(count, 5), np.full(count, 0.5))


def test_a_host_that_hears_nothing_joins_every_second(host):
    """Its first join may have been lost on the way."""
    assert host.wake_at == 10.0 + JOIN_EVERY
    (say,) = host.step(TimeCame(11.0))
    assert isinstance(say.message, Join)
    assert host.wake_at == 11.0 + JOIN_EVERY
    assert host.state == "joining"


def test_a_welcome_makes_it_ready_and_a_second_changes_nothing(host):
    """Welcomes answer each join."""
    for _ in range(2):
        (record,) = hear(host, Welcome(0))
        assert (record.event, host.state) == ("welcome.received", "ready")


@pytest.mark.parametrize("welcomed", [True, False])
@pytest.mark.parametrize(("clients", "expected"), [([], [3, 4, 5]), ([4], [4]), ([3, 5], [3, 5])])
def test_it_trains_whom_it_is_asked_for_and_answers(host, welcomed, clients, expected):
    """Nobody named is everybody; the answer has the question's round and names its id; the welcome may be missing."""
    if welcomed:
        hear(host, Welcome(0))
    record, training = hear(host, Train(8, THETA, np.array(clients, dtype=np.int64), 3, 8, 0, AS_IT_IS))
    assert record.event == "train.received"
    assert isinstance(training, LocalTraining)
    assert (training.round, training.theta is THETA, training.clients.tolist()) == (8, True, expected)
    assert (host.state, host.wake_at) == ("training", None)
    (say,) = host.step(trained(15.0, len(expected)))
    update = say.message
    assert isinstance(update, Update)
    assert (say.peers, say.answers) == ((COORDINATOR,), 42)
    assert (update.round, update.clients.tolist(), update.theta.shape) == (8, expected, (len(expected), 2))
    assert (host.state, host.wake_at) == ("ready", 15.0 + JOIN_EVERY)


def test_the_same_question_is_answered_again(host):
    """The first answer may have been lost; it keeps no memory of what it said."""
    for _ in range(2):
        (_, training) = hear(host, Train(8, THETA, EVERYONE, 0, 8, 0, AS_IT_IS))
        assert training.round == 8
        host.step(trained(15.0, 3))


def test_a_ready_host_joins_again_after_a_second_of_silence(host):
    """So that whoever is owed work is given it."""
    hear(host, Welcome(0))
    (say,) = host.step(TimeCame(11.5))
    assert isinstance(say.message, Join)
    assert (host.state, host.wake_at) == ("ready", 12.5)


@pytest.mark.parametrize("clients", [[2], [3, 6], [-1], [3, 4, 5, 6]])
def test_work_for_others_clients_is_refused(host, clients):
    """And the host is as ready as before."""
    (record,) = hear(host, Train(1, THETA, np.array(clients), 0, 1, 0, AS_IT_IS))
    assert isinstance(record, Record)
    assert (record.event, record.fields["reason"]) == ("frame.refused", Refusal.NOT_YOURS)
    assert host.state == "joining"


@pytest.mark.parametrize("dimension", [0, 1, 3])
def test_a_model_of_another_dimension_is_refused(host, dimension):
    """The host knows its ranker."""
    (record,) = hear(host, Train(1, np.zeros(dimension), EVERYONE, 0, 1, 0, AS_IT_IS))
    assert record.fields["reason"] is Refusal.WRONG_DIMENSION
    assert f"d = 2, got ({dimension},)" in record.fields["detail"]


def test_the_end_is_the_end(host):
    """Finish is logged with its reason and ends the node."""
    record, last = hear(host, Finish("stopped"))
    assert (record.event, record.fields["reason"], last) == ("finish.received", "stopped", Quit("stopped"))
    assert (host.state, host.wake_at) == ("finished", None)
