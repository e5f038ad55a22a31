"""The coordinator's machine: who is here, which round is open, when it may close.

Round t starts from model t − 1 and makes model t; model 0 is the start. A host whose process is dead is *lost* until a
new process joins in its name; one that missed a deadline is *silent* until it speaks again; neither is asked. Under
`wait` a round closes when every client has answered; else when every host that can answer has, or at the deadline, and
never below the quorum: a round that cannot reach it by its deadline ends the run.

Aggregation is an instruction whose result comes back as a stimulus, so this file needs no mathematics.
"""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil, inf, isfinite
from typing import Any, ClassVar, Final

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
    Record,
    Say,
    Stimulus,
    TimeCame,
    among,
    received,
    refused,
)
from protocol.messages import EVERYONE, SUPERVISOR, Finish, Join, Lost, Progress, Stop, Train, Update, Welcome

__all__ = ["Aggregate", "Aggregated", "Coordination", "State", "Terms", "fingerprint"]

NOTICE_AFTER: Final = 1.0
"""Seconds that a round is open before the console is told for whom it waits."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class State(StrEnum):
    """Where the run is."""

    GATHERING = "gathering"
    TRAINING = "training"
    AGGREGATING = "aggregating"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed before the run: who takes part, on which host, and the rules of a round."""

    clients: tuple[str, ...]  # ids by number
    hosts: dict[str, Integers]  # the numbers of each host's clients, rising
    interactions: Integers  # what each client is asked for, a round
    dimension: int
    rounds: int
    wait: bool = False
    deadline: float = 30.0
    quorum: float = 0.5
    keep_weights_every: int = 1  # rounds between updates whose weights are logged; 0: never


@dataclass(frozen=True, slots=True)
class Aggregated(Stimulus):
    """The result of an `Aggregate`."""

    theta: Floats
    info: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Aggregate(Instruction):
    """Make the next model from the updates, rows in client order; the arrays are valid until the next step."""

    thetas: Floats
    interactions: Integers
    before: Floats
    clients: tuple[str, ...]


def fingerprint(theta: Floats) -> str:
    """A model's identity: sha256 of its float64 bytes, little-endian."""
    return hashlib.sha256(theta.astype("<f8", copy=False).tobytes()).hexdigest()


class Coordination(Machine):
    """The run as the coordinator sees it: a new one, or one that goes on from the model of its last `closed` round."""

    role: ClassVar[str] = "coordinator"
    initial: ClassVar[StrEnum] = State.GATHERING

    def __init__(self, terms: Terms, theta: Floats, closed: int | None = None) -> None:
        super().__init__()
        self.terms = terms
        self.theta = theta
        self.closed = closed or 0  # the last closed round
        self.present: set[str] = set()
        self.lost: set[str] = set()
        self.silent: set[str] = set()
        self.awaited: set[str] = set()  # hosts that were asked in the open round and still owe something
        self._owed: dict[str, int] = dict.fromkeys(
            terms.hosts, 0
        )  # how many of its clients were asked and did not answer
        self.outcome = ""
        self.reason = ""
        self._new = closed is None
        self._living: dict[str, int] = {}  # the process that joined last in each host's name
        self._dead: dict[str, int] = {}  # the process of each host that died last
        count = len(terms.clients)
        self._asked = np.zeros(count, dtype=bool)
        self._answered = np.zeros(count, dtype=bool)
        self._thetas = np.empty((count, terms.dimension))
        self._opened = 0.0
        self._noticed = False
        # The quorum as it was written: 0.55 of 100 clients is 55, while 0.55 * 100 is a little more.
        self._quorum = max(1, ceil(Fraction(str(terms.quorum)) * count))

    @property
    def wake_at(self) -> float | None:
        """The next moment at which an open round must be looked at."""
        if self.state is not State.TRAINING:
            return None
        deadline = inf if self.terms.wait else self._opened + self.terms.deadline
        wake = deadline if self._noticed else min(deadline, self._opened + NOTICE_AFTER)
        return None if wake == inf else wake

    @property
    def progress(self) -> Progress:
        """How far the run is."""
        owing = self._owing() if self._noticed and self.state is State.TRAINING else ()
        return Progress(self.closed, len(self.present), owing, self.outcome, self.reason)

    def role_of(self, peer: str) -> str:
        """Hosts are those that were enrolled; the supervisor is the run's own."""
        return SUPERVISOR if peer == SUPERVISOR else "host" if peer in self.terms.hosts else "stranger"

    # --- stimuli -----------------------------------------------------------------------------------------------------

    def _begin(self, _stimulus: Began) -> list[Instruction]:
        """Log the start model, unless the run goes on from a closed round; finish if that was its last."""
        if self.closed >= self.terms.rounds:
            return self._finish("completed", "")
        return [self._model_record([], [], {})] if self._new else []

    def _join(self, stimulus: Arrived) -> list[Instruction]:
        """Welcome a host and give it what it owes in the open round; open the first round once all are here."""
        host, join = stimulus.peer, stimulus.envelope.message
        assert isinstance(join, Join)
        numbers = self.terms.hosts[host]
        if not np.array_equal(join.clients, numbers):
            return [refused(stimulus, Refusal.NOT_YOURS, f"{host} joined for {join.clients.tolist()[:10]}")]
        if self._dead.get(host) == join.pid:
            return [refused(stimulus, Refusal.UNEXPECTED, f"process {join.pid} of {host} is dead")]
        names = self._names(numbers)
        did: list[Instruction] = [received(stimulus, clients=names, pid=join.pid)]
        if host in self.present and self._living[host] != join.pid:
            did.append(self._about("client.lost", host))  # a new process can only be there because the old one died
            self.lost.add(host)
        if host in self.lost or host in self.silent:
            did.append(self._about("client.rejoined", host))
        elif host not in self.present:
            did.append(self._about("client.joined", host))
        self.present.add(host)
        self._living[host] = join.pid
        self.lost.discard(host)
        self.silent.discard(host)
        did.append(Say((host,), Welcome(self.closed), stimulus.envelope.id))
        if self.state is State.GATHERING:
            return did + self._start_when_gathered(stimulus.now)
        if self.state is State.TRAINING:
            did += self._ask_again(host, stimulus.envelope.id)
        return did

    def _update(self, stimulus: Arrived) -> list[Instruction]:
        """Keep an update that was asked for and close the round if it was the last; refuse any other."""
        host, update = stimulus.peer, stimulus.envelope.message
        assert isinstance(update, Update)
        back = [self._about("client.rejoined", host)] if host in self.silent else []
        self.silent.discard(host)
        problem = self._problem(host, update)
        if problem is not None:
            return [refused(stimulus, *problem, clients=self._names(update.clients)), *back]
        clients = update.clients
        with np.errstate(over="ignore", invalid="ignore"):  # a hostile number is refused, and no warning is printed
            change = update.theta - self.theta
            norm = np.sqrt(np.einsum("cd,cd->c", change, change))
            finite = isfinite(norm @ update.online)  # one number is finite only if all of both are
        if not finite:
            problem = Refusal.NOT_FINITE, f"round {update.round}"
            return [refused(stimulus, *problem, clients=self._names(clients)), *back]
        self._thetas[clients] = update.theta
        self._answered[clients] = True
        self._owed[host] -= len(clients)
        if not self._owed[host]:
            self.awaited.discard(host)
        fields = {
            "clients": self._names(clients),
            "interactions": update.interactions,
            "norm": norm,
            "online": update.online,
        }
        every = self.terms.keep_weights_every
        if every and update.round % every == 0:
            fields["thetas"] = update.theta
        return [received(stimulus, **fields), *back, *self._close_if_complete()]

    def _aggregated(self, stimulus: Aggregated) -> list[Instruction]:
        """Log the model; open the next round, or finish after the last one or if the model is not finite."""
        if stimulus.theta.shape != self.theta.shape or not np.isfinite(stimulus.theta).all():
            return self._finish("aborted", f"the aggregate of round {self.closed + 1} is not a finite model")
        self.theta = stimulus.theta
        self.closed += 1
        everyone = self._answered.all()
        participants = list(self.terms.clients) if everyone else self._names(np.flatnonzero(self._answered))
        missing = [] if everyone else self._names(np.flatnonzero(~self._answered))
        did: list[Instruction] = [self._model_record(participants, missing, stimulus.info)]
        if self.closed >= self.terms.rounds:
            return did + self._finish("completed", "")
        return did + self._open_round(stimulus.now)

    def _time(self, stimulus: TimeCame) -> list[Instruction]:
        """Tell for whom the round waits; at the deadline of `skip`, go on without them or give up."""
        did: list[Instruction] = []
        if not self._noticed and stimulus.now >= self._opened + NOTICE_AFTER:
            self._noticed = True
            did.append(Record("run.waiting", {"round": self.closed + 1, "waiting": list(self._owing())}))
        if self.terms.wait or stimulus.now < self._opened + self.terms.deadline:
            return did
        self._noticed = True
        for host in sorted(self.awaited):
            self.silent.add(host)
            did.append(self._about("client.silent", host))
        self.awaited.clear()
        answered = int(self._answered.sum())
        if answered < self._quorum:
            return did + self._finish(
                "aborted",
                f"round {self.closed + 1} needs {self._quorum} of {len(self._answered)} clients (quorum "
                f"{self.terms.quorum:g}), and {answered} answered within {self.terms.deadline:g} s",
            )
        return did + self._close()

    def _lose(self, stimulus: Arrived) -> list[Instruction]:
        """Stop counting on a host whose process is dead; what it owed is not waited for, except under `wait`."""
        lost = stimulus.envelope.message
        assert isinstance(lost, Lost)
        if lost.host not in self.terms.hosts:
            return [refused(stimulus, Refusal.UNEXPECTED, f"no host is called {lost.host!r:.80}")]
        did: list[Instruction] = [received(stimulus, name=lost.host)]
        self._dead[lost.host] = lost.pid
        # The news may be late: of a host that is known to be lost, or whose next process has joined already.
        if lost.host in self.lost or (lost.host in self.present and self._living[lost.host] != lost.pid):
            return did
        self.lost.add(lost.host)
        self.present.discard(lost.host)
        self.silent.discard(lost.host)
        did.append(self._about("client.lost", lost.host))
        if self.state is State.GATHERING:
            return did + self._start_when_gathered(stimulus.now)
        if self.state is State.TRAINING:
            self.awaited.discard(lost.host)
            did += self._close_if_complete()
        return did

    def _stop(self, stimulus: Arrived) -> list[Instruction]:
        """Finish with the last closed round."""
        stop = stimulus.envelope.message
        assert isinstance(stop, Stop)
        return [received(stimulus, reason=stop.reason), *self._finish("stopped", stop.reason)]

    # --- rounds ------------------------------------------------------------------------------------------------------

    def _start_when_gathered(self, now: float) -> list[Instruction]:
        """Open the first round once everyone who can come is here."""
        expected = set(self.terms.hosts) if self.terms.wait else set(self.terms.hosts) - self.lost
        if not expected <= self.present:
            return []
        return self._open_round(now)

    def _open_round(self, now: float) -> list[Instruction]:
        self.state = State.TRAINING
        self._opened = now
        self._noticed = False
        self._answered[:] = False
        asked = tuple(host for host in self.terms.hosts if host in self.present and host not in self.silent)
        self.awaited = set(asked)
        self._owed = dict.fromkeys(self.terms.hosts, 0) | {host: len(self.terms.hosts[host]) for host in asked}
        self._asked[:] = len(asked) == len(self.terms.hosts)
        for host in asked if len(asked) < len(self.terms.hosts) else ():
            self._asked[self.terms.hosts[host]] = True
        if not asked:
            return []  # nobody to ask: someone joins before the deadline, or the run ends there
        return [Say(asked, Train(self.closed + 1, self.theta, EVERYONE))]

    def _ask_again(self, host: str, answers: int) -> list[Instruction]:
        """Give a host that speaks up the work it still owes in the open round."""
        numbers = self.terms.hosts[host]
        owed = numbers[~self._answered[numbers]]
        if not len(owed):
            return []
        self.awaited.add(host)
        self._asked[owed] = True
        self._owed[host] = len(owed)
        return [
            Say((host,), Train(self.closed + 1, self.theta, owed), answers, {"clients": self._names(owed)}),
        ]

    def _close_if_complete(self) -> list[Instruction]:
        if self.awaited:
            return []
        enough = self._answered.all() if self.terms.wait else int(self._answered.sum()) >= self._quorum
        return self._close() if enough else []

    def _close(self) -> list[Instruction]:
        self.state = State.AGGREGATING
        if self._answered.all():
            return [Aggregate(self._thetas, self.terms.interactions, self.theta, self.terms.clients)]
        who = np.flatnonzero(self._answered)
        return [Aggregate(self._thetas[who], self.terms.interactions[who], self.theta, tuple(self._names(who)))]

    def _finish(self, outcome: str, reason: str) -> list[Instruction]:
        self.state = State.FINISHED
        self.outcome, self.reason = outcome, reason
        here = tuple(host for host in self.terms.hosts if host in self.present)
        told: list[Instruction] = [Say(here, Finish(outcome), 0, {"reason": outcome})] if here else []
        end = {"round": self.closed, "outcome": outcome, "reason": reason, "model": fingerprint(self.theta)}
        return [Record("run.finished", end), *told, Quit(outcome)]

    # --- facts -------------------------------------------------------------------------------------------------------

    def _problem(self, host: str, update: Update) -> tuple[Refusal, str] | None:  # noqa: PLR0911 - one line a rule
        """Why an update may not be used; none if it may."""
        number, clients, terms = self.closed + 1, update.clients, self.terms
        count, own = len(clients), terms.hosts[host]
        shapes = (update.theta.shape, update.interactions.shape, update.online.shape)
        if update.round < number:
            return Refusal.STALE_ROUND, f"round {update.round}, closed is {self.closed}"
        if update.round > number or self.state is not State.TRAINING:
            return Refusal.FUTURE_ROUND, f"round {update.round}, closed is {self.closed}"
        if clients.tobytes() != own.tobytes() or self._owed[host] != count:  # else all that it was asked for: fine
            if count == 0 or not among(clients, own):
                return Refusal.NOT_YOURS, f"{host} answered for {clients.tolist()[:10]}"
            if count > 1 and not (np.diff(clients) > 0).all():
                return Refusal.MALFORMED, "clients must rise"
            if self._answered[clients].any():
                return Refusal.DUPLICATE, f"round {number}"
            if not self._asked[clients].all():
                return Refusal.NOT_ASKED, f"round {number}"
        if shapes != ((count, terms.dimension), (count,), (count,)):
            return Refusal.WRONG_DIMENSION, f"theta must be {(count, terms.dimension)}, got {shapes[0]}"
        if update.interactions.tobytes() != terms.interactions[clients].tobytes():
            return Refusal.WRONG_COUNT, f"got {update.interactions.tolist()[:10]}"
        return None

    def _names(self, numbers: Integers | NDArray[np.intp]) -> list[str]:
        known = self.terms.clients
        return [known[one] if 0 <= one < len(known) else str(one) for one in numbers.tolist()]

    def _about(self, event: str, host: str) -> Record:
        """What happened to a host, in the open round or before the next one."""
        clients = self._names(self.terms.hosts[host])
        return Record(event, {"name": host, "clients": clients, "round": self.closed + 1})

    def _owing(self) -> tuple[str, ...]:
        """Hosts whose answers the open round lacks."""
        return tuple(host for host, own in self.terms.hosts.items() if not self._answered[own].all())

    def _model_record(self, participants: list[str], missing: list[str], info: dict[str, Any]) -> Record:
        fields = {
            "round": self.closed,
            "theta": self.theta,
            "model": fingerprint(self.theta),
            "participants": participants,
            "missing": missing,
            "aggregation": info,
        }
        return Record("round.closed", fields)

    transitions: ClassVar[dict[tuple[StrEnum, type], Handler]] = {
        (State.GATHERING, Began): _begin,
        (State.GATHERING, Join): _join,
        (State.GATHERING, Lost): _lose,
        (State.GATHERING, Stop): _stop,
        (State.GATHERING, Update): _update,
        (State.TRAINING, Join): _join,
        (State.TRAINING, Update): _update,
        (State.TRAINING, Lost): _lose,
        (State.TRAINING, Stop): _stop,
        (State.TRAINING, TimeCame): _time,
        (State.AGGREGATING, Aggregated): _aggregated,
    }
