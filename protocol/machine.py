"""What the machines have in common: a stimulus in, instructions out, transitions in a table.

Rules: a machine does no I/O, reads no clock and draws no random number; time and everything random arrive inside
stimuli. `step` is the only thing that changes a machine. A message that the table has no transition for is the peer's
mistake: it is refused, which the log shows. Any other stimulus without a transition is ours: `TransitionError`, and the
machine is as it was.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from protocol.codec import Envelope
from protocol.errors import REFUSALS, Refusal, TransitionError
from protocol.messages import Message

__all__ = [
    "Arrived",
    "Began",
    "Instruction",
    "Machine",
    "Quit",
    "Record",
    "Say",
    "Stimulus",
    "TimeCame",
    "among",
    "received",
    "refused",
]

_STORY = 8  # stimuli remembered for the message of a TransitionError


@dataclass(frozen=True, slots=True)
class Stimulus:
    """Something that happened; `now` is the shell's clock in seconds."""

    now: float


@dataclass(frozen=True, slots=True)
class Began(Stimulus):
    """The node is set up."""


@dataclass(frozen=True, slots=True)
class TimeCame(Stimulus):
    """The time that `wake_at` asked for has come."""


@dataclass(frozen=True, slots=True)
class Arrived(Stimulus):
    """A well-formed message came from a peer whose name the transport vouches for."""

    peer: str
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Instruction:
    """Something for the shell to do."""


@dataclass(frozen=True, slots=True)
class Say(Instruction):
    """Log that the message is sent, then send it; `answers` is the id of the message that asked for it (0: none)."""

    peers: tuple[str, ...]
    message: Message
    answers: int = 0
    tells: dict[str, Any] = field(default_factory=dict)  # what the log says of the content


@dataclass(frozen=True, slots=True)
class Record(Instruction):
    """Append an event to the log."""

    event: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Quit(Instruction):
    """The node's work is over."""

    outcome: str


Handler = Callable[[Any, Any], list[Instruction]]


class Machine(ABC):
    """A transition table with a state; subclasses hold what the next step needs."""

    role: ClassVar[str]
    initial: ClassVar[StrEnum]
    transitions: ClassVar[dict[tuple[StrEnum, type], Handler]]

    def __init__(self) -> None:
        self.state = self.initial
        self._story: deque[str] = deque(maxlen=_STORY)

    @property
    def wake_at(self) -> float | None:
        """When the machine wants a `TimeCame`, if nothing happens before."""
        return None

    @abstractmethod
    def role_of(self, peer: str) -> str:
        """The role in which a peer speaks; a message from another role than its own is refused."""

    def step(self, stimulus: Stimulus) -> list[Instruction]:
        """Change the state by one stimulus; what the shell is to do now, in order."""
        if isinstance(stimulus, Arrived):
            message = stimulus.envelope.message
            handler = self.transitions.get((self.state, type(message)))
            if handler is None or message.sender != self.role_of(stimulus.peer):
                detail = f"{message.name} from {stimulus.peer} in state {self.state}"
                return [refused(stimulus, Refusal.UNEXPECTED, detail)]
            self._story.append(message.name)
            return handler(self, stimulus)
        handler = self.transitions.get((self.state, type(stimulus)))
        if handler is None:
            raise TransitionError(self.role, self.state, type(stimulus).__name__, list(self._story))
        self._story.append(type(stimulus).__name__)
        return handler(self, stimulus)


def among(clients: NDArray[np.int64], own: NDArray[np.int64]) -> bool:
    """Whether all these clients are a host's own; mostly they are just its own, which is quick to see."""
    return (clients.shape == own.shape and bool((clients == own).all())) or bool(np.isin(clients, own).all())


def received(stimulus: Arrived, **fields: Any) -> Record:
    """The record of a message that was accepted."""
    return Record(f"{stimulus.envelope.message.name}.received", wire_fields(stimulus) | fields)


def refused(stimulus: Arrived, reason: Refusal, detail: str, clients: Sequence[str] | None = None) -> Record:
    """The record of a message that was not accepted: an update's names its clients."""
    fields = wire_fields(stimulus) | {"reason": reason, "detail": f"{REFUSALS[reason]}: {detail}"}
    if clients is None:
        return Record("frame.refused", fields)
    return Record("update.refused", fields | {"clients": clients})


def wire_fields(stimulus: Arrived) -> dict[str, Any]:
    """What the log says of every message that arrives."""
    envelope = stimulus.envelope
    fields: dict[str, Any] = {
        "direction": "received",
        "message": envelope.message.name,
        "peers": [stimulus.peer],
        "id": envelope.id,
        "bytes": envelope.size,
    }
    number = getattr(envelope.message, "round", None)
    return fields if number is None else {"round": number} | fields
