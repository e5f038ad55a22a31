"""The adversary's machine: it says that it is there, is briefed once a round, and decides what its members send.

It keeps nothing between rounds: what it decides is a function of the brief and the seed, so that a second answer to the
same brief, by a process that took the place of a dead one, has the same bits as the first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Final

from protocol.letters import Attend, Brief, Craft
from protocol.machine import (
    Arrived,
    Began,
    Handler,
    Instruction,
    Machine,
    Quit,
    Record,
    Say,
    Stimulus,
    TimeCame,
    received,
)
from protocol.message import Floats
from protocol.messages import COORDINATOR, Finish

__all__ = ["Collusion", "Conspire", "Decided", "State"]

ATTEND_EVERY: Final = 1.0
"""Seconds of silence after which the adversary says again that it is here."""


class State(StrEnum):
    """What the adversary is doing."""

    LURKING = "lurking"
    CRAFTING = "crafting"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Decided(Stimulus):
    """The result of a `Conspire`: rows as its members, and what the attack tells of its work."""

    theta: Floats
    info: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Conspire(Instruction):
    """Decide what the members of a brief send."""

    brief: Brief


class Collusion(Machine):
    """The run as the adversary sees it."""

    role: ClassVar[str] = "adversary"
    initial: ClassVar[StrEnum] = State.LURKING

    def __init__(self, pid: int) -> None:
        super().__init__()
        self.pid = pid
        self._spoke = 0.0
        self._brief: tuple[Brief, int] | None = None  # the one under way, and its message's id

    @property
    def wake_at(self) -> float | None:
        """When it must say again that it is here."""
        return self._spoke + ATTEND_EVERY if self.state is State.LURKING else None

    def role_of(self, peer: str) -> str:
        """Only the coordinator speaks to the adversary, its members' letters in hand."""
        return peer if peer == COORDINATOR else "stranger"

    def _attend(self, stimulus: Began | TimeCame) -> list[Instruction]:
        """Say that it is here."""
        self._spoke = stimulus.now
        return [Say((COORDINATOR,), Attend(self.pid))]

    def _listen(self, stimulus: Arrived) -> list[Instruction]:
        """Begin to decide what the members of a brief send."""
        brief = stimulus.envelope.message
        assert isinstance(brief, Brief)
        self.state = State.CRAFTING
        self._brief = brief, stimulus.envelope.id
        return [received(stimulus, clients=list(brief.clients)), Conspire(brief)]

    def _decided(self, stimulus: Decided) -> list[Instruction]:
        """Tell what each member is to send."""
        assert self._brief is not None
        brief, question = self._brief
        self.state = State.LURKING
        self._spoke = stimulus.now
        told = {"round": brief.round, "clients": list(brief.clients), "attack": dict(stimulus.info)}
        craft = Craft(brief.round, brief.clients, stimulus.theta)
        return [Record("attack.crafted", told), Say((COORDINATOR,), craft, question, {"clients": list(brief.clients)})]

    def _finish(self, stimulus: Arrived) -> list[Instruction]:
        """End."""
        finish = stimulus.envelope.message
        assert isinstance(finish, Finish)
        self.state = State.FINISHED
        return [received(stimulus, reason=finish.reason), Quit(finish.reason)]

    transitions: ClassVar[dict[tuple[StrEnum, type], Handler]] = {
        (State.LURKING, Began): _attend,
        (State.LURKING, TimeCame): _attend,
        (State.LURKING, Brief): _listen,
        (State.LURKING, Finish): _finish,
        (State.CRAFTING, Decided): _decided,
    }
