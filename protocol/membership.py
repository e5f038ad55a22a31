"""Who takes part: clients with their numbers and hosts, some of whom join later or leave.

A number is never given twice. Whoever is enrolled while a run goes on is asked from the next round on; whoever leaves
is not asked from the next round on, and at once if nobody can be asked for it any more.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Membership"]

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
        self._coming: list[int] = []
        self._leaving: list[int] = []
        self._number = {name: number for number, name in enumerate(self.clients)}
        self._host = {self.clients[number]: host for host, own in hosts.items() for number in own.tolist()}

    def __len__(self) -> int:
        return len(self.clients)

    def knows(self, client: str) -> bool:
        """Whether the client is enrolled and has not left."""
        number = self._number.get(client)
        return number is not None and number not in self._leaving and (self.active[number] or number in self._coming)

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

    def enrol(self, host: str, clients: Sequence[str], interactions: Integers) -> Integers:
        """Take clients of a new host in, from the next round on; their numbers."""
        numbers = np.arange(len(self.clients), len(self.clients) + len(clients))
        self.clients += clients
        self.hosts[host] = numbers
        self.interactions = np.concatenate([self.interactions, interactions])
        self.active = np.concatenate([self.active, np.zeros(len(clients), dtype=bool)])
        self._everyone = False
        self._coming += numbers.tolist()
        self._number |= dict(zip(clients, numbers.tolist(), strict=True))
        self._host |= dict.fromkeys(clients, host)
        return numbers

    def leave(self, client: str, *, at_once: bool) -> None:
        """Let a client go, before the next round or at once."""
        number = self._number[client]
        if at_once:
            self.active[number] = self._everyone = False
            self._coming = [one for one in self._coming if one != number]
        else:
            self._leaving.append(number)

    def turn(self) -> None:
        """A round is about to open: those who come and those who go do so now."""
        self.active[self._coming] = True
        self.active[self._leaving] = False
        if self._coming or self._leaving:
            self._everyone = bool(self.active.all())
        self._coming, self._leaving = [], []
