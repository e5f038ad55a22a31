"""The crew: a run's processes with their keys, and what can be done to them."""

import multiprocessing.connection
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from nodes.evaluator import EVALUATOR
from nodes.nursery import Child, Nursery, ended_how
from nodes.process import Task
from protocol.errors import UserError
from protocol.journal import Journal
from protocol.messages import ADVERSARY, COORDINATOR, SUPERVISOR, Message
from protocol.transport import KeyPair, Line, local_endpoint, make_keys
from scenarios.load import to_dict
from scenarios.plan import Plan
from scenarios.roster import Client

__all__ = ["Crew"]

NO_KEYS: Final = KeyPair(b"", b"")
DEATH: Final = 5.0
"""Seconds that a killed process may take to be gone."""


class Crew:
    """Starts, ends and pauses the nodes of a run; the director's hands.

    tell    says something to the coordinator
    bury    is told of every process that has ended
    remind  says again to a new coordinator who comes and goes
    """

    def __init__(
        self, plan: Plan, journal: Journal, tell: Callable[[Message], None], bury: Callable[[Child, int], None]
    ) -> None:
        self.nursery = Nursery(journal)
        self.tell = tell
        self.remind: Callable[[], None] = lambda: None
        self.line: Line | None = None
        self._plan = plan
        self._bury = bury
        self._keys = {name: make_keys() for name in (COORDINATOR, SUPERVISOR, *plan.adversary, *plan.hosts)}
        given = (to_dict(plan.scenario), str(plan.run), plan.features, plan.cores, NO_KEYS)
        self._task = Task("", "", *given, added=plan.added, parent=plan.parent)
        self._port = plan.scenario.federation.port
        self._replaced = ""  # a node whose end is not missed, because another takes its place

    def start_coordinator(self, *, goes_on: bool) -> Line:
        """Start the coordinator, anew or from the log, and connect to it; it keeps its port from then on."""
        keys = self._keys[COORDINATOR]
        enrolled = tuple((pair.public, name) for name, pair in self._keys.items() if name != COORDINATOR)
        task = replace(self._task, name=COORDINATOR, role="coordinator", keys=keys, port=self._port)
        task = replace(task, unlearning=self._plan.unlearning)
        child = self.nursery.start(replace(task, enrolled=enrolled, goes_on=goes_on))
        kind, endpoint = self._first_words(child)
        if kind != "ready":
            raise UserError(endpoint if kind == "failed" else f"the coordinator crashed at its start:\n{endpoint}")
        self._port = int(endpoint.rpartition(":")[2])
        endpoint = local_endpoint(keys.public) or endpoint  # all nodes are on this machine
        self._task = replace(self._task, server=keys.public, endpoint=endpoint)
        if self.line is not None:
            self.line.close()
        self.line = Line(endpoint, self._keys[SUPERVISOR], keys.public, self._plan.largest_frame)
        for other in self.nursery.children.values():
            self.line.watch(other.process.sentinel)
        return self.line

    def start_node(self, name: str) -> None:
        """Start a host, the adversary or the evaluator."""
        role = name if name in (EVALUATOR, ADVERSARY) else "host"
        task = replace(self._task, name=name, role=role, keys=self._keys.get(name, NO_KEYS))
        child = self.nursery.start(task)
        if self.line is not None:
            self.line.watch(child.process.sentinel)

    def reap(self) -> None:
        """Notice who has ended."""
        for child, code in self.nursery.ended():
            if self.line is not None:
                self.line.unwatch(child.process.sentinel)
            if child.task.name != self._replaced:
                self._bury(child, code)

    def lives(self, node: str) -> bool:
        """Whether a node has a process."""
        return node in self.nursery.children

    # --- hands -------------------------------------------------------------------------------------------------------

    def kill(self, node: str, signal: str) -> None:
        """Send a node's process a signal; after KILL it is dead and the coordinator knows."""
        child = self._child(node)
        os.kill(child.pid, _signal(signal))
        if signal == "KILL":
            multiprocessing.connection.wait([child.process.sentinel], DEATH)
            self.reap()

    def pause(self, node: str) -> None:
        """Stop a node's process."""
        os.kill(self._child(node).pid, signal.SIGSTOP)

    def unpause(self, node: str) -> None:
        """Let a node's process go on."""
        os.kill(self._child(node).pid, signal.SIGCONT)

    def restart(self, node: str) -> None:
        """Start a node, ending it first if it lives."""
        if node in self.nursery.children:
            self._replaced = COORDINATOR if node == COORDINATOR else ""
            self.kill(node, "KILL")
            self._replaced = ""
        if node in self.nursery.children:
            return  # the scenario's `restart` was quicker
        if node == COORDINATOR:
            self.start_coordinator(goes_on=True)
            self.remind()
        else:
            self.start_node(node)

    def prepare(self, client: Client) -> str:
        """Make keys for the host of a new client, which has its name; the public one."""
        self._keys[client.id] = make_keys()
        self._task = replace(self._task, added=(*self._task.added, client))
        return self._keys[client.id].public.decode()

    def start(self, client: Client) -> None:
        """Start the host of a new client."""
        self.start_node(client.id)

    def _child(self, node: str) -> Child:
        child = self.nursery.children.get(node)
        if child is None:
            raise UserError(f"{node} is not running; running are {', '.join(self.nursery.children) or 'none'}")
        return child

    def _first_words(self, child: Child) -> tuple[str, str]:
        """Wait until a node is ready or has failed."""
        child.report.poll(None)
        words = child.last_words()  # none if the pipe was closed, which a process that ends does
        child.process.join(0 if words[0] else DEATH)
        how = ended_how(child.process.exitcode or 0)
        return words if words[0] else ("failed", f"{child.task.name} ended at its start ({how})")


def _signal(name: str) -> signal.Signals:
    try:
        return signal.Signals[f"SIG{name.upper().removeprefix('SIG')}"]
    except KeyError:
        known = ", ".join(one.name.removeprefix("SIG") for one in signal.Signals)
        raise UserError(f"a signal must be one of {known}; got {name!r}") from None
