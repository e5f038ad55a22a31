"""A client host: a process, or an inline node, in which one or more clients live."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from learning.data import Dataset
from learning.learners import LocalUpdates
from learning.streams import client_key
from learning.unlearning import calibrate
from nodes.shell import Act, Link, Shell
from protocol.codec import Codec
from protocol.journal import Journal
from protocol.machine import Instruction
from protocol.malice import MaliciousParticipation
from protocol.participation import Drawn, DrawShares, LocalTraining, Participation, Trained, Tried
from scenarios.plan import Plan

__all__ = ["HostShell"]


class HostShell(Shell):
    """The participation machine with its hands: the local interactions of its clients."""

    def __init__(self, plan: Plan, host: str, data: Dataset, link: Link, clock: Callable[[], float], pid: int) -> None:
        self._learner = plan.learner(host, data)
        self._clients = plan.hosts[host]
        self._first = self._clients[0].number
        self._attacks = plan.lone_attackers(host)
        self._noise = plan.noise
        self._keys = [client_key(client.id) for client in self._clients]
        self._dimension = plan.ranker.dimension
        self.pid = pid
        given = plan.numbers(host), plan.ranker.dimension, pid
        malice = plan.malice(host)
        machine = Participation(*given) if malice is None else MaliciousParticipation(*given, malice)
        codec = Codec(plan.largest_frame)
        acts: dict[type[Instruction], Act] = {LocalTraining: self._train, DrawShares: self._draw}
        super().__init__(machine, Journal(plan.run, host), link, codec, clock, acts)

    def _train(self, instruction: LocalTraining) -> Callable[[float], Trained | Tried]:
        # A host's clients are contiguous in the roster, so that a client's place here is its number less the first.
        everyone = len(instruction.clients) == len(self._clients)
        members = None if everyone else np.subtract(instruction.clients, self._first)
        before = np.array(instruction.theta)
        made = self._learner.train(before, instruction.round, members, most=instruction.most)
        if made.maxrr is not None:
            return self._tried(instruction, made)
        if instruction.norms is not None:
            made = replace(made, thetas=calibrate(made.thetas, before, np.array(instruction.norms)))
        if self._attacks:
            self._attack(instruction, made.thetas)
        if self._noise is not None and instruction.promised:  # last: also whoever attacks alone adds its share
            for row, place in enumerate((instruction.clients - self._first).tolist()):
                key = self._keys[place]
                made.thetas[row] += self._noise.share(key, instruction.round, self._dimension, instruction.promised)
        return lambda now: Trained(now, made.thetas, made.interactions, made.online)

    def _tried(self, instruction: LocalTraining, made: LocalUpdates) -> Callable[[float], Tried]:
        """What clients that send trials send; what their users saw and clicked stays in this host's log."""
        names = [self._clients[number - self._first].id for number in instruction.clients.tolist()]
        saw = {"clients": names, "online": made.online, "maxrr": made.maxrr}
        self.journal.append("lists.shown", round=instruction.asked_in, **saw)
        seeds, fitness = made.thetas[:, 0].astype(np.int64), np.ascontiguousarray(made.thetas[:, 1:])
        return lambda now: Tried(now, seeds, fitness)

    def _attack(self, instruction: LocalTraining, thetas: NDArray[np.float64]) -> None:
        """Put what malicious clients send in the place of what they learned."""
        for row, number in enumerate(instruction.clients.tolist()):
            attacker = self._attacks.get(number - self._first)
            if attacker is not None:
                thetas[row] = attacker.sent(thetas[row], instruction.theta, instruction.round)

    def _draw(self, instruction: DrawShares) -> Callable[[float], Drawn]:
        """Noise in the place of shares that did not come."""
        noise = np.zeros((len(instruction.clients), self._dimension))
        for row, place in enumerate((instruction.clients - self._first).tolist()):
            if self._noise is not None:
                of = (instruction.promised, instruction.lacking, instruction.givers)
                noise[row] = self._noise.top_up(self._keys[place], instruction.round, self._dimension, *of)
        return lambda now: Drawn(now, noise)
