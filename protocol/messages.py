"""What can be said on the wire: one frozen dataclass a message.

Each class tells who sends it, when, and what answers it (`docs/protocol.md` shows these sentences). Fields are declared
with `wire(kind, meaning)`; the codec checks every arriving field against its kind, so that a machine meets only
well-formed messages. Clients are named by their number in the run's roster; `Train.clients` and `Update.clients` are
arrays, because one frame carries all clients of a host.
"""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COORDINATOR",
    "EVERYONE",
    "MESSAGES",
    "SUPERVISOR",
    "Finish",
    "Join",
    "Lost",
    "Message",
    "Progress",
    "Stop",
    "Train",
    "Update",
    "Welcome",
    "kinds",
]

COORDINATOR = "coordinator"
SUPERVISOR = "supervisor"

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

EVERYONE: Integers = np.empty(0, dtype=np.int64)
"""In `Train.clients`: all the clients of the host that receives it, so that one frame serves every host."""
EVERYONE.flags.writeable = False


def wire(kind: str, meaning: str) -> Any:
    """Declare a field of a message: its kind on the wire (see `codec.KINDS`) and what it means."""
    return field(metadata={"kind": kind, "meaning": meaning})


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """The root of all messages: what the wire and the log call it, who sends it to whom, and what answers it."""

    name: ClassVar[str]
    sender: ClassVar[str]
    recipient: ClassVar[str]
    answer: ClassVar[str]


@dataclass(frozen=True, slots=True, eq=False)
class Join(Message):
    """I am here with these clients: said at the start, and again after each second of silence.

    Saying it twice changes nothing, but whoever is owed work is given it again: a host that comes back, and one whose
    question or answer was lost on the way, need no other message.
    """

    name: ClassVar[str] = "join"
    sender: ClassVar[str] = "host"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = "welcome"

    clients: Integers = wire("integers", "the numbers of the clients that live on this host")
    pid: int = wire("integer", "the host's process; a new one takes the place of one that died")


@dataclass(frozen=True, slots=True, eq=False)
class Welcome(Message):
    """You are enrolled: the coordinator's answer to a join."""

    name: ClassVar[str] = "welcome"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "host"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the last closed round")


@dataclass(frozen=True, slots=True, eq=False)
class Train(Message):
    """Do your local interactions from this model: opens a round, or asks again for what is missing."""

    name: ClassVar[str] = "train"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "host"
    answer: ClassVar[str] = "update"

    round: int = wire("integer", "the round, from 1; its models are `round - 1` before and `round` after")
    theta: Floats = wire("vector", "the model to start from, float64[d]")
    clients: Integers = wire("integers", "who of this host is asked; empty: all of them")


@dataclass(frozen=True, slots=True, eq=False)
class Update(Message):
    """What the clients of a host learned in a round, one row a client."""

    name: ClassVar[str] = "update"
    sender: ClassVar[str] = "host"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the round it answers")
    clients: Integers = wire("integers", "whose rows these are, int64[n]")
    theta: Floats = wire("matrix", "the local models, float64[n, d]")
    interactions: Integers = wire("integers", "how many interactions each client had, int64[n]")
    online: Floats = wire("vector", "each client's mean online nDCG@10 in this round, float64[n]")


@dataclass(frozen=True, slots=True, eq=False)
class Finish(Message):
    """The run is over; the host answers by ending."""

    name: ClassVar[str] = "finish"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "host"
    answer: ClassVar[str] = ""

    reason: str = wire("text", "why: completed, stopped or aborted")


@dataclass(frozen=True, slots=True, eq=False)
class Lost(Message):
    """A host's process is dead: it is not waited for until it joins again."""

    name: ClassVar[str] = "lost"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    host: str = wire("text", "the host's name")
    pid: int = wire("integer", "the process that is dead; a join that it sent before does not bring it back")


@dataclass(frozen=True, slots=True, eq=False)
class Stop(Message):
    """End the run after the last closed round; the open one is given up."""

    name: ClassVar[str] = "stop"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = "progress"

    reason: str = wire("text", "who asked, in words")


@dataclass(frozen=True, slots=True, eq=False)
class Progress(Message):
    """How far the run is, for the console: at most ten a second, and once at the end."""

    name: ClassVar[str] = "progress"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "supervisor"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the last closed round")
    present: int = wire("integer", "hosts that are here")
    waiting: tuple[str, ...] = wire("names", "hosts that the open round waits for in vain; empty while all goes well")
    outcome: str = wire("text", "empty while the run goes on, then completed, stopped or aborted")
    reason: str = wire("text", "why the run was stopped or aborted")


MESSAGES: dict[str, type[Message]] = {
    one.name: one for one in (Join, Welcome, Train, Update, Finish, Lost, Stop, Progress)
}
"""Every message by its name on the wire."""


def kinds(message: type[Message]) -> dict[str, str]:
    """The message's fields in order, each with its kind on the wire."""
    return {one.name: one.metadata["kind"] for one in fields(message)}
