"""The machine of a host with malicious clients."""

import numpy as np

from protocol.codec import Envelope
from protocol.letters import Abstain, Confide, Instruct
from protocol.machine import Arrived, Began, Record, Say
from protocol.malice import Malice, MaliciousParticipation
from protocol.messages import AS_IT_IS, COORDINATOR, EVERYONE, Join, Leave, Train, Update
from protocol.participation import Trained

THETA = np.array([0.5, -0.5])


def even(number):
    """On in even rounds."""
    return number % 2 == 0


def host(**malice):
    """A host with clients 3, 4 and 5, of which 4 and 5 are in a plot of even rounds."""
    machine = MaliciousParticipation(np.array([3, 4, 5]), 2, 77, Malice(np.array([4, 5]), even, **malice))
    machine.step(Began(0.0))
    return machine


def hear(machine, message):
    """A message of the coordinator arrives; what the host says to it."""
    did = machine.step(Arrived(1.0, COORDINATOR, Envelope(message, 42, 0, 100)))
    return [one.message for one in did if isinstance(one, Say)], did


def train(machine, number, clients=EVERYONE):
    """The host is asked and trains: client k's model is (k, k)."""
    hear(machine, Train(number, THETA, clients, 0, number, 0, AS_IT_IS))
    asked = clients if len(clients) else machine.clients
    rows = asked[:, None] * np.ones(2)
    did = machine.step(Trained(2.0, rows, np.full(len(asked), 5), np.full(len(asked), 0.5)))
    return [one.message for one in did]


def test_members_confide_and_the_honest_answer_at_once():
    """Two frames: one for each."""
    update, confide = train(host(), 2)
    assert isinstance(update, Update)
    assert isinstance(confide, Confide)
    assert update.clients.tolist() == [3]
    assert (confide.clients.tolist(), confide.theta.tolist()) == ([4, 5], [[4.0, 4.0], [5.0, 5.0]])


def test_while_the_plot_is_off_everybody_is_honest():
    """One frame with everyone."""
    (update,) = train(host(), 1)
    assert update.clients.tolist() == [3, 4, 5]


def test_members_send_what_they_are_told():
    """The adversary's models, with their own interactions."""
    machine = host()
    train(machine, 2, np.array([4, 5]))
    (update,), did = hear(machine, Instruct(2, np.array([4, 5]), np.full((2, 2), -1.0)))
    assert isinstance(did[0], Record)
    assert (update.clients.tolist(), update.theta.tolist()) == ([4, 5], [[-1.0, -1.0]] * 2)
    assert update.interactions.tolist() == [5, 5]
    answers, did = hear(machine, Instruct(2, np.array([4, 5]), np.full((2, 2), -1.0)))
    assert (answers, did[0].event) == ([], "frame.refused")


def test_without_an_adversary_members_are_honest_or_silent():
    """As the scenario says."""
    honest, silent = host(), host(silent=True)
    for machine in (honest, silent):
        train(machine, 2, np.array([4]))
    (update,), _ = hear(honest, Instruct(2, np.array([4]), np.empty((0, 2))))
    assert update.theta.tolist() == [[4.0, 4.0]]
    (abstain,), _ = hear(silent, Instruct(2, np.array([4]), np.empty((0, 2))))
    assert isinstance(abstain, Abstain)
    assert (abstain.round, abstain.clients.tolist()) == (2, [4])


def test_an_instruction_for_another_round_or_client_is_refused():
    """What was confided in round 2 is over when round 4 is under way."""
    machine = host()
    train(machine, 2)
    train(machine, 4, np.array([4]))
    for number, client in ((2, 4), (4, 5), (6, 4)):
        answers, did = hear(machine, Instruct(number, np.array([client]), np.zeros((1, 2))))
        assert (answers, did[0].event) == ([], "frame.refused")


def test_a_host_that_waits_for_the_adversary_says_that_it_is_there():
    """So that whatever was lost is asked for again."""
    machine = host()
    train(machine, 2)
    assert machine.wake_at == 3.0


def test_rogues_send_what_they_may_not_and_their_honest_update():
    """Before it what needs an open round, after it what repeats it; in their rounds only."""

    def names(kind, number=2):
        machine = host(rogues={3: (kind, even)}, stranger=9, victim="ann")
        train(machine, 1, np.array([3]))
        return train(machine, number, np.array([3]))

    assert [type(one) for one in names("update_twice")] == [Update, Update]
    assert [one.round for one in names("replay_update")] == [2, 1]
    other, own = names("update_for_another")
    assert (other.clients.tolist(), own.clients.tolist()) == ([9], [3])
    assert other.theta.tolist() == own.theta.tolist()
    rejoin, _ = names("rejoin_as_another")
    assert isinstance(rejoin, Join)
    assert (rejoin.clients.tolist(), rejoin.pid) == ([9], 77)
    leave, _ = names("false_leave")
    assert isinstance(leave, Leave)
    assert leave.clients == ("ann",)
    assert len(names("false_leave", number=3)) == 1
