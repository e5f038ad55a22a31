"""The client's machine: what a host does for its clients.

It joins, trains whenever it is asked, and joins again whenever nothing was said for a second; the coordinator then
gives it what it owes. It keeps no model and no random state: an answer is a function of (seed, client, round, θ) and
what else the question says, so the second answer to the same question has the same bits as the first.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from protocol.errors import Refusal
from protocol.machine import (
    Arrived,
    Began,
    Handler,
    Instruction,
    Machine,
    Quit,
    Say,
    Stimulus,
    TimeCame,
    among,
    received,
    refused,
)
from protocol.messages import COORDINATOR, Finish, Join, Shares, TopUp, Train, Trial, Update, Welcome

__all__ = ["DrawShares", "Drawn", "LocalTraining", "Participation", "State", "Trained", "Tried"]

JOIN_EVERY: Final = 1.0
"""Seconds of silence after which a host says again that it is here."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class State(StrEnum):
    """What the host is doing."""

    JOINING = "joining"
    READY = "ready"
    TRAINING = "training"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Trained(Stimulus):
    """The result of a `LocalTraining`, rows as its clients; `now` is when it was done: silence counts from there."""

    theta: Floats
    interactions: Integers
    online: Floats


@dataclass(frozen=True, slots=True)
class Tried(Stimulus):
    """The result of a `LocalTraining` where clients send trials, rows as its clients."""

    seeds: Integers
    fitness: Floats


@dataclass(frozen=True, slots=True)
class LocalTraining(Instruction):
    """Do the local interactions of these clients, from this model.

    round  the number of the random streams to use, that of the round itself in training
    most   interactions of a client at most; 0: as many as it has in training
    norms  the lengths that the clients' changes are to have; none: as they are
    asked_in  the round that asks, for the log
    """

    round: int
    theta: Floats
    clients: Integers
    promised: int  # how many noise shares make the whole noise; 0: none is added
    most: int = 0
    norms: Floats | None = None
    asked_in: int = 0


@dataclass(frozen=True, slots=True)
class Drawn(Stimulus):
    """The result of a `DrawShares`, rows as its clients."""

    noise: Floats


@dataclass(frozen=True, slots=True)
class DrawShares(Instruction):
    """Draw the noise of these clients, among so many givers, in the place of so many of the promised shares."""

    round: int
    clients: Integers
    promised: int
    lacking: int
    givers: int


class Participation(Machine):
    """The run as a host sees it."""

    role: ClassVar[str] = "host"
    initial: ClassVar[StrEnum] = State.JOINING

    def __init__(self, clients: Integers, dimension: int, pid: int) -> None:
        super().__init__()
        self.clients = clients
        self.dimension = dimension
        self.pid = pid
        self._spoke = 0.0
        self._asked: tuple[int, Integers] = (0, clients)  # the round and the clients of the question under way
        self._promised = 0  # of how many noise shares each of its answers has one
        self._wanted: TopUp | None = None  # the noise that is being drawn
        self._question = 0

    @property
    def wake_at(self) -> float | None:
        """When it must say again that it is here; never while it trains or once it is done."""
        return self._spoke + JOIN_EVERY if self.state in (State.JOINING, State.READY) else None

    def role_of(self, peer: str) -> str:
        """Only the coordinator speaks to a host."""
        return peer if peer == COORDINATOR else "stranger"

    def _join(self, stimulus: Began | TimeCame) -> list[Instruction]:
        """Say that its clients are here."""
        self._spoke = stimulus.now
        return [Say((COORDINATOR,), Join(self.clients, self.pid))]

    def _welcome(self, stimulus: Arrived) -> list[Instruction]:
        """Be ready for work."""
        if self.state is State.JOINING:
            self.state = State.READY
        return [received(stimulus)]

    def _train(self, stimulus: Arrived) -> list[Instruction]:
        """Begin the local training that is asked for; refuse work for others' clients or another dimension."""
        train = stimulus.envelope.message
        assert isinstance(train, Train)
        asked = train.clients if len(train.clients) else self.clients
        if asked is not self.clients and not among(asked, self.clients):
            return [refused(stimulus, Refusal.NOT_YOURS, f"asked for {asked.tolist()[:10]}")]
        if train.theta.shape != (self.dimension,):
            return [refused(stimulus, Refusal.WRONG_DIMENSION, f"d = {self.dimension}, got {train.theta.shape}")]
        norms = None
        if len(train.norms):
            if len(train.norms) <= asked.max():
                detail = f"norms for {len(train.norms)} clients, asked for {asked.max()}"
                return [refused(stimulus, Refusal.WRONG_DIMENSION, detail)]
            norms = train.norms[asked]
        self.state = State.TRAINING
        self._asked, self._question, self._promised = (train.round, asked), stimulus.envelope.id, train.promised
        told = (train.promised, train.most, norms, train.round)
        return [received(stimulus), LocalTraining(train.draws, train.theta, asked, *told)]

    def _trained(self, stimulus: Trained) -> list[Instruction]:
        """Answer with the update and be ready again."""
        self.state = State.READY
        self._spoke = stimulus.now
        answer = Update(*self._asked, stimulus.theta, stimulus.interactions, stimulus.online, self._promised)
        return [Say((COORDINATOR,), answer, self._question)]

    def _tried(self, stimulus: Tried) -> list[Instruction]:
        """Answer with the trial and be ready again."""
        self.state = State.READY
        self._spoke = stimulus.now
        return [Say((COORDINATOR,), Trial(*self._asked, stimulus.seeds, stimulus.fitness), self._question)]

    def _top_up(self, stimulus: Arrived) -> list[Instruction]:
        """Begin to draw the noise that is asked for; refuse that of others' clients, and numbers that make no sense."""
        wanted = stimulus.envelope.message
        assert isinstance(wanted, TopUp)
        if not len(wanted.clients) or not among(wanted.clients, self.clients):
            return [refused(stimulus, Refusal.NOT_YOURS, f"asked for {wanted.clients.tolist()[:10]}")]
        if not (0 < wanted.lacking < wanted.promised and wanted.givers >= len(wanted.clients)):
            detail = f"{wanted.lacking} of {wanted.promised} among {wanted.givers}"
            return [refused(stimulus, Refusal.WRONG_SHARES, detail)]
        self.state = State.TRAINING
        self._wanted, self._question = wanted, stimulus.envelope.id
        of = (wanted.promised, wanted.lacking, wanted.givers)
        return [received(stimulus), DrawShares(wanted.round, wanted.clients, *of)]

    def _drawn(self, stimulus: Drawn) -> list[Instruction]:
        """Answer with the noise and be ready again."""
        wanted = self._wanted
        assert wanted is not None
        self.state = State.READY
        self._spoke = stimulus.now
        of = (wanted.promised, wanted.lacking, wanted.givers)
        return [Say((COORDINATOR,), Shares(wanted.round, wanted.clients, *of, stimulus.noise), self._question)]

    def _finish(self, stimulus: Arrived) -> list[Instruction]:
        """End."""
        finish = stimulus.envelope.message
        assert isinstance(finish, Finish)
        self.state = State.FINISHED
        return [received(stimulus, reason=finish.reason), Quit(finish.reason)]

    transitions: ClassVar[dict[tuple[StrEnum, type], Handler]] = {
        (State.JOINING, Began): _join,
        (State.JOINING, TimeCame): _join,
        (State.JOINING, Welcome): _welcome,
        (State.JOINING, Train): _train,
        (State.JOINING, TopUp): _top_up,
        (State.JOINING, Finish): _finish,
        (State.READY, TimeCame): _join,
        (State.READY, Welcome): _welcome,
        (State.READY, Train): _train,
        (State.READY, TopUp): _top_up,
        (State.READY, Finish): _finish,
        (State.TRAINING, Trained): _trained,
        (State.TRAINING, Drawn): _drawn,
        (State.TRAINING, Tried): _tried,
    }
