"""Who takes part: clients with their numbers and hosts, some of whom come later or leave.

A number is never given twice. Coming and leaving is by rounds: the first round with a client, the first one without it.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from protocol.messages import ADVERSARY, COORDINATOR, OPERATOR, SUPERVISOR, Enrol

__all__ = ["Membership"]

RESERVED: Final = (COORDINATOR, ADVERSARY, SUPERVISOR, OPERATOR)
"""Names that no host and no client can have."""

Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


class Membership:
    """The roster of a run: ids and interactions by number, the numbers of each host, and who is active."""

    def __init__(self, clients: Sequence[str], hosts: dict[str, Integers], interactions: Integers) -> None:
        self.clients = list(clients)
        self.hosts = dict(hosts)
        self.interactions = interactions
        self.active: Booleans = np.ones(len(self.clients), dtype=bool)
        self._everyone = True  # whether all are active: the common case, which is quick
        self._coming: dict[int, int] = {}  # the first round of those who are not active yet
        self._leaving: dict[int, int] = {}  # the first round without those who still are
        self._resting: set[int] = set()  # those who sit the open round out
        self._number = {name: number for number, name in enumerate(self.clients)}
        self._host = {self.clients[number]: host for host, own in hosts.items() for number in own.tolist()}

    def __len__(self) -> int:
        return len(self.clients)

    def __contains__(self, client: str) -> bool:
        """Whether the client was ever enrolled."""
        return client in self._number

    def stays(self, client: str) -> bool:
        """Whether the client takes part or will, and is not about to leave."""
        number = self._number.get(client)
        if number is None or number in self._leaving:
            return False
        return bool(self.active[number]) or number in self._coming or number in self._resting

    def holds(self, host: str) -> bool:
        """Whether a client of the host takes part now or will."""
        own = self.hosts[host].tolist()
        away = self._coming.keys() | self._resting
        return len(self.numbers(host)) > 0 or not away.isdisjoint(own)

    def needs(self, host: str) -> bool:
        """Whether a client of the host takes part or will, and is not about to leave."""
        return any(map(self.stays, self.names(self.hosts[host])))

    @property
    def needed(self) -> Booleans:
        """Those who take part and are not about to leave."""
        needed = self.active.copy()
        needed[list(self._leaving)] = False
        return needed

    def number_of(self, client: str) -> int:
        """A client's number."""
        return self._number[client]

    def host_of(self, client: str) -> str:
        """Where a client lives."""
        return self._host[client]

    def numbers(self, host: str) -> Integers:
        """The numbers of a host's clients that take part now."""
        own = self.hosts[host]
        return own if self._everyone else own[self.active[own]]

    def names(self, numbers: Integers | NDArray[np.intp]) -> list[str]:
        """The ids behind numbers; a number that nobody has stands for itself."""
        known = self.clients
        return [known[one] if 0 <= one < len(known) else str(one) for one in numbers.tolist()]

    def problem(self, enrol: Enrol) -> str:
        """Why the clients of a new host cannot be taken in; empty if they can."""
        names, counts = (
            enrol.clients,
            {len(enrol.clients), len(enrol.clicks), len(enrol.attacks), len(enrol.interactions)},
        )
        taken = [one for one in (enrol.host, *names) if one in self.hosts or one in self or one in RESERVED]
        if taken:
            return f"a new name must be new, got {', '.join(taken[:10])}"
        if not names or len(set(names)) < len(names) or len(counts) > 1:
            return f"{enrol.host} needs different clients with a click model and a count each, got {len(names)} names"
        if (enrol.interactions < 1).any():
            return f"interactions must be at least 1, got {enrol.interactions.tolist()[:10]}"
        return ""

    def enrol(self, host: str, clients: Sequence[str], interactions: Integers, first: int) -> None:
        """Take clients of a new host in, from the round `first` on."""
        numbers = np.arange(len(self.clients), len(self.clients) + len(clients))
        self.clients += clients
        self.hosts[host] = numbers
        self.interactions = np.concatenate([self.interactions, interactions])
        self.active = np.concatenate([self.active, np.ones(len(clients), dtype=bool)])
        self._number |= dict(zip(clients, numbers.tolist(), strict=True))
        self._host |= dict.fromkeys(clients, host)
        for client in clients:
            self.postpone(client, first)

    def postpone(self, client: str, first: int) -> None:
        """Let a client take part from the round `first` on."""
        number = self._number[client]
        self.active[number] = self._everyone = False
        self._coming[number] = first

    def leave(self, client: str, first: int, now: int) -> None:
        """Let a client go: `first` is the first round without it, `now` the round that is open or opens next."""
        number = self._number[client]
        if first > now:
            self._leaving[number] = first
        else:
            self.active[number] = self._everyone = False
            self._coming.pop(number, None)
            self._leaving.pop(number, None)
            self._resting.discard(number)

    def only(self, clients: Iterable[str]) -> None:
        """Let only these clients take part in the round that opens; the others sit it out."""
        wanted = np.zeros(len(self.clients), dtype=bool)
        wanted[[self._number[client] for client in clients]] = True
        self._resting = set(np.flatnonzero(self.active & ~wanted).tolist())
        self.active &= wanted
        self._everyone = bool(self.active.all())

    def turn(self, number: int) -> list[str]:
        """A round is about to open: those who come and those who go do so now.

        If nobody would be left, those who come later come now: they are what it returns.
        """
        if not self._coming and not self._leaving and not self._resting:
            return []
        self.active[list(self._resting)] = True
        self._resting = set()
        for one in [one for one, first in self._coming.items() if first <= number]:
            del self._coming[one]
            self.active[one] = True
        for one in [one for one, first in self._leaving.items() if first <= number]:
            del self._leaving[one]
            self.active[one] = False
        early = [] if self.active.any() else list(self._coming)
        self.active[early] = True
        self._coming = {} if early else self._coming
        self._everyone = bool(self.active.all())
        return [self.clients[one] for one in early]
