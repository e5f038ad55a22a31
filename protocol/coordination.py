"""The coordinator's machine: who is here, which round is open, when it may close.

Round t starts from model t − 1 and makes model t; model 0 is the start. A host whose process is dead is *lost* until a
new process joins in its name; one that missed a deadline is *silent* until it speaks again; neither is asked. Under
`wait` a round closes when every client has answered; else when every host that can answer has, or at the deadline, and
never below the quorum: a round that cannot reach it by its deadline ends the run.

Aggregation is an instruction whose result comes back as a stimulus, so this file needs no mathematics.
"""

from enum import StrEnum
from math import inf
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from protocol.errors import Refusal
from protocol.ledger import Ledger
from protocol.machine import (
    Arrived,
    Began,
    Handler,
    Instruction,
    Machine,
    Quit,
    Record,
    Say,
    TimeCame,
    received,
    refused,
)
from protocol.membership import Membership
from protocol.messages import (
    COORDINATOR,
    EVERYONE,
    SUPERVISOR,
    Cue,
    Disturb,
    Enrol,
    Finish,
    Heal,
    Join,
    Leave,
    Lost,
    Progress,
    Ready,
    Stop,
    Train,
    Update,
    Welcome,
)
from protocol.terms import Admit, Aggregate, Aggregated, Impose, Terms, fingerprint

__all__ = ["Coordination", "State"]

NOTICE_AFTER: Final = 1.0
"""Seconds that a round is open before the console is told for whom it waits."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class State(StrEnum):
    """Where the run is."""

    GATHERING = "gathering"
    STAGING = "staging"
    TRAINING = "training"
    AGGREGATING = "aggregating"
    FINISHED = "finished"


class Coordination(Machine):
    """The run as the coordinator sees it: a new one, or one that goes on from the model of its last `closed` round."""

    role: ClassVar[str] = "coordinator"
    initial: ClassVar[StrEnum] = State.GATHERING

    def __init__(self, terms: Terms, theta: Floats, closed: int | None = None) -> None:
        super().__init__()
        self.terms = terms
        self.theta = theta
        self.closed = closed or 0  # the last closed round
        self.members = Membership(terms.clients, terms.hosts, terms.interactions)
        for client, first in terms.since.items():
            if first > self.closed + 1:
                self.members.postpone(client, first)
        for client, first in terms.until.items():
            self.members.leave(client, first, self.closed + 1)
        self.ledger = Ledger(self.members, terms.dimension, terms.quorum)
        self.present: set[str] = set()
        self.lost: set[str] = set()
        self.silent: set[str] = set()
        self.outcome = ""
        self.reason = ""
        self._new = closed is None
        self._living: dict[str, int] = {}  # the process that joined last in each host's name
        self._dead: dict[str, int] = {}  # the process of each host that died last
        self._staged = False  # whether what was due before the waiting round is done
        self._expected: set[str] = set()  # hosts that the waiting round waits for
        self._opened = 0.0
        self._noticed = False

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
        owing = self.ledger.owing() if self._noticed and self.state is State.TRAINING else ()
        return Progress(self.closed, len(self.present), owing, self.outcome, self.reason)

    def role_of(self, peer: str) -> str:
        """Hosts are those that were enrolled; the supervisor is the run's own."""
        return SUPERVISOR if peer == SUPERVISOR else "host" if peer in self.members.hosts else "stranger"

    # --- stimuli -----------------------------------------------------------------------------------------------------

    def _begin(self, _stimulus: Began) -> list[Instruction]:
        """Log the start model, unless the run goes on from a closed round; finish if that was its last."""
        if self.closed >= self.terms.rounds:
            return self._finish("completed", "")
        if not any(map(self.members.needs, self.members.hosts)):
            return self._finish_deserted()
        return [self._model_record([], [], {})] if self._new else []

    def _join(self, stimulus: Arrived) -> list[Instruction]:
        """Welcome a host and give it what it owes in the open round; open the first round once all are here."""
        host, join = stimulus.peer, stimulus.envelope.message
        assert isinstance(join, Join)
        numbers = self.members.hosts[host]
        if not np.array_equal(join.clients, numbers):
            return [refused(stimulus, Refusal.NOT_YOURS, f"{host} joined for {join.clients.tolist()[:10]}")]
        if self._dead.get(host) == join.pid:
            return [refused(stimulus, Refusal.UNEXPECTED, f"process {join.pid} of {host} is dead")]
        did: list[Instruction] = [received(stimulus, clients=self.members.names(numbers), pid=join.pid)]
        if not self.members.holds(host):
            self.present.discard(host)
            return [*did, Say((host,), Finish("left"), stimulus.envelope.id, {"reason": "left"})]
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
        if self.state is State.TRAINING:
            return did + self._ask_again(host, stimulus.envelope.id)
        return did + self._open_when_possible(stimulus.now)

    def _update(self, stimulus: Arrived) -> list[Instruction]:
        """Keep an update that was asked for and close the round if it was the last; refuse any other."""
        host, update = stimulus.peer, stimulus.envelope.message
        assert isinstance(update, Update)
        back = [self._about("client.rejoined", host)] if host in self.silent else []
        self.silent.discard(host)
        problem, norm = self._problem(host, update), None
        if problem is None:
            norm = self.ledger.change_norms(update, self.theta)
            problem = None if norm is not None else (Refusal.NOT_FINITE, f"round {update.round}")
        names = self.members.names(update.clients)
        if problem is not None:
            return [refused(stimulus, *problem, clients=names), *back]
        self.ledger.enter(host, update)
        fields = {"clients": names, "interactions": update.interactions, "norm": norm, "online": update.online}
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
        participants = self.ledger.updates()[2]
        did: list[Instruction] = [self._model_record(participants, self.ledger.missing(), stimulus.info)]
        if self.closed >= self.terms.rounds:
            return did + self._finish("completed", "")
        return did + self._next_round(stimulus.now)

    def _time(self, stimulus: TimeCame) -> list[Instruction]:
        """Tell for whom the round waits; at the deadline of `skip`, go on without them or give up."""
        did: list[Instruction] = []
        if not self._noticed and stimulus.now >= self._opened + NOTICE_AFTER:
            self._noticed = True
            did.append(Record("run.waiting", {"round": self.closed + 1, "waiting": list(self.ledger.owing())}))
        if self.terms.wait or stimulus.now < self._opened + self.terms.deadline:
            return did
        self._noticed = True
        for host in sorted(self.ledger.awaited):
            self.silent.add(host)
            did.append(self._about("client.silent", host))
        self.ledger.awaited.clear()
        if self.ledger.count < self.ledger.quorum:
            return did + self._finish(
                "aborted",
                f"round {self.closed + 1} needs {self.ledger.quorum} of {int(self.members.active.sum())} clients "
                f"(quorum {self.terms.quorum:g}), and {self.ledger.count} answered within {self.terms.deadline:g} s",
            )
        return did + self._close()

    def _lose(self, stimulus: Arrived) -> list[Instruction]:
        """Stop counting on a host whose process is dead; what it owed is not waited for, except under `wait`."""
        lost = stimulus.envelope.message
        assert isinstance(lost, Lost)
        if lost.host not in self.members.hosts:
            return [refused(stimulus, Refusal.UNEXPECTED, f"no host is called {lost.host!r:.80}")]
        did: list[Instruction] = [received(stimulus, name=lost.host)]
        self._dead[lost.host] = lost.pid
        # The news may be late: of a host that is known to be lost, or whose next process has joined already.
        late = lost.host in self.lost or (lost.host in self.present and self._living[lost.host] != lost.pid)
        if not late and self.members.holds(lost.host):
            self.lost.add(lost.host)
            self.present.discard(lost.host)
            self.silent.discard(lost.host)
            did.append(self._about("client.lost", lost.host))
            if not self.terms.wait or not self.members.needs(lost.host):
                self.ledger.release(lost.host)
        return did + self._go_on(stimulus.now)

    def _stop(self, stimulus: Arrived) -> list[Instruction]:
        """Finish with the last closed round."""
        stop = stimulus.envelope.message
        assert isinstance(stop, Stop)
        return [received(stimulus, reason=stop.reason), *self._finish("stopped", stop.reason)]

    def _ready(self, stimulus: Arrived) -> list[Instruction]:
        """Open the round that waited for the timeline once everybody who was started for it is here."""
        ready = stimulus.envelope.message
        assert isinstance(ready, Ready)
        if ready.round == self.closed + 1:
            self._staged = True
            self._expected = {host for host in ready.hosts if host in self.members.hosts}
        return [received(stimulus), *self._open_when_possible(stimulus.now)]

    def _enrol(self, stimulus: Arrived) -> list[Instruction]:
        """Take the clients of a new host in, from the next round on."""
        enrol = stimulus.envelope.message
        assert isinstance(enrol, Enrol)
        problem = self.members.problem(enrol)
        if problem:
            return [refused(stimulus, Refusal.UNEXPECTED, problem)]
        first = self.closed + (2 if self.state is State.TRAINING else 1)
        self.members.enrol(enrol.host, enrol.clients, enrol.interactions, first)
        self.ledger.grow()
        who = {"round": first, "clients": list(enrol.clients)}
        roster = {
            "hosts": [enrol.host] * len(enrol.clients),
            "clicks": list(enrol.clicks),
            "attacks": list(enrol.attacks),
            "interactions": enrol.interactions,
        }
        return [
            received(stimulus),
            Record("clients.enrolled", who | roster),
            Record("client.added", who | {"name": enrol.host, "by": enrol.by}),
            Admit(enrol.host, enrol.key),
        ]

    def _leave(self, stimulus: Arrived) -> list[Instruction]:
        """Let clients go: before the next round, or at once if their host is not here to be asked."""
        leave = stimulus.envelope.message
        assert isinstance(leave, Leave)
        did: list[Instruction] = [received(stimulus)]
        for client in filter(self.members.stays, leave.clients):
            host = self.members.host_of(client)
            owed = host in self.ledger.awaited and host in self.present
            counted = self.state is State.TRAINING and (owed or self.ledger.has(client))
            first = self.closed + (2 if counted else 1)
            self.members.leave(client, first, self.closed + 1)
            did.append(self._left(client, first, leave.by))
            if self.state is State.TRAINING:
                self.ledger.strike(host)
        return did + (self._dismiss() if self.state is not State.TRAINING else []) + self._go_on(stimulus.now)

    def _disturb(self, stimulus: Arrived) -> list[Instruction]:
        """Let the shell treat frames badly, or stop doing so."""
        message = stimulus.envelope.message
        assert isinstance(message, Disturb | Heal)
        return [received(stimulus), Impose(message.fault, message if isinstance(message, Disturb) else None)]

    # --- rounds ------------------------------------------------------------------------------------------------------

    def _next_round(self, now: float) -> list[Instruction]:
        """Open the next round; if the timeline has something to do before it, let that be done first."""
        if self.closed + 1 not in self.terms.cues:
            return self._open_round(now)
        self.state = State.STAGING
        return [Say((SUPERVISOR,), Cue(self.closed + 1))]

    def _open_when_possible(self, now: float) -> list[Instruction]:
        """Open the first round once everyone who can come is here, a staged one once all who were started are."""
        if self.state is State.STAGING:
            return self._open_round(now) if self._staged and not any(map(self._to_come, self._expected)) else []
        here = self.present if self.terms.wait else self.present | self.lost
        if any(host not in here and self.members.needs(host) for host in self.members.hosts):
            return []
        return self._next_round(now)

    def _open_round(self, now: float) -> list[Instruction]:
        early = self.members.turn(self.closed + 1)
        if not self.members.active.any():
            return self._finish_deserted()
        did = self._dismiss()
        for client in early:
            who = {"round": self.closed + 1, "name": self.members.host_of(client), "clients": [client]}
            did.append(Record("client.added", who | {"by": COORDINATOR}))
        self.state = State.TRAINING
        self._staged = False
        self._opened = now
        self._noticed = False
        members = self.members
        here = [host for host in members.hosts if host in self.present and host not in self.silent]
        asked = tuple(host for host in here if len(members.numbers(host)))  # not those who come later
        self.ledger.open(self.closed + 1, asked)
        whole = tuple(host for host in asked if len(members.numbers(host)) == len(members.hosts[host]))
        if whole:  # else nobody to ask: someone joins before the deadline, or the run ends there
            did.append(Say(whole, Train(self.closed + 1, self.theta, EVERYONE)))
        for host in asked if len(whole) < len(asked) else ():
            if host not in whole:
                did.append(self._question(host, members.numbers(host), 0))
        return did

    def _ask_again(self, host: str, answers: int) -> list[Instruction]:
        """Give a host that speaks up the work it still owes in the open round."""
        owed = self.ledger.ask_again(host)
        return [self._question(host, owed, answers)] if len(owed) else []

    def _question(self, host: str, clients: Integers, answers: int) -> Say:
        train = Train(self.closed + 1, self.theta, clients)
        return Say((host,), train, answers, {"clients": self.members.names(clients)})

    def _dismiss(self) -> list[Instruction]:
        """Tell hosts without a client that takes part that it is over for them."""
        gone = tuple(host for host in self.members.hosts if host in self.present and not self.members.holds(host))
        self.present.difference_update(gone)
        return [Say(gone, Finish("left"), 0, {"reason": "left"})] if gone else []

    def _go_on(self, now: float) -> list[Instruction]:
        """Somebody is gone: close the open round, or open the next one, if nothing else holds it up."""
        if self.state is not State.TRAINING:
            return self._open_when_possible(now)
        if not self.ledger.awaited and not self.ledger.count and not self.members.needed.any():
            return self._without_members(now)
        return self._close_if_complete()

    def _without_members(self, now: float) -> list[Instruction]:
        """Nobody can ever answer in the open round: open it again for those who were to come later, if anybody was."""
        members, number = self.members, self.closed + 1
        did: list[Instruction] = []
        for client in members.names(np.flatnonzero(members.active)):  # about to leave, and not here any more
            members.leave(client, number, number)
            did.append(self._left(client, number, COORDINATOR))
        return did + self._open_round(now)

    def _close_if_complete(self) -> list[Instruction]:
        if self.ledger.awaited:
            return []
        enough = self.ledger.complete if self.terms.wait else self.ledger.count >= self.ledger.quorum
        return self._close() if enough else []

    def _close(self) -> list[Instruction]:
        self.state = State.AGGREGATING
        thetas, interactions, names = self.ledger.updates()
        return [Aggregate(thetas, interactions, self.theta, tuple(names))]

    def _finish(self, outcome: str, reason: str) -> list[Instruction]:
        self.state = State.FINISHED
        self.outcome, self.reason = outcome, reason
        here = tuple(host for host in self.members.hosts if host in self.present)
        told: list[Instruction] = [Say(here, Finish(outcome), 0, {"reason": outcome})] if here else []
        end = {"round": self.closed, "outcome": outcome, "reason": reason, "model": fingerprint(self.theta)}
        return [Record("run.finished", end), *told, Quit(outcome)]

    def _finish_deserted(self) -> list[Instruction]:
        return self._finish("aborted", f"every client has left before round {self.closed + 1}")

    # --- facts -------------------------------------------------------------------------------------------------------

    def _problem(self, host: str, update: Update) -> tuple[Refusal, str] | None:
        """Why an update may not be used; none if it may, as far as it can be told without its numbers."""
        if update.round <= self.closed:
            return Refusal.STALE_ROUND, f"round {update.round}, closed is {self.closed}"
        if update.round > self.closed + 1 or self.state is not State.TRAINING:
            return Refusal.FUTURE_ROUND, f"round {update.round}, closed is {self.closed}"
        return self.ledger.problem(host, update)

    def _to_come(self, host: str) -> bool:
        """Whether a process that was started for a host is still on its way: not here, and not known to be dead."""
        if host in self.present or not self.members.holds(host):
            return False
        # The process that died last may be the one before it, which had joined.
        return host not in self.lost or self._dead.get(host) == self._living.get(host)

    def _left(self, client: str, first: int, by: str) -> Record:
        who = {"round": first, "name": self.members.host_of(client), "clients": [client]}
        return Record("client.left", who | {"by": by})

    def _about(self, event: str, host: str) -> Record:
        """What happened to a host, in the open round or before the next one."""
        clients = self.members.names(self.members.hosts[host])
        return Record(event, {"name": host, "clients": clients, "round": self.closed + 1})

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

    _outside_rounds: ClassVar[dict[type, Handler]] = {
        Join: _join,
        Update: _update,
        Lost: _lose,
        Stop: _stop,
        Enrol: _enrol,
        Leave: _leave,
        Disturb: _disturb,
        Heal: _disturb,
    }
    transitions: ClassVar[dict[tuple[StrEnum, type], Handler]] = {
        (State.GATHERING, Began): _begin,
        **{(State.GATHERING, stimulus): handler for stimulus, handler in _outside_rounds.items()},
        (State.STAGING, Ready): _ready,
        **{(State.STAGING, stimulus): handler for stimulus, handler in _outside_rounds.items()},
        **{(State.TRAINING, stimulus): handler for stimulus, handler in _outside_rounds.items()},
        (State.TRAINING, TimeCame): _time,
        (State.AGGREGATING, Aggregated): _aggregated,
    }
