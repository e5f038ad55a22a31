"""What colluding clients and their adversary say to each other.

The coordinator's socket is the only one that a run has, so that it carries these letters: it collects what the members
confide, hands all of it over in one brief, and hands back what each member is to send. It tells no aggregation rule.
"""

from dataclasses import dataclass
from typing import ClassVar

from protocol.message import Floats, Integers, Message, wire

__all__ = ["Abstain", "Attend", "Brief", "Confide", "Craft", "Instruct"]


@dataclass(frozen=True, slots=True, eq=False)
class Confide(Message):
    """What the members on this host learned, for the adversary's eyes: their models before the attack."""

    name: ClassVar[str] = "confide"
    sender: ClassVar[str] = "host"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = "instruct"

    round: int = wire("integer", "the round")
    clients: Integers = wire("integers", "whose rows these are, int64[k]")
    theta: Floats = wire("matrix", "the local models before the attack, float64[k, d]")


@dataclass(frozen=True, slots=True, eq=False)
class Attend(Message):
    """The adversary is here: said at the start, and again after each second of silence; it is briefed again."""

    name: ClassVar[str] = "attend"
    sender: ClassVar[str] = "adversary"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = "brief"

    pid: int = wire("integer", "the adversary's process; a new one takes the place of one that died")


@dataclass(frozen=True, slots=True, eq=False)
class Brief(Message):
    """All that the adversary may know of a round: decide what each member sends."""

    name: ClassVar[str] = "brief"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "adversary"
    answer: ClassVar[str] = "craft"

    round: int = wire("integer", "the round")
    size: int = wire("integer", "n, how many clients the round is made of")
    before: Floats = wire("vector", "the model that everybody started from, float64[d]")
    clients: tuple[str, ...] = wire("names", "the m members, in client order")
    theta: Floats = wire("matrix", "their models before the attack, float64[m, d]")
    others: Floats = wire("matrix", "the honest updates of the round, float64[h, d]; h = 0 with partial knowledge")


@dataclass(frozen=True, slots=True, eq=False)
class Craft(Message):
    """What each member is to send in the place of what it learned."""

    name: ClassVar[str] = "craft"
    sender: ClassVar[str] = "adversary"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the round that the brief was about")
    clients: tuple[str, ...] = wire("names", "the members, as in the brief")
    theta: Floats = wire("matrix", "what they are to send, float64[m, d]")


@dataclass(frozen=True, slots=True, eq=False)
class Instruct(Message):
    """What the members on this host are to send, by the adversary's word; without a row there is no adversary."""

    name: ClassVar[str] = "instruct"
    sender: ClassVar[str] = "coordinator"
    recipient: ClassVar[str] = "host"
    answer: ClassVar[str] = "update"

    round: int = wire("integer", "the round")
    clients: Integers = wire("integers", "whom it is for, int64[k]")
    theta: Floats = wire("matrix", "what they are to send, float64[k, d]; no rows: decide without an adversary")


@dataclass(frozen=True, slots=True, eq=False)
class Abstain(Message):
    """These clients send nothing in this round: do not wait for them."""

    name: ClassVar[str] = "abstain"
    sender: ClassVar[str] = "host"
    recipient: ClassVar[str] = "coordinator"
    answer: ClassVar[str] = ""

    round: int = wire("integer", "the round")
    clients: Integers = wire("integers", "who sends nothing, int64[k]")
