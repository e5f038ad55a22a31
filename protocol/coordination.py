"""The coordinator's machine: what each message and moment does to the run; the rounds themselves are in `rounds`."""

import json
from enum import StrEnum
from typing import ClassVar

import numpy as np

from protocol.conspiring import Conspiring
from protocol.errors import Refusal
from protocol.forgetting import Recalled
from protocol.machine import (
    Arrived,
    Began,
    Handler,
    Instruction,
    Record,
    Say,
    TimeCame,
    received,
    refused,
)
from protocol.messages import (
    ADVERSARY,
    Disturb,
    Enrol,
    Finish,
    Heal,
    Join,
    Leave,
    Lost,
    Ready,
    Stop,
    Trial,
    Update,
    Welcome,
)
from protocol.rounds import OPEN, State
from protocol.sharing import Sharing
from protocol.terms import Admit, Aggregated, Impose

__all__ = ["Coordination", "State"]


class Coordination(Conspiring):
    """The run as the coordinator sees it, changed by every stimulus that its table knows."""

    def _begin(self, _stimulus: Began) -> list[Instruction]:
        """Log the start model, unless the run goes on from a closed round; finish if that was its last."""
        unlearning = self.terms.unlearning
        if unlearning and self._new:
            self.theta = unlearning[1].theta
            did = [*self.forgetting.begin(*unlearning, 0), self._model_record([], [], {})]
            done = self._finish("completed", "") if self.forgetting.last == 0 else []
            return [*did, *self.forgetting.forgotten(0), *done]
        waits = self.forgetting.waiting or self.closed + 1 in self.terms.cues
        if self.closed >= self.forgetting.last and not waits:
            return self._finish("completed", "")
        if not any(map(self.members.needs, self.members.hosts)):
            return self._let_leavers_go() + self._finish_deserted()
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
        if self.state in OPEN:
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
        if update.promised:
            fields["promised"] = update.promised
        if self._keeps_weights(update.round):
            fields["thetas"] = update.theta
        return [received(stimulus, **self._marked(fields)), *back, *self._close_if_complete(stimulus.now)]

    def _trial(self, stimulus: Arrived) -> list[Instruction]:
        """Keep a trial that was asked for and close the round if it was the last; refuse any other."""
        host, trial = stimulus.peer, stimulus.envelope.message
        assert isinstance(trial, Trial)
        back = [self._about("client.rejoined", host)] if host in self.silent else []
        self.silent.discard(host)
        problem, names = self._problem(host, trial), self.members.names(trial.clients)
        if problem is not None:
            return [refused(stimulus, *problem, clients=names), *back]
        self.ledger.enter(host, trial)
        counts = self.ledger.interactions[trial.clients]
        fields = {"clients": names, "interactions": counts, "seeds": trial.seeds, "fitness": trial.fitness}
        return [received(stimulus, **self._marked(fields)), *back, *self._close_if_complete(stimulus.now)]

    def _aggregated(self, stimulus: Aggregated) -> list[Instruction]:
        """Log the model; open the next round, or finish: after the last, without budget, or if it is not finite."""
        if stimulus.exceeded:
            return self._finish("completed", stimulus.exceeded)
        if stimulus.theta.shape != self.theta.shape or not np.isfinite(stimulus.theta).all():
            return self._finish("aborted", f"the aggregate of round {self.closed + 1} is not a finite model")
        self.theta = stimulus.theta
        self.closed += 1
        self._exhausted = stimulus.exhausted
        kept, left = self.ledger.participants(), self.ledger.missing()
        if self._noise.discarded:
            kept, left = [], self.members.names(np.flatnonzero(self.members.active))
        did: list[Instruction] = [self._model_record(kept, left, stimulus.info, stimulus.privacy)]
        return did + self.forgetting.forgotten(self.closed) + self._next_round(stimulus.now)

    def _recalled(self, stimulus: Recalled) -> list[Instruction]:
        """Go back to the model that unlearning starts from; open the first round of it, or what comes after it."""
        request = self.forgetting.due(self.members, self.closed)
        assert request is not None
        self.closed += 1
        self.theta = stimulus.beginning.theta
        did: list[Instruction] = [*self.forgetting.begin(request, stimulus.beginning, self.closed)]
        did += [self._model_record([], [], {}), *self.forgetting.forgotten(self.closed)]
        return did + self._next_round(stimulus.now)

    def _time(self, stimulus: TimeCame) -> list[Instruction]:
        """Tell for whom the round waits; at the deadline of `skip`, go on without them or give up."""
        did = self._notice(stimulus.now)
        if self.terms.wait or stimulus.now < self._deadline:
            return did
        self._noticed = True
        if more := self._grant_time(stimulus.now):
            return did + more + self._close_if_complete(stimulus.now)
        did += self._silence(self.ledger.awaited)
        self.ledger.awaited.clear()
        if self.ledger.count < self.ledger.quorum:
            return did + self._finish(
                "aborted",
                f"round {self.closed + 1} needs {self.ledger.quorum} of {int(self.members.active.sum())} clients "
                f"(quorum {self.terms.quorum:g}), and {self.ledger.count} answered within {self.terms.deadline:g} s",
            )
        return did + self._close(stimulus.now)

    def _lose(self, stimulus: Arrived) -> list[Instruction]:
        """Stop counting on a host whose process is dead; what it owed is not waited for, except under `wait`."""
        lost = stimulus.envelope.message
        assert isinstance(lost, Lost)
        if lost.host == ADVERSARY:
            return self._lose_adversary(stimulus)
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
            self._expected = {host for host in ready.hosts if host in self.members.hosts or host == ADVERSARY}
        return [received(stimulus), *self._open_when_possible(stimulus.now)]

    def _enrol(self, stimulus: Arrived) -> list[Instruction]:
        """Take the clients of a new host in, from the next round on."""
        enrol = stimulus.envelope.message
        assert isinstance(enrol, Enrol)
        problem = self.members.problem(enrol)
        if problem:
            return [refused(stimulus, Refusal.UNEXPECTED, problem)]
        first = self.closed + (2 if self.state in OPEN else 1)
        self.members.enrol(enrol.host, enrol.clients, enrol.interactions, first)
        self.ledger.grow()
        self.recruit(enrol.clients, enrol.attacks)
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
        if leave.forget:  # logged first: whoever is known to have left is known to be forgotten
            known = [client for client in leave.clients if client in self.members]
            if request := self.forgetting.ask(known, json.loads(leave.forget), leave.by):
                who = {"clients": request.clients, "settings": request.settings, "by": request.by}
                did.append(Record("forget.asked", {"round": self.closed + 1} | who))
        for client in filter(self.members.stays, leave.clients):
            host = self.members.host_of(client)
            owed = host in self.ledger.awaited and host in self.present
            counted = self.state in OPEN and (owed or self.ledger.has(client))
            first = self.closed + (2 if counted else 1)
            self.members.leave(client, first, self.closed + 1)
            did.append(self._left(client, first, leave.by))
            if self.state is State.TRAINING:
                self.ledger.strike(host)
        return did + (self._dismiss() if self.state not in OPEN else []) + self._go_on(stimulus.now)

    def _disturb(self, stimulus: Arrived) -> list[Instruction]:
        """Let the shell treat frames badly, or stop doing so."""
        message = stimulus.envelope.message
        assert isinstance(message, Disturb | Heal)
        return [received(stimulus), Impose(message.fault, message if isinstance(message, Disturb) else None)]

    _outside_rounds: ClassVar[dict[type, Handler]] = {
        Join: _join,
        Update: _update,
        Trial: _trial,
        Lost: _lose,
        Stop: _stop,
        Enrol: _enrol,
        Leave: _leave,
        Disturb: _disturb,
        Heal: _disturb,
        **Conspiring.everywhere,
    }
    transitions: ClassVar[dict[tuple[StrEnum, type], Handler]] = {
        (State.GATHERING, Began): _begin,
        **{(State.GATHERING, stimulus): handler for stimulus, handler in _outside_rounds.items()},
        (State.STAGING, Ready): _ready,
        **{(State.STAGING, stimulus): handler for stimulus, handler in _outside_rounds.items()},
        **{(State.TRAINING, stimulus): handler for stimulus, handler in _outside_rounds.items()},
        **{(State.TRAINING, stimulus): handler for stimulus, handler in Conspiring.while_open.items()},
        (State.TRAINING, TimeCame): _time,
        **{(State.TOPPING_UP, stimulus): handler for stimulus, handler in _outside_rounds.items()},
        **{(State.TOPPING_UP, stimulus): handler for stimulus, handler in Sharing.while_short.items()},
        (State.AGGREGATING, Aggregated): _aggregated,
        (State.RECALLING, Recalled): _recalled,
    }
