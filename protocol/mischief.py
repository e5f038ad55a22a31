"""Attacks on the protocol: frames that a client may not send, each with the rule that stops it.

The client sends its honest update, and one of these before or after it; the coordinator refuses it, and the log has
the reason.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from protocol.errors import Refusal
from protocol.message import Message
from protocol.messages import Join, Leave, Update

__all__ = ["MISCHIEF", "Mischief", "Rogue"]


@dataclass(frozen=True, slots=True)
class Rogue:
    """What a malicious client has at hand after its update of a round.

    sent      the update, its own row only
    earlier   its update of an earlier round; none in its first
    stranger  the number of a client that lives on another host, or that nobody has
    victim    the name of a client that it wishes away
    pid       its host's process
    """

    sent: Update
    earlier: Update | None
    stranger: int
    victim: str
    pid: int


@dataclass(frozen=True, slots=True)
class Mischief:
    """One attack on the protocol: what is sent, what it is meant to do, what stops it, and the event in the log."""

    frames: Callable[[Rogue], list[Message]]
    first: bool  # whether it is sent before the honest update, which may close the round
    meant: str
    refusals: tuple[Refusal, ...]
    stopped_by: str
    event: str


def _update_twice(rogue: Rogue) -> list[Message]:
    return [rogue.sent]


def _replay_update(rogue: Rogue) -> list[Message]:
    return [rogue.earlier] if rogue.earlier is not None else []


def _update_for_another(rogue: Rogue) -> list[Message]:
    return [replace(rogue.sent, clients=np.array([rogue.stranger]))]


def _rejoin_as_another(rogue: Rogue) -> list[Message]:
    return [Join(np.array([rogue.stranger]), rogue.pid)]


def _false_leave(rogue: Rogue) -> list[Message]:
    return [Leave((rogue.victim,), rogue.victim, "")]


MISCHIEF: Final[Mapping[str, Mischief]] = {
    "update_twice": Mischief(
        _update_twice,
        first=False,
        meant="its update counts double",
        refusals=(Refusal.DUPLICATE, Refusal.STALE_ROUND),
        stopped_by="a client's answer is kept once a round; one that comes after the round has closed is stale",
        event="update.refused",
    ),
    "replay_update": Mischief(
        _replay_update,
        first=False,
        meant="an old update counts again",
        refusals=(Refusal.STALE_ROUND,),
        stopped_by="an update names its round, and only the open round takes answers",
        event="update.refused",
    ),
    "update_for_another": Mischief(
        _update_for_another,
        first=True,
        meant="its model counts as another client's",
        refusals=(Refusal.NOT_YOURS,),
        stopped_by="a connection's CURVE key says which host it is, and a host answers only for its own clients",
        event="update.refused",
    ),
    "rejoin_as_another": Mischief(
        _rejoin_as_another,
        first=True,
        meant="it takes part a second time under a new name",
        refusals=(Refusal.NOT_YOURS,),
        stopped_by="a host joins with just the clients that its key was enrolled for; a new key gets no answer at all",
        event="frame.refused",
    ),
    "false_leave": Mischief(
        _false_leave,
        first=True,
        meant="another client is made to leave",
        refusals=(Refusal.UNEXPECTED,),
        stopped_by="only the supervisor may say who leaves",
        event="frame.refused",
    ),
}
"""Every attack on the protocol by its name in a scenario; docs/attacks.md has this table."""
