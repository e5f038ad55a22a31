"""The open round's books: who was asked, who answered with what, and whether an answer may be used."""

from fractions import Fraction
from math import ceil, isfinite
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocol.errors import Refusal
from protocol.machine import among
from protocol.membership import Membership
from protocol.messages import Trial, Update

__all__ = ["Ledger"]

SEEDS: Final = 1 << 53
"""Seeds of trials are below this, so that a row of float64 holds them."""
FIGURES: Final = 2
"""What a trial tells beside its seed: how well the model did either way."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


class Ledger:
    """One round at a time, in arrays with a place for every client.

    A client's row is its model, or where it sends trials its seed and its two figures, which are at most `fitness`.
    """

    def __init__(self, members: Membership, dimension: int, quorum: float, fitness: float = 0.0) -> None:
        self.round = 0
        self.promised = 0  # noise shares that make the whole noise
        self.awaited: set[str] = set()  # hosts that were asked and still owe something
        self.answered = np.zeros(0, dtype=bool)
        self._members = members
        self._dimension = 1 + FIGURES if fitness else dimension  # of a row
        self._fitness = fitness
        # The quorum as it was written: 0.55 of 100 clients is 55, while 0.55 * 100 is a little more.
        self._fraction = Fraction(str(quorum))
        self._asked = np.zeros(0, dtype=bool)
        self._thetas = np.empty((0, self._dimension))
        self._most = 0  # interactions of a client at most; 0: as many as it has
        self._owed: dict[str, int] = {}  # how many clients of a host were asked and have not answered
        self.grow()

    def grow(self) -> None:
        """Make room for clients that were enrolled; they are not asked yet."""
        more = len(self._members) - len(self._asked)
        self._asked = np.concatenate([self._asked, np.zeros(more, dtype=bool)])
        self.answered = np.concatenate([self.answered, np.zeros(more, dtype=bool)])
        self._thetas = np.concatenate([self._thetas, np.empty((more, self._dimension))])

    def open(self, number: int, hosts: tuple[str, ...], promised: int = 0, most: int = 0) -> None:
        """Begin a round in which all active clients of these hosts are asked, with so many noise shares promised.

        most  interactions of a client at most; 0: as many as it has
        """
        members = self._members
        self.round = number
        self.promised = promised
        self._most = most
        self.awaited = set(hosts)
        self.answered[:] = False
        self._owed = dict.fromkeys(members.hosts, 0) | {host: len(members.numbers(host)) for host in hosts}
        self._asked[:] = len(hosts) == len(members.hosts)
        for host in hosts if len(hosts) < len(members.hosts) else ():
            self._asked[members.hosts[host]] = True
        self._asked &= members.active

    def ask_again(self, host: str) -> Integers:
        """The clients of a host whose answers are missing; they count as asked now."""
        numbers = self._members.numbers(host)
        owed = numbers[~self.answered[numbers]]
        if len(owed):
            self.awaited.add(host)
            self._asked[owed] = True
            self._owed[host] = len(owed)
        return owed

    def has(self, client: str) -> bool:
        """Whether the client has answered."""
        return bool(self.answered[self._members.number_of(client)])

    def release(self, host: str) -> None:
        """Nothing more is expected of a host in this round."""
        self.awaited.discard(host)

    def strike(self, host: str) -> None:
        """The host's active clients have become fewer: it owes only what they owe."""
        numbers = self._members.numbers(host)
        self._owed[host] = int((self._asked[numbers] & ~self.answered[numbers]).sum())
        if not self._owed[host]:
            self.awaited.discard(host)

    def excuse(self, host: str, clients: Integers) -> None:
        """Nothing more is expected of some clients of a host in this round."""
        self._asked[clients] = False
        self.strike(host)

    def expected(self, *, everyone: bool) -> Booleans:
        """Who is still to answer: those who were asked on hosts that are awaited, or everyone who is needed."""
        expected = np.zeros(len(self._asked), dtype=bool)
        for host in self.awaited:
            expected[self._members.numbers(host)] = True
        expected &= self._asked
        return (expected | self._members.needed if everyone else expected) & ~self.answered

    def problem(self, host: str, update: Update | Trial) -> tuple[Refusal, str] | None:
        """Why an update or a trial may not be used; none if it may."""
        clients, own = update.clients, self._members.numbers(host)
        count = len(clients)
        if count == 0 or clients.tobytes() != own.tobytes() or self._owed.get(host) != count:
            # else just those whom it was asked for, and none of them has answered
            if count == 0 or not among(clients, self._members.hosts[host]):
                return Refusal.NOT_YOURS, f"{host} answered for {clients.tolist()[:10]}"
            if count > 1 and not (np.diff(clients) > 0).all():
                return Refusal.MALFORMED, "clients must rise"
            if self.answered[clients].any():
                return Refusal.DUPLICATE, f"round {self.round}"
            if not (self._asked[clients] & self._members.active[clients]).all():
                return Refusal.NOT_ASKED, f"round {self.round}"
        if isinstance(update, Trial) != bool(self._fitness):
            return Refusal.WRONG_DIMENSION, f"clients of this run send {'trials' if self._fitness else 'updates'}"
        return self._trial_problem(update) if isinstance(update, Trial) else self._update_problem(update)

    def _update_problem(self, update: Update) -> tuple[Refusal, str] | None:
        count, dimension = len(update.clients), self._dimension
        shapes = (update.theta.shape, update.interactions.shape, update.online.shape)
        if shapes != ((count, dimension), (count,), (count,)):
            return Refusal.WRONG_DIMENSION, f"theta must be {(count, dimension)}, got {shapes[0]}"
        if update.interactions.tobytes() != self.interactions[update.clients].tobytes():
            return Refusal.WRONG_COUNT, f"got {update.interactions.tolist()[:10]}"
        if update.promised != self.promised:
            return Refusal.WRONG_SHARES, f"one of {self.promised} was asked for, got one of {update.promised}"
        return None

    def _trial_problem(self, trial: Trial) -> tuple[Refusal, str] | None:
        count = len(trial.clients)
        if trial.seeds.shape != (count,) or trial.fitness.shape != (count, FIGURES):
            return Refusal.WRONG_DIMENSION, f"fitness must be {(count, FIGURES)}, got {trial.fitness.shape}"
        if not ((trial.seeds >= 0) & (trial.seeds < SEEDS)).all():
            return Refusal.OUT_OF_RANGE, f"seeds are from 0 to 2^53 - 1, got {trial.seeds.tolist()[:10]}"
        if not ((trial.fitness >= 0) & (trial.fitness <= self._fitness)).all():  # not so for what is no number, too
            return Refusal.OUT_OF_RANGE, f"figures are from 0 to {self._fitness:g}, got {trial.fitness.tolist()[:10]}"
        return None

    def change_norms(self, update: Update, before: Floats) -> Floats | None:
        """How far each client moved, ‖θ_c − θ_t‖; none if a number of the update is not finite."""
        with np.errstate(all="ignore"):  # hostile numbers overflow
            change = update.theta - before
            norms = np.sqrt(np.add.reduce(change * change, axis=1))  # the same bits however many rows there are
            return norms if isfinite(norms @ update.online) else None  # one number is finite only if all of both are

    def enter(self, host: str, update: Update | Trial) -> None:
        """Keep an update or a trial."""
        if isinstance(update, Trial):
            self._thetas[update.clients, 0] = update.seeds
            self._thetas[update.clients, 1:] = update.fitness
        else:
            self._thetas[update.clients] = update.theta
        self.answered[update.clients] = True
        self._owed[host] -= len(update.clients)
        if not self._owed[host]:
            self.awaited.discard(host)

    def add(self, clients: Integers, noise: Floats) -> None:
        """Add noise [n, d] to the updates of these clients."""
        self._thetas[clients] += noise

    @property
    def complete(self) -> bool:
        """Whether every client that is needed has answered."""
        return bool(self.answered[self._members.needed].all())

    @property
    def quorum(self) -> int:
        """How many answers a round needs."""
        return max(1, ceil(self._fraction * int(self._members.active.sum())))

    @property
    def count(self) -> int:
        """How many have answered."""
        return int(self.answered.sum())

    def updates(self) -> tuple[Floats, Integers, Integers]:
        """The local models, interactions and numbers of those who answered, in client order."""
        who = np.flatnonzero(self.answered)
        if len(who) == len(self._members):
            return self._thetas, self.interactions, who
        return self._thetas[who], self.interactions[who], who

    def participants(self) -> list[str]:
        """The names of those who answered, in client order."""
        members = self._members
        return list(members.clients) if self.answered.all() else members.names(np.flatnonzero(self.answered))

    @property
    def interactions(self) -> Integers:
        """What each client is asked for in this round."""
        asked = self._members.interactions
        return np.minimum(asked, self._most) if self._most else asked

    def missing(self) -> list[str]:
        """Those who take part and did not answer."""
        absent = self._members.active & ~self.answered
        return self._members.names(np.flatnonzero(absent)) if absent.any() else []

    def owing(self) -> tuple[str, ...]:
        """The hosts whose answers are missing."""
        members = self._members
        return tuple(host for host in members.hosts if not self.answered[members.numbers(host)].all())
