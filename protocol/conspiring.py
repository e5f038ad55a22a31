"""Rounds in which some clients act as an adversary says: the coordinator's part in it, which is to carry letters.

The members of an open round confide what they learned. Once every member that is still to answer has (and with full
knowledge everybody else's update is there, or is not waited for), the adversary is briefed; what it decides goes back
to the members' hosts, which send it as their updates. While there is no adversary that will come back, members are told
so and do what the scenario says. Every loss on the way is repaired by what repairs all others: a host that hears
nothing joins again and is asked again, the adversary attends again and is briefed again, and all answers have the same
bits.

With `skip`, a deadline that passes while members wait first frees the adversary from those who keep it waiting, then
the members from the adversary, each time with a new deadline; so that members are not taken for dead because of others.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

import numpy as np

from protocol.errors import Refusal
from protocol.letters import Abstain, Attend, Brief, Confide, Craft, Instruct
from protocol.machine import Arrived, Handler, Instruction, Record, Say, among, received, refused
from protocol.message import Floats, Integers
from protocol.messages import ADVERSARY, Lost
from protocol.rounds import State
from protocol.sharing import Sharing
from protocol.terms import Terms

__all__ = ["Conspiring"]

NO_ADVERSARY: Final = "no adversary"
"""Why members decide by themselves, as the log has it."""


class Conspiring(Sharing):
    """Rounds with a plot in them, if the terms have one."""

    def __init__(self, terms: Terms, theta: Floats, closed: int | None = None) -> None:
        super().__init__(terms, theta, closed)
        self._plot = terms.plot
        named = terms.plot.members if terms.plot else ()
        self._plotters = {self.members.number_of(client) for client in named}
        self._attending = False
        self._alone = False  # whether members are to decide by themselves
        self._confided: dict[int, Floats] = {}  # what members of the open round learned, by number
        self._briefed: tuple[int, ...] = ()  # whom the adversary was last asked about
        self._crafted: dict[int, Floats] = {}  # what it decided
        self._released: set[int] = set()  # who was told in the open round that there is no adversary
        self._counted: set[int] = set()  # the clients that the adversary was told the round is made of

    def role_of(self, peer: str) -> str:
        """The adversary is the run's own, where there is one."""
        return ADVERSARY if peer == ADVERSARY and self._plot else super().role_of(peer)

    def recruit(self, clients: Iterable[str], attacks: Iterable[str]) -> None:
        """Clients that were enrolled with the plot's own attack are members from now on."""
        if self._plot is not None:
            joined = [client for client, attack in zip(clients, attacks, strict=True) if attack == self._plot.attack]
            self._plotters |= {self.members.number_of(client) for client in joined}

    def _open_round(self, now: float) -> list[Instruction]:
        self._confided, self._briefed, self._crafted = {}, (), {}
        self._released, self._counted = set(), set()
        return super()._open_round(now)

    def _close_if_complete(self, now: float) -> list[Instruction]:
        return super()._close_if_complete(now) or (self._conspire() if self._is_on else [])

    def _ask_again(self, host: str, answers: int) -> list[Instruction]:
        # Whoever comes after the adversary was briefed comes in the next round, if this one can close without: what
        # members send then depends on who is in the round, and not on who was quick.
        own = self.members.numbers(host)
        owed = own[~self.ledger.answered[own]].tolist()
        late = not self.terms.wait and self._counted and self._counted.isdisjoint(owed)
        enough = len(self._counted) >= self.ledger.quorum
        return [] if late and enough else super()._ask_again(host, answers)

    def _waiting_for(self) -> tuple[str, ...]:
        missing = self._is_on and not self._attending and not self._alone and any(map(self._waits, self._confided))
        return (*super()._waiting_for(), ADVERSARY) if missing else super()._waiting_for()

    def _audience(self) -> tuple[str, ...]:
        return (*super()._audience(), ADVERSARY) if self._attending else super()._audience()

    def _to_come(self, host: str) -> bool:
        if host != ADVERSARY:
            return super()._to_come(host)
        return not self._attending and (not self._alone or self._dead.get(host) == self._living.get(host))

    # --- what is said ------------------------------------------------------------------------------------------------

    def _attend(self, stimulus: Arrived) -> list[Instruction]:
        """Count on the adversary from now on, and brief it if members wait for it."""
        attend = stimulus.envelope.message
        assert isinstance(attend, Attend)
        if self._dead.get(ADVERSARY) == attend.pid:
            return [refused(stimulus, Refusal.UNEXPECTED, f"process {attend.pid} of the adversary is dead")]
        did: list[Instruction] = [received(stimulus, pid=attend.pid)]
        if not self._attending or self._living.get(ADVERSARY) != attend.pid:
            did.append(Record("adversary.joined", {"round": self.closed + 1}))
        self._living[ADVERSARY] = attend.pid
        self._attending, self._alone, self._briefed = True, False, ()
        if self.state is not State.TRAINING:
            return did + self._open_when_possible(stimulus.now)
        return did + (self._conspire() if self._is_on else [])

    def _confide(self, stimulus: Arrived) -> list[Instruction]:
        """Keep what members learned, for the adversary; answer at once what is known already."""
        host, confide = stimulus.peer, stimulus.envelope.message
        assert isinstance(confide, Confide)
        problem = self._distrust(host, confide)
        if problem is not None:
            return [refused(stimulus, *problem)]
        numbers = confide.clients.tolist()
        self._confided |= dict(zip(numbers, np.array(confide.theta), strict=True))
        did: list[Instruction] = [received(stimulus, clients=self.members.names(confide.clients))]
        if all(number in self._crafted for number in numbers):
            return [*did, self._instruct(host, numbers, stimulus.envelope.id)]
        if self._alone or not self._released.isdisjoint(numbers):
            return [*did, self._release(host, numbers, stimulus.envelope.id)]
        return did + self._conspire()

    def _craft(self, stimulus: Arrived) -> list[Instruction]:
        """Hand what the adversary decided to the hosts of its members."""
        craft = stimulus.envelope.message
        assert isinstance(craft, Craft)
        names, shape = (
            self.members.names(np.array(self._briefed, dtype=np.int64)),
            (len(craft.clients), len(self.theta)),
        )
        if craft.round != self.closed + 1 or list(craft.clients) != names or craft.theta.shape != shape:
            return [refused(stimulus, Refusal.UNEXPECTED, f"the last brief was about {names} in {self.closed + 1}")]
        self._crafted |= dict(zip(self._briefed, np.array(craft.theta), strict=True))
        told = [self._instruct(*one, stimulus.envelope.id) for one in self._pending() if one[1][0] in self._crafted]
        return [received(stimulus, clients=names), *told]

    def _abstain(self, stimulus: Arrived) -> list[Instruction]:
        """Wait no longer for clients that send nothing in this round."""
        host, abstain = stimulus.peer, stimulus.envelope.message
        assert isinstance(abstain, Abstain)
        if not among(abstain.clients, self.members.hosts[host]):
            return [refused(stimulus, Refusal.NOT_YOURS, f"{host} abstained for {abstain.clients.tolist()[:10]}")]
        if abstain.round != self.closed + 1:
            return [refused(stimulus, Refusal.STALE_ROUND, f"round {abstain.round}, closed is {self.closed}")]
        self.ledger.excuse(host, abstain.clients)
        return [received(stimulus, clients=self.members.names(abstain.clients)), *self._close_if_complete(stimulus.now)]

    def _lose_adversary(self, stimulus: Arrived) -> list[Instruction]:
        """Stop counting on a dead adversary; its members decide by themselves, unless it will come back."""
        lost = stimulus.envelope.message
        assert isinstance(lost, Lost)
        did: list[Instruction] = [received(stimulus, name=ADVERSARY)]
        self._dead[ADVERSARY] = lost.pid
        late = self._attending and self._living.get(ADVERSARY) != lost.pid
        if late or self._plot is None:
            return did
        self._attending, self._briefed = False, ()
        did.append(Record("adversary.lost", {"round": self.closed + 1}))
        if not self._plot.awaits:
            did += self._leave_alone()
        return did + (self._open_when_possible(stimulus.now) if self.state is not State.TRAINING else [])

    def _grant_time(self, now: float) -> list[Instruction]:
        """The deadline has passed while members wait for their adversary: take away what keeps them, once each."""
        plot = self._plot
        if plot is None or not self._is_on or not any(map(self._waits, self._confided)):
            return []
        did: list[Instruction] = []
        expected = self.ledger.expected(everyone=False)
        expected[list(self._confided)] = False
        slow = sorted(host for host in self.ledger.awaited if expected[self.members.hosts[host]].any())
        if not self._briefed and slow:
            for host in slow:
                self.silent.add(host)
                self.ledger.release(host)
                did.append(self._about("client.silent", host))
            did += self._conspire()
        elif not self._alone and plot.deserts:
            did += [Record("adversary.silent", {"round": self.closed + 1}), *self._leave_alone()]
        if did:
            self._deadline = now + self.terms.deadline
        return did

    # --- what is done ------------------------------------------------------------------------------------------------

    @property
    def _is_on(self) -> bool:
        """Whether members confide in the open round."""
        return self._plot is not None and self.state is State.TRAINING and self._plot.is_on(self.closed + 1)

    def _waits(self, number: int) -> bool:
        """Whether a member has confided and was not answered yet."""
        told = number in self._crafted or number in self._released
        return not told and not self.ledger.answered[number]

    def _conspire(self) -> list[Instruction]:
        """Brief the adversary once all letters are there that will come, and what it may see beside them."""
        assert self._plot is not None
        ledger = self.ledger
        expected = ledger.expected(everyone=self.terms.wait)
        owing = {int(number) for number in np.flatnonzero(expected)}
        members = (owing & self._plotters) - self._released
        ready = members and members <= self._confided.keys() and (members == owing or not self._plot.full)
        heard = self._confided.keys() - self._released
        who = tuple(sorted(one for one in heard if expected[one] or ledger.answered[one]))
        if not ready or not self._attending or who == self._briefed or members <= self._crafted.keys():
            return []
        self._briefed = who
        thetas, _, answered = ledger.updates()
        honest = ~np.isin(answered, list(self._plotters))
        others = thetas[honest] if self._plot.full else np.empty((0, len(self.theta)))
        self._counted = {int(number) for number in np.flatnonzero(expected | ledger.answered)}
        size = len(self._counted)
        names = self.members.names(np.array(who, dtype=np.int64))
        theta = np.array([self._confided[one] for one in who])
        seen = self.members.names(answered[honest]) if self._plot.full else []
        told = {"clients": names, "others": seen, "size": size}
        return [Say((ADVERSARY,), Brief(self.closed + 1, size, self.theta, tuple(names), theta, others), 0, told)]

    def _leave_alone(self) -> list[Instruction]:
        """Tell members that wait that there is no adversary, and from now on everybody who confides."""
        self._alone = True
        waiting = self._pending() if self._is_on else []
        return [self._release(*one, 0) for one in waiting if one[1][0] not in self._crafted]

    def _pending(self) -> list[tuple[str, list[int]]]:
        """The members that have confided and not sent their updates yet, by host; those of a host are told together."""
        told = self._released
        found = []
        for host, own in self.members.hosts.items() if self._confided else ():
            waiting = [one for one in own.tolist() if one in self._confided and one not in told]
            if host in self.present and (numbers := [one for one in waiting if not self.ledger.answered[one]]):
                found.append((host, numbers))
        return found

    def _instruct(self, host: str, numbers: list[int], answers: int) -> Say:
        """Tell members on a host what they are to send."""
        clients: Integers = np.array(numbers, dtype=np.int64)
        theta = np.array([self._crafted[one] for one in numbers])
        told = {"clients": self.members.names(clients)}
        return Say((host,), Instruct(self.closed + 1, clients, theta), answers, told)

    def _release(self, host: str, numbers: list[int], answers: int) -> Say:
        """Tell members on a host that there is no adversary; for this round that is final."""
        self._released.update(numbers)
        clients: Integers = np.array(numbers, dtype=np.int64)
        told = {"clients": self.members.names(clients), "reason": NO_ADVERSARY}
        return Say((host,), Instruct(self.closed + 1, clients, np.empty((0, len(self.theta)))), answers, told)

    def _distrust(self, host: str, confide: Confide) -> tuple[Refusal, str] | None:
        """Why a letter is not carried; none if it is."""
        clients, own = confide.clients, self.members.hosts[host]
        if not len(clients) or not among(clients, own):
            return Refusal.NOT_YOURS, f"{host} confided for {clients.tolist()[:10]}"
        if confide.round != self.closed + 1 or not self._is_on:
            return Refusal.STALE_ROUND, f"round {confide.round}, closed is {self.closed}"
        if not self._plotters.issuperset(clients.tolist()):
            return Refusal.UNEXPECTED, f"{host} confided for clients without an adversary"
        if confide.theta.shape != (len(clients), len(self.theta)):
            return Refusal.WRONG_DIMENSION, f"theta must be {(len(clients), len(self.theta))}"
        return None

    everywhere: ClassVar[dict[type, Handler]] = {Attend: _attend}
    while_open: ClassVar[dict[type, Handler]] = {Confide: _confide, Craft: _craft, Abstain: _abstain}
