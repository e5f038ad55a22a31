"""What both machines promise: the table decides, the rest is refused or raised, and then nothing has changed."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from stage import START, Stage, terms

from protocol import collusion, coordination, participation
from protocol.codec import Envelope
from protocol.collusion import Collusion, Decided
from protocol.coordination import Coordination
from protocol.errors import REFUSALS, Refusal, TransitionError
from protocol.forgetting import Beginning, Recalled
from protocol.machine import Arrived, Began, Instruction, Machine, Quit, Record, Stimulus, TimeCame, among
from protocol.malice import Malice, MaliciousParticipation
from protocol.messages import (
    AS_IT_IS,
    COORDINATOR,
    MESSAGES,
    SUPERVISOR,
    Enrol,
    Finish,
    Join,
    Leave,
    Lost,
    Message,
    Shares,
    Stop,
    TopUp,
    Train,
    Update,
    Welcome,
    kinds,
)
from protocol.participation import Drawn, Trained, Tried
from protocol.terms import Aggregated

MACHINES = {"coordinator": Coordination, "host": MaliciousParticipation, "adversary": Collusion}
STATES = {"coordinator": coordination.State, "host": participation.State, "adversary": collusion.State}
ROWS = {"theta": np.zeros((1, 2)), "interactions": np.array([1]), "online": np.array([0.5])}
ANY = {
    "integer": 1,
    "text": "host-1",
    "names": ("host-1",),
    "integers": np.array([0]),
    "vector": START,
    "matrix": np.zeros((1, 2)),
}
SAID = {name: one(*(ANY[kind] for kind in kinds(one).values())) for name, one in MESSAGES.items()} | {
    one.name: one
    for one in (
        Join(np.array([0]), 1),
        Welcome(0),
        Train(1, START, np.array([0]), 0, 1, 0, AS_IT_IS),
        Update(1, np.array([0]), **ROWS, promised=0),
        TopUp(1, np.array([0]), 3, 2, 1),
        Shares(1, np.array([0]), 3, 2, 1, np.zeros((1, 2))),
        Finish("completed"),
        Lost("host-1", 1),
        Stop("enough"),
        Leave(("c3",), "ann", ""),
        Enrol("host-3", "", ("c3",), ("perfect",), ("",), np.array([4]), "ann"),
    )
}
OWN = {
    Began: Began(0.0),
    TimeCame: TimeCame(0.0),
    Aggregated: Aggregated(0.0, START, {}),
    Trained: Trained(0.0, **ROWS),
    Drawn: Drawn(0.0, np.zeros((1, 2))),
    Tried: Tried(0.0, np.array([0]), np.zeros((1, 2))),
    Decided: Decided(0.0, np.zeros((1, 2)), {}),
    Recalled: Recalled(0.0, Beginning(START, 0, 0, (), 0, calibrated=False)),
}
PEERS = {"host": "host-1", "coordinator": COORDINATOR, "supervisor": SUPERVISOR, "stranger": "host-9"}


def machine_in(role, state):  # noqa: C901 - one line a state
    """A machine that came to a state the usual way."""
    if role == "coordinator":
        cues = frozenset({1} if state == "staging" else ())
        stage = Stage(cues=cues, shares="expected", on_deficit="top-up", quorum=0.1)
        stage.begin()
        if state != "gathering":
            stage.join("host-1")
            stage.join("host-2")
        if state in ("aggregating", "topping-up"):
            stage.update("host-1")
        if state == "topping-up":
            stage.lose("host-2")
        if state == "aggregating":
            stage.update("host-2")
        if state == "finished":
            stage.stop()
        if state == "recalling":
            stage.leave(stage.machine.members.clients[0], forget='{"method": "rollback"}')
            stage.update("host-1")
            stage.update("host-2")
            stage.aggregated()
        made = stage.machine
    elif role == "adversary":
        made = Collusion(1)
        made.step(Began(0.0))
        for name in {"lurking": [], "crafting": ["brief"], "finished": ["finish"]}[state]:
            made.step(arrived(COORDINATOR, SAID[name]))
    else:
        made = MaliciousParticipation(np.array([0]), 2, 1, Malice(np.array([0]), bool))
        made.step(Began(0.0))
        way = {"joining": [], "ready": ["welcome"], "training": ["train"], "finished": ["finish"]}[state]
        for name in way:
            made.step(arrived(COORDINATOR, SAID[name]))
    assert made.state == state
    return made


def arrived(peer, message):
    """The stimulus of a message's arrival."""
    return Arrived(0.0, peer, Envelope(message, 7, 0, 100))


def snapshot(machine):
    """Everything a machine holds, as bytes."""
    return pickle.dumps(vars(machine))


PLACES = [(role, state) for role, states in STATES.items() for state in states]


@pytest.mark.parametrize(("role", "state"), PLACES)
@pytest.mark.parametrize("sender", PEERS)
@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_without_a_transition_is_refused_and_changes_nothing(role, state, name, sender):
    """Wrong state, wrong direction, wrong sender: refused as unexpected, logged, and the machine is as it was."""
    machine, message = machine_in(role, state), SAID[name]
    allowed = (state, type(message)) in machine.transitions and sender == message.sender
    before = snapshot(machine)
    did = machine.step(arrived(PEERS[sender], message))
    first = did[0]
    assert isinstance(first, Record)
    if allowed:
        assert first.fields.get("reason") != Refusal.UNEXPECTED
    else:
        assert len(did) == 1
        assert first.event == "frame.refused"
        assert first.fields["reason"] is Refusal.UNEXPECTED
        assert first.fields["detail"] == (
            f"{REFUSALS[Refusal.UNEXPECTED]}: {name} from {PEERS[sender]} in state {state}"
        )
        assert snapshot(machine) == before


@pytest.mark.parametrize(("role", "state"), PLACES)
@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.__name__)
def test_our_own_stimulus_without_a_transition_raises_and_changes_nothing(role, state, kind):
    """A TransitionError names role, state, stimulus and the story; the machine is as it was."""
    machine = machine_in(role, state)
    if (state, kind) in machine.transitions:
        if kind is Drawn:
            machine = machine_in(role, "ready")
            machine.step(arrived(COORDINATOR, SAID["topup"]))
        deepcopy(machine).step(OWN[kind])
        return
    before = snapshot(machine)
    with pytest.raises(TransitionError) as caught:
        machine.step(OWN[kind])
    sentence = str(caught.value)
    assert sentence.startswith(f"the {role} has no transition for {kind.__name__} in state {state}; story: Began")
    assert snapshot(machine) == before


def test_the_story_is_the_last_eight_stimuli():
    """The sentence of a mistake tells how the machine came there, and stays short."""
    stage = Stage().gather()
    for _ in range(20):
        stage.join("host-1")
    stage.update("host-1")
    with pytest.raises(TransitionError, match="story: " + "join -> " * 7 + "update$"):
        stage.begin()


def test_a_machine_that_never_moved_says_so():
    """The story of a new machine is empty."""
    with pytest.raises(TransitionError, match="in state gathering; story: nothing happened before"):
        Coordination(terms(), START).step(TimeCame(0.0))


@pytest.mark.parametrize(("role", "machine"), MACHINES.items())
def test_a_table_has_only_known_states_and_stimuli(role, machine):
    """Keys are the role's states with messages that are sent to it, or with stimuli that the shells give."""
    assert machine.role == role
    assert machine.initial in STATES[role]
    for state, kind in machine.transitions:
        assert state in STATES[role]
        if issubclass(kind, Message):
            assert kind.recipient == role or kind is Finish  # which the adversary hears, too
        else:
            assert kind in OWN
    told = {kind for _, kind in machine.transitions if issubclass(kind, Message)}
    assert told - {Finish} == {one for one in MESSAGES.values() if one.recipient == role} - {Finish}
    assert Finish in told or role == "coordinator"


@pytest.mark.parametrize(("role", "machine"), MACHINES.items())
def test_every_handler_has_its_sentence(role, machine):
    """The table in the documentation is made of the handlers' first sentences."""
    assert all(handler.__doc__ for handler in machine.transitions.values()), role


@pytest.mark.parametrize(("role", "state"), PLACES)
def test_a_machine_wants_to_be_woken_only_where_it_can_be(role, state):
    """`wake_at` is a time only in states that have a transition for it."""
    machine = machine_in(role, state)
    assert machine.wake_at is None or (state, TimeCame) in machine.transitions


def test_stimuli_and_instructions_are_frozen():
    """Nobody changes what was said."""
    for one in (TimeCame(1.0), Quit("completed"), Stimulus(0.0), Instruction()):
        assert type(one).__dataclass_params__.frozen
    assert all(one.__dataclass_params__.frozen for one in MESSAGES.values())


@pytest.mark.parametrize(
    ("clients", "own", "expected"),
    [([1, 2], [1, 2], True), ([2], [1, 2], True), ([2, 1], [1, 2], True), ([], [1], True), ([3], [1, 2], False)],
)
def test_among_is_the_subset_relation(clients, own, expected):
    """Order does not matter, and nobody is among everybody."""
    assert among(np.array(clients, dtype=np.int64), np.array(own)) is expected


def test_a_machine_without_a_clock_needs_none():
    """By default nothing is to be woken."""
    assert Machine.wake_at.fget(None) is None
