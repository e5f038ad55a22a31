"""When a round opens, whom it asks, and when it closes: what the coordinator's machine does between two stimuli.

Round t starts from model t − 1 and makes model t; model 0 is the start. A host whose process is dead is *lost* until a
new process joins in its name; one that missed a deadline is *silent* until it speaks again; neither is asked. Under
`wait` a round closes when every client has answered; else when every host that can answer has, or at the deadline, and
never below the quorum: a round that cannot reach it by its deadline ends the run. Before a round of the timeline the
supervisor is told, and the round opens when what was due is done. When somebody is to be forgotten, rounds of
unlearning come in between (see `forgetting`).

Aggregation is an instruction whose result comes back as a stimulus, so this file needs no mathematics.
"""

from enum import StrEnum
from math import inf
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from protocol.errors import Refusal
from protocol.forgetting import UNLEARNING, Forgetting, Recall
from protocol.ledger import Ledger
from protocol.machine import (
    Instruction,
    Machine,
    Quit,
    Record,
    Say,
)
from protocol.membership import Membership
from protocol.messages import (
    AS_IT_IS,
    COORDINATOR,
    EVERYONE,
    SUPERVISOR,
    Cue,
    Finish,
    Progress,
    Train,
    Trial,
    Update,
)
from protocol.terms import Aggregate, NoiseCount, Terms, fingerprint

__all__ = ["OPEN", "Rounds", "State"]

NOTICE_AFTER: Final = 1.0
"""Seconds that a round is open before the console is told for whom it waits."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class State(StrEnum):
    """Where the run is."""

    GATHERING = "gathering"
    STAGING = "staging"
    TRAINING = "training"
    TOPPING_UP = "topping-up"
    AGGREGATING = "aggregating"
    RECALLING = "recalling"
    FINISHED = "finished"


OPEN: Final = (State.TRAINING, State.TOPPING_UP)
"""The states in which a round is open."""


class Rounds(Machine):
    """The rounds of a run: a new one, or one that goes on from the model of its last `closed` round."""

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
        self.ledger = Ledger(self.members, terms.dimension, terms.quorum, terms.fitness)
        self.forgetting = Forgetting(0 if terms.unlearning else terms.rounds, terms.asked, terms.phases)
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
        self._exhausted = terms.exhausted
        self._noise = NoiseCount(0, 0)  # the shares in the model that is being made
        self._opened = 0.0
        self._deadline = 0.0
        self._noticed = False

    @property
    def wake_at(self) -> float | None:
        """The next moment at which an open round must be looked at."""
        if self.state not in OPEN:
            return None
        deadline = inf if self.terms.wait else self._deadline
        wake = deadline if self._noticed else min(deadline, self._opened + NOTICE_AFTER)
        return None if wake == inf else wake

    @property
    def progress(self) -> Progress:
        """How far the run is."""
        waiting = self._waiting_for() if self._noticed and self.state in OPEN else ()
        return Progress(self.closed, self.forgetting.last, len(self.present), waiting, self.outcome, self.reason)

    def role_of(self, peer: str) -> str:
        """Hosts are those that were enrolled; the supervisor is the run's own."""
        return SUPERVISOR if peer == SUPERVISOR else "host" if peer in self.members.hosts else "stranger"

    def _next_round(self, now: float) -> list[Instruction]:
        """Open the next round; if the timeline has something to do before it, let that be done first."""
        if self._exhausted:
            return self._finish("completed", self._exhausted)
        if self.closed + 1 not in self.terms.cues:
            return self._open_round(now)
        self.state = State.STAGING
        return [Say((SUPERVISOR,), Cue(self.closed + 1))]

    def _open_when_possible(self, now: float) -> list[Instruction]:
        """Open the first round once everyone who can come is here, a staged one once all who were started are."""
        if self.state in OPEN:
            return []
        if self.state is State.STAGING:
            return self._open_round(now) if self._staged and not any(map(self._to_come, self._expected)) else []
        here = self.present if self.terms.wait else self.present | self.lost
        if any(host not in here and self.members.needs(host) for host in self.members.hosts):
            return []
        return self._next_round(now)

    def _open_round(self, now: float) -> list[Instruction]:
        if self.closed >= self.forgetting.last and not self.forgetting.waiting:
            return self._finish("completed", "")
        early = self.members.turn(self.closed + 1)
        if not self.members.active.any():
            return self._finish_deserted()
        did = self._skip_steps() + self._dismiss()
        if request := self.forgetting.due(self.members, self.closed):
            self.state = State.RECALLING
            remaining = tuple(self.members.names(np.flatnonzero(self.members.active)))
            return [*did, Recall(request, self.closed, self.theta, remaining)]
        if self.closed >= self.forgetting.last:
            return did + self._finish("completed", "")
        for client in early:
            who = {"round": self.closed + 1, "name": self.members.host_of(client), "clients": [client]}
            did.append(Record("client.added", who | {"by": COORDINATOR}))
        self.state = State.TRAINING
        self._staged = False
        self._opened, self._deadline = now, now + self.terms.deadline
        self._noticed = False
        members, step = self.members, self.forgetting.step(self.closed + 1)
        if step is not None:
            members.only(step.clients)
        here = [host for host in members.hosts if host in self.present and host not in self.silent]
        asked = tuple(host for host in here if len(members.numbers(host)))  # not those who come later
        most = self.forgetting.phase.most if step and self.forgetting.phase else 0
        self.ledger.open(self.closed + 1, asked, self._promise(), most)
        whole = tuple(host for host in asked if len(members.numbers(host)) == len(members.hosts[host]))
        if whole:  # else nobody to ask: someone joins before the deadline, or the run ends there
            did.append(Say(whole, self._training(EVERYONE), 0, self._marked({})))
        for host in asked if len(whole) < len(asked) else ():
            if host not in whole:
                did.append(self._question(host, members.numbers(host), 0))
        return did

    def _promise(self) -> int:
        """How many noise shares make the whole noise of the round that opens: by those who take part, dead or alive."""
        match self.terms.shares:
            case "none":
                return 0
            case "whole":
                return 1
            case "expected":
                return int(self.members.active.sum())
            case "quorum":
                return self.ledger.quorum

    def _ask_again(self, host: str, answers: int) -> list[Instruction]:
        """Give a host that speaks up the work it still owes in the open round."""
        owed = self.ledger.ask_again(host)
        return [self._question(host, owed, answers)] if len(owed) else []

    def _question(self, host: str, clients: Integers, answers: int) -> Say:
        return Say((host,), self._training(clients), answers, self._marked({"clients": self.members.names(clients)}))

    def _training(self, clients: Integers) -> Train:
        """The open round's question to these clients of a host."""
        number, phase, promised = self.closed + 1, self.forgetting.phase, self.ledger.promised
        step = self.forgetting.step(number)
        if step is None or phase is None:
            return Train(number, self.theta, clients, promised, number, 0, AS_IT_IS)
        norms = AS_IT_IS
        if phase.calibrated:
            norms = np.zeros(len(self.members))
            norms[[self.members.number_of(client) for client in step.clients]] = step.norms
        return Train(number, self.theta, clients, promised, step.draws, phase.most, norms)

    def _skip_steps(self) -> list[Instruction]:
        """Close steps of unlearning at once in which nobody is left to be asked: the model stays as it is."""
        did: list[Instruction] = []
        while step := self.forgetting.step(self.closed + 1):
            if any(map(self.members.stays, step.clients)):
                break
            self.closed += 1
            self.members.turn(self.closed + 1)
            did += [self._model_record([], [], {}), *self.forgetting.forgotten(self.closed)]
        return did

    def _marked(self, fields: dict[str, Any], number: int | None = None) -> dict[str, Any]:
        """What the log says of a round, the open one by default, with its phase where that is not training."""
        covered = self.forgetting.covers(self.closed + 1 if number is None else number)
        return {"phase": UNLEARNING, **fields} if covered else fields

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
        return self._close_if_complete(now)

    def _without_members(self, now: float) -> list[Instruction]:
        """Nobody can ever answer in the open round: open it again for those who were to come later, if anybody was."""
        return self._let_leavers_go() + self._open_round(now)

    def _let_leavers_go(self) -> list[Instruction]:
        """Those who take part were to leave after the next round, and are not here any more: they leave before it."""
        members, number = self.members, self.closed + 1
        did: list[Instruction] = []
        for client in members.names(np.flatnonzero(members.active)):
            members.leave(client, number, number)
            did.append(self._left(client, number, COORDINATOR))
        return did

    def _close_if_complete(self, now: float) -> list[Instruction]:
        if self.ledger.awaited:
            return []
        enough = self.ledger.complete if self.terms.wait else self.ledger.count >= self.ledger.quorum
        return self._close(now) if enough else []

    def _close(self, now: float) -> list[Instruction]:
        """Let the model be made of the updates that are here."""
        del now
        return self._aggregate(NoiseCount(self.ledger.promised, self.ledger.count))

    def _aggregate(self, noise: NoiseCount) -> list[Instruction]:
        self.state = State.AGGREGATING
        self._noise = noise
        return [Aggregate(*self.ledger.updates(), self.theta, self.closed + 1, noise)]

    def _notice(self, now: float) -> list[Instruction]:
        """Tell, once, for whom the open round waits."""
        if self._noticed or now < self._opened + NOTICE_AFTER:
            return []
        self._noticed = True
        return [Record("run.waiting", {"round": self.closed + 1, "waiting": list(self._waiting_for())})]

    def _silence(self, hosts: set[str]) -> list[Instruction]:
        """Stop counting on hosts that missed the deadline."""
        self._noticed = True
        self.silent |= hosts
        return [self._about("client.silent", host) for host in sorted(hosts)]

    def _finish(self, outcome: str, reason: str) -> list[Instruction]:
        self.state = State.FINISHED
        self.outcome, self.reason = outcome, reason
        here = self._audience()
        told: list[Instruction] = [Say(here, Finish(outcome), 0, {"reason": outcome})] if here else []
        end = {"round": self.closed, "outcome": outcome, "reason": reason, "model": fingerprint(self.theta)}
        return [Record("run.finished", end), *told, Quit(outcome)]

    def _finish_deserted(self) -> list[Instruction]:
        return self._finish("aborted", f"every client has left before round {self.closed + 1}")

    # --- facts -------------------------------------------------------------------------------------------------------

    def _problem(self, host: str, update: Update | Trial) -> tuple[Refusal, str] | None:
        """Why an update may not be used; none if it may, as far as it can be told without its numbers."""
        if update.round <= self.closed:
            return Refusal.STALE_ROUND, f"round {update.round}, closed is {self.closed}"
        if self.state is State.TOPPING_UP and update.round == self.closed + 1:
            return Refusal.STALE_ROUND, f"round {update.round} takes noise in the place of missing shares, no updates"
        if update.round > self.closed + 1 or self.state is not State.TRAINING:
            return Refusal.FUTURE_ROUND, f"round {update.round}, closed is {self.closed}"
        return self.ledger.problem(host, update)

    def _waiting_for(self) -> tuple[str, ...]:
        """The nodes whose answers the open round lacks."""
        return self.ledger.owing()

    def _audience(self) -> tuple[str, ...]:
        """The nodes that are told of the run's end."""
        return tuple(host for host in self.members.hosts if host in self.present)

    def _keeps_weights(self, number: int) -> bool:
        """Whether the log has the weights of this round's updates."""
        every = self.terms.keep_weights_every
        return bool(every) and number % every == 0

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

    def _model_record(
        self, participants: list[str], missing: list[str], info: dict[str, Any], privacy: dict[str, Any] | None = None
    ) -> Record:
        fields = {
            "round": self.closed,
            "theta": self.theta,
            "model": fingerprint(self.theta),
            "participants": participants,
            "missing": missing,
            "aggregation": info,
            **({"privacy": privacy} if privacy else {}),
        }
        return Record("round.closed", self._marked(fields, self.closed))
