"""What can be said on the wire: one frozen dataclass a message.

Each class tells who sends it, when, and what answers it (`docs/protocol.md` shows these sentences). Fields are declared
with `wire(kind, meaning)`; the codec checks every arriving field against its kind, so that a machine meets only
well-formed messages. Clients are named by their number in the run's roster; `Train.clients` and `Update.clients` are
arrays, because one frame carries all clients of a host.
"""

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from protocol.letters import Abstain, Attend, Brief, Confide, Craft, Instruct
from protocol.message import Floats, Integers, Message, wire

__all__ = [
    "ADVERSARY",
    "AS_IT_IS",
    "COORDINATOR",
    "EVERYONE",
    "MESSAGES",
    "OPERATOR",
    "SUPERVISOR",
    "Answer",
    "Cue",
    "Disturb",
    "Enrol",
    "Finish",
    "Heal",
    "Join",
    "Leave",
    "Lost",
    "Message",
    "Order",
    "Progress",
    "Ready",
    "Shares",
    "Stop",
    "TopUp",
    "Train",
    "Trial",
    "Update",
    "Welcome",
    "kinds",
]

COORDINATOR = "coordinator"
ADVERSARY = "adversary"
SUPERVISOR = "supervisor"
OPERATOR = "operator"

EVERYONE: Integers = np.empty(0, dtype=np.int64)
"""In `Train.clients`: all the clients of the host that receives it, so that one frame serves every host."""
EVERYONE.flags.writeable = False
AS_IT_IS: Floats = np.empty(0)
"""In `Train.norms`: no client changes the length of what it learned."""
AS_IT_IS.flags.writeable = False


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
    promised: int = wire("integer", "how many noise shares make the whole noise; 0: clients add none")
    draws: int = wire("integer", "the number of the random streams to use; the round itself in training")
    most: int = wire("integer", "interactions of a client at most; 0: as many as it has in training")
    norms: Floats = wire("vector", "by client number, the length that its change is to have; empty: as it is")


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
    promised: int = wire("integer", "as many shares as the question said: each model has noise as one of them")


@dataclass(frozen=True, slots=True, eq=False)
class TopUp(Message):
    """Some noise shares of the round will not come: give noise in their place, before the round closes.

    Asked of clients whose updates are here. If one of them is lost before it has given, the rest are asked anew.
    """

    name: ClassVar[str] = "topup"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "host"
    answer: ClassVar[str] = "shares"

    round: int = wire("integer", "the open round")
    clients: Integers = wire("integers", "who of this host is asked")
    promised: int = wire("integer", "how many noise shares make the whole noise")
    lacking: int = wire("integer", "how many of them will not come")
    givers: int = wire("integer", "how many clients replace them together")


@dataclass(frozen=True, slots=True, eq=False)
class Shares(Message):
    """Noise in the place of shares that will not come, one row a client, to be added to its model."""

    name: ClassVar[str] = "shares"
    sender: ClassVar[str] = "host"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the round it answers")
    clients: Integers = wire("integers", "whose rows these are, int64[n]")
    promised: int = wire("integer", "as the question said")
    lacking: int = wire("integer", "as the question said")
    givers: int = wire("integer", "as the question said")
    noise: Floats = wire("matrix", "the noise, float64[n, d]")


@dataclass(frozen=True, slots=True, eq=False)
class Trial(Message):
    """How well the model did with a push one way and the other, one row a client: what clients of es answer.

    Nothing else of a client crosses the wire: no weights, no clicks, and not what its users saw.
    """

    name: ClassVar[str] = "trial"
    sender: ClassVar[str] = "host"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the round it answers")
    clients: Integers = wire("integers", "whose rows these are, int64[n]")
    seeds: Integers = wire("integers", "the seed of each client's direction, below 2^53, int64[n]")
    fitness: Floats = wire("matrix", "f⁺ and f⁻, what the metric was on average either way, float64[n, 2]")


@dataclass(frozen=True, slots=True, eq=False)
class Finish(Message):
    """The run is over, or all clients of the host have left; the host answers by ending."""

    name: ClassVar[str] = "finish"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "host"
    answer: ClassVar[str] = ""

    reason: str = wire("text", "why: completed, stopped, aborted or left")


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
    last: int = wire("integer", "the run's last round, as far as known")
    present: int = wire("integer", "hosts that are here")
    waiting: tuple[str, ...] = wire("names", "hosts that the open round waits for in vain; empty while all goes well")
    outcome: str = wire("text", "empty while the run goes on, then completed, stopped or aborted")
    reason: str = wire("text", "why the run was stopped or aborted")


@dataclass(frozen=True, slots=True, eq=False)
class Cue(Message):
    """A round of the timeline is about to open: do what is due before it."""

    name: ClassVar[str] = "cue"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "supervisor"
    answer: ClassVar[str] = "ready"

    round: int = wire("integer", "the round that waits")


@dataclass(frozen=True, slots=True, eq=False)
class Ready(Message):
    """What was due is done: open the round as soon as these hosts are here."""

    name: ClassVar[str] = "ready"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the round that waits")
    hosts: tuple[str, ...] = wire("names", "hosts that were started and must have joined, unless they are lost")


@dataclass(frozen=True, slots=True, eq=False)
class Enrol(Message):
    """Take the clients of a new host in, from the next round on."""

    name: ClassVar[str] = "enrol"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    host: str = wire("text", "the host's name")
    key: str = wire("text", "the host's public CURVE key, Z85; empty where there are no keys")
    clients: tuple[str, ...] = wire("names", "the new clients' ids")
    clicks: tuple[str, ...] = wire("names", "the click model of each, for the log")
    attacks: tuple[str, ...] = wire("names", "the attack of each, for the log; empty for honest clients")
    interactions: Integers = wire("integers", "the interactions of each, a round")
    by: str = wire("text", "who asked for it")


@dataclass(frozen=True, slots=True, eq=False)
class Leave(Message):
    """Let clients leave the federation: they are not asked from the next round on, and are forgotten if they want."""

    name: ClassVar[str] = "leave"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    clients: tuple[str, ...] = wire("names", "the clients' ids")
    by: str = wire("text", "who asked for it")
    forget: str = wire("text", "how they are to be forgotten, a method and its settings as JSON; empty: not at all")


@dataclass(frozen=True, slots=True, eq=False)
class Disturb(Message):
    """Treat the frames between the coordinator and these hosts badly from now on."""

    name: ClassVar[str] = "disturb"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    fault: str = wire("text", "what to call it when it is healed")
    what: str = wire("text", "delay, drop, duplicate, reorder, corrupt, partition or throttle")
    hosts: tuple[str, ...] = wire("names", "the hosts whose frames are hit")
    settings: str = wire("text", "how, as JSON: probability, seconds, distribution, rate, seed")


@dataclass(frozen=True, slots=True, eq=False)
class Heal(Message):
    """A fault of the network is over."""

    name: ClassVar[str] = "heal"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    fault: str = wire("text", "which one")


@dataclass(frozen=True, slots=True, eq=False)
class Order(Message):
    """What a person at another terminal wants of a live run."""

    name: ClassVar[str] = "order"
    sender: ClassVar[str] = "operator"
    recipient: ClassVar[str] = "supervisor"
    answer: ClassVar[str] = "answer"

    verb: str = wire("text", "kill, pause, unpause, restart, add, leave, stop or ps")
    whom: tuple[str, ...] = wire("names", "ids, roles or fractions")
    settings: str = wire("text", "the rest, as JSON")
    by: str = wire("text", "who asks")


@dataclass(frozen=True, slots=True, eq=False)
class Answer(Message):
    """What became of an order."""

    name: ClassVar[str] = "answer"
    sender: ClassVar[str] = "supervisor"
    recipient: ClassVar[str] = "operator"
    answer: ClassVar[str] = ""

    fine: int = wire("integer", "1 if it was done, 0 if not")
    lines: tuple[str, ...] = wire("names", "what was done, or why not; for ps one JSON object a node")


_ALL = (
    Join, Welcome, Train, Update, Trial, TopUp, Shares, Finish, Lost, Stop, Progress, Cue, Ready, Enrol, Leave, Disturb,
    Heal, Order, Answer, Confide, Attend, Brief, Craft, Instruct, Abstain,
)  # fmt: skip
MESSAGES: dict[str, type[Message]] = {one.name: one for one in _ALL}
"""Every message by its name on the wire."""


def kinds(message: type[Message]) -> dict[str, str]:
    """The message's fields in order, each with its kind on the wire."""
    return {one.name: one.metadata["kind"] for one in fields(message)}
