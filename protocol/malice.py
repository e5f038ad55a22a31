"""The machine of a host with malicious clients: some ask an adversary what to send, some send what they may not.

Its honest clients answer as those of any other host. What members of a plot learned goes to the adversary first; what
comes back is their update. Without an adversary they send what they learned, or nothing, as the scenario says.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from protocol.errors import Refusal
from protocol.letters import Abstain, Confide, Instruct
from protocol.machine import Arrived, Handler, Instruction, Say, received, refused
from protocol.message import Floats, Integers
from protocol.messages import COORDINATOR, Update
from protocol.mischief import MISCHIEF, Rogue
from protocol.participation import Participation, State, Trained

__all__ = ["Malice", "MaliciousParticipation"]


@dataclass(frozen=True, slots=True)
class Malice:
    """What a host's clients are up to.

    members   the numbers of those in the plot
    is_on     whether the plot is on in a round
    silent    whether members send nothing while there is no adversary; else what they learned
    rogues    those who send frames that they may not, by number: the attack's name, and whether it is on in a round
    stranger  the number of a client on no host or on another one
    victim    the name of a client that rogues wish away
    """

    members: Integers
    is_on: Callable[[int], bool]
    silent: bool = False
    rogues: Mapping[int, tuple[str, Callable[[int], bool]]] = field(default_factory=dict)
    stranger: int = 0
    victim: str = ""


class MaliciousParticipation(Participation):
    """The run as a host with malicious clients sees it."""

    def __init__(self, clients: Integers, dimension: int, pid: int, malice: Malice) -> None:
        super().__init__(clients, dimension, pid)
        self._malice = malice
        self._secret: Update | None = None  # what members learned in the round in which they wait for the adversary
        self._earlier: dict[int, Update] = {}  # the last update of each rogue

    def _trained(self, stimulus: Trained) -> list[Instruction]:
        """Answer for the honest clients; let members ask the adversary, and rogues send what they may not."""
        number, asked = self._asked
        whole = Update(number, asked, stimulus.theta, stimulus.interactions, stimulus.online, self._promised)
        secret = np.isin(asked, self._malice.members) & self._malice.is_on(number)
        self.state, self._spoke, self._secret = State.READY, stimulus.now, None
        did: list[Instruction] = []
        if not secret.all():
            sent = _rows(whole, ~secret) if secret.any() else whole
            early, late = self._misbehave(sent)
            did += [*early, Say((COORDINATOR,), sent, self._question), *late]
        if secret.any():
            self._secret = own = _rows(whole, secret)
            did.append(Say((COORDINATOR,), Confide(number, own.clients, own.theta), self._question))
        return did

    def _instructed(self, stimulus: Arrived) -> list[Instruction]:
        """Send what the adversary decided; without one, what members learned, or that they send nothing."""
        instruct, secret = stimulus.envelope.message, self._secret
        assert isinstance(instruct, Instruct)
        if secret is None or instruct.round != secret.round or not np.isin(instruct.clients, secret.clients).all():
            return [refused(stimulus, Refusal.NOT_ASKED, f"nothing was confided for round {instruct.round}")]
        self._secret, self._spoke = None, stimulus.now
        own = _rows(secret, np.isin(secret.clients, instruct.clients))
        if len(instruct.theta):
            answer: Update | Abstain = _sending(own, np.array(instruct.theta))
        else:
            answer = Abstain(own.round, own.clients) if self._malice.silent else own
        return [received(stimulus), Say((COORDINATOR,), answer, stimulus.envelope.id)]

    def _misbehave(self, sent: Update) -> tuple[list[Instruction], list[Instruction]]:
        """Frames that rogues may not send: those before and those after the update that theirs are in."""
        early: list[Instruction] = []
        late: list[Instruction] = []
        malice = self._malice
        for place, number in enumerate(sent.clients.tolist()):
            kind, is_on = malice.rogues.get(number, ("", bool))
            if not kind:
                continue
            own = _rows(sent, np.arange(len(sent.clients)) == place)
            if is_on(sent.round):
                earlier = self._earlier.get(number)
                rogue = Rogue(own, earlier, malice.stranger, malice.victim, self.pid)
                mischief = MISCHIEF[kind]
                into = early if mischief.first else late
                into += [Say((COORDINATOR,), frame) for frame in mischief.frames(rogue)]
            self._earlier[number] = own
        return early, late

    transitions: ClassVar[dict[tuple[StrEnum, type], Handler]] = {
        **Participation.transitions,
        (State.TRAINING, Trained): _trained,
        (State.READY, Instruct): _instructed,
    }


def _rows(update: Update, which: np.ndarray) -> Update:
    """An update of some of its clients."""
    return replace(
        update,
        clients=update.clients[which],
        theta=update.theta[which],
        interactions=update.interactions[which],
        online=update.online[which],
    )


def _sending(update: Update, theta: Floats) -> Update:
    """The update with other models in it."""
    return replace(update, theta=theta)
