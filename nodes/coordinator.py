"""The coordinator: runs the rounds, aggregates, and writes the log of all it says and hears."""

import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final

from learning.errors import LearningError
from nodes.shell import Link, Shell
from protocol.codec import VERSION, Codec
from protocol.coordination import Coordination
from protocol.errors import UserError
from protocol.journal import Journal
from protocol.machine import Say
from protocol.messages import COORDINATOR, SUPERVISOR
from protocol.terms import Aggregate, Aggregated
from scenarios.load import scenario_hash, to_dict
from scenarios.plan import Plan

__all__ = ["CoordinatorShell", "run_record"]

PROGRESS_EVERY: Final = 0.1
"""Seconds between two words to the console."""

BITS_DEPEND_ON: Final = ("numpy", "numba", "llvmlite")


class CoordinatorShell(Shell):
    """The coordination machine with its hands: aggregation, and a word to the console now and then."""

    def __init__(self, plan: Plan, link: Link, clock: Callable[[], float]) -> None:
        self._rule = plan.rule
        self._told = 0.0
        journal = Journal(plan.run, COORDINATOR)
        machine = Coordination(plan.terms, plan.start)
        super().__init__(machine, journal, link, Codec(plan.largest_frame), clock, {Aggregate: self._aggregate})
        self.journal.append("run.started", **run_record(plan))
        self.journal.append("clients.enrolled", **_enrolment(plan))
        self.coordination = machine

    def report(self, *, always: bool = False) -> None:
        """Tell the supervisor how far the run is, at most every `PROGRESS_EVERY` seconds."""
        now = time.monotonic()
        if always or now >= self._told + PROGRESS_EVERY:
            self._told = now
            self.say(Say((SUPERVISOR,), self.coordination.progress))

    def _aggregate(self, instruction: Aggregate, now: float) -> Aggregated:
        try:
            made = self._rule(instruction.thetas, instruction.interactions, instruction.before)
        except LearningError as error:
            raise UserError(f"round {self.coordination.closed + 1} cannot be aggregated: {error}") from error
        return Aggregated(now, made.theta, made.info)


def run_record(plan: Plan) -> dict[str, Any]:
    """Record 0: everything that decides the run's bits."""
    return {
        "scenario": to_dict(plan.scenario),
        "scenario_hash": scenario_hash(plan.scenario),
        "seed": plan.scenario.seed,
        "versions": {
            "foltr": version("foltr"),
            "protocol": VERSION,
            "python": platform.python_version(),
            "machine": platform.machine(),
            **{name: version(name) for name in BITS_DEPEND_ON},
        },
        "dimension": plan.ranker.dimension,
        "engine": plan.scenario.federation.engine,
        "weights": plan.weights,
    }


def _enrolment(plan: Plan) -> dict[str, Any]:
    host_of = {client.id: host for host, clients in plan.hosts.items() for client in clients}
    return {
        "clients": [client.id for client in plan.clients],
        "hosts": [host_of[client.id] for client in plan.clients],
        "clicks": [
            client.clicks if isinstance(client.clicks, str) else str(client.clicks["kind"]) for client in plan.clients
        ],
        "interactions": [client.interactions for client in plan.clients],
    }
