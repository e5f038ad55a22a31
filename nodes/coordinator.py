"""The coordinator: runs the rounds, aggregates, and writes the log of all it says and hears."""

import platform
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from typing import Any, Final

from learning.errors import LearningError
from nodes.closing import Closing
from nodes.memory import JournalMemory
from nodes.past import Past, closed_rounds
from nodes.shell import Act, Link, Shell
from nodes.weather import Weather
from protocol.codec import VERSION, Codec
from protocol.coordination import Coordination, State
from protocol.errors import UserError
from protocol.forgetting import Recall, Recalled
from protocol.journal import Journal
from protocol.machine import Instruction, Say
from protocol.messages import COORDINATOR, SUPERVISOR
from protocol.terms import Admit, Aggregate, Aggregated, Impose
from scenarios.load import scenario_hash, to_dict
from scenarios.plan import Plan
from scenarios.roster import setting_text
from scenarios.unlearning import begin_unlearning

__all__ = ["CoordinatorShell", "run_record"]

PROGRESS_EVERY: Final = 0.1
"""Seconds between two words to the console."""

BITS_DEPEND_ON: Final = ("numpy", "numba", "llvmlite")


class CoordinatorShell(Shell):
    """The coordination machine with its hands: aggregation, weather, and a word to the console now and then.

    past   how far an earlier coordinator of this run came, if there was one
    admit  lets a new host's key in; engines without keys need none
    """

    def __init__(
        self,
        plan: Plan,
        link: Link,
        clock: Callable[[], float],
        past: Past | None = None,
        admit: Callable[[str, str], None] | None = None,
    ) -> None:
        rule = plan.rule()
        self._plan = plan
        self._closing = Closing(plan, rule, past.privacy if past else ())
        self._admit = admit
        self._told = 0.0
        journal = Journal(plan.run, COORDINATOR)
        self.weather = Weather(link, super().on_frame, journal, clock, plan.scenario.seed)
        terms = replace(plan.terms, exhausted=self._closing.exhausted(past.closed + 1 if past else 1))
        self.coordination = (
            Coordination(terms, plan.start) if past is None else Coordination(terms, past.theta, past.closed)
        )
        acts: dict[type[Instruction], Act] = {
            Aggregate: self._aggregate,
            Admit: self._let_in,
            Impose: self._impose,
            Recall: self._recall,
        }
        super().__init__(self.coordination, journal, self.weather, Codec(plan.largest_frame), clock, acts)
        if past is not None and rule.remembers:
            for updates in closed_rounds(plan.run, past.closed, max((one.first for one in past.phases), default=0)):
                rule(updates)
        if past is None:
            journal.append("run.started", **run_record(plan))
            journal.append("clients.enrolled", **_enrolment(plan))
        else:
            journal.append("run.resumed", round=past.closed, versions=run_record(plan)["versions"])
        journal.flush()  # before anybody follows it

    @property
    def wake_at(self) -> float | None:
        """When the machine or a held frame is due."""
        moments = [one for one in (self.machine.wake_at, self.weather.wake_at) if one is not None]
        return min(moments, default=None)

    def on_frame(self, peer: str, frame: bytes | memoryview) -> None:
        """Take a frame that came through the weather."""
        if peer == SUPERVISOR or self.weather.calm:
            super().on_frame(peer, frame)
        else:
            self.weather.arrive(peer, bytes(frame))

    def on_time(self) -> None:
        """Let held frames go on, then wake the machine if its time has come."""
        if not self.weather.calm:
            self.weather.release()
        super().on_time()

    def say(self, instruction: Say, cause: str | None = None) -> None:
        """Log a message, then send it; that the run is over is heard in any weather."""
        if self.coordination.state is State.FINISHED and not self.weather.calm:
            self.weather.clear_up()
        super().say(instruction, cause)

    def report(self, *, always: bool = False) -> None:
        """Tell the supervisor how far the run is, at most every `PROGRESS_EVERY` seconds."""
        now = time.monotonic()
        if always or now >= self._told + PROGRESS_EVERY:
            self._told = now
            self.say(Say((SUPERVISOR,), self.coordination.progress))

    def _aggregate(self, instruction: Aggregate) -> Callable[[float], Aggregated]:
        try:
            return self._closing.close(instruction, self.coordination.members.names(instruction.clients))
        except LearningError as error:
            raise UserError(f"round {instruction.round} cannot be aggregated: {error}") from error

    def _recall(self, instruction: Recall) -> Callable[[float], Recalled]:
        """Read in the own log what unlearning needs; a rule that remembers starts anew with it."""
        self.journal.flush()
        self._closing.start_anew(self._plan.rule())
        request, memory = instruction.request, JournalMemory(self._plan.run, instruction.closed)
        try:
            beginning = begin_unlearning(
                request.settings, request.clients, instruction.remaining, memory, self._plan.start
            )
        except LearningError as error:
            raise UserError(f"{', '.join(request.clients)} cannot be forgotten: {error}") from error
        return lambda now: Recalled(now, beginning)

    def _let_in(self, instruction: Admit) -> None:
        if self._admit is not None:
            self._admit(instruction.host, instruction.key)

    def _impose(self, instruction: Impose) -> None:
        self.weather.impose(instruction.fault, instruction.how)


def run_record(plan: Plan) -> dict[str, Any]:
    """Record 0: everything that decides the run's bits."""
    return {
        "scenario": to_dict(plan.scenario),
        "scenario_hash": scenario_hash(plan.scenario),
        "seed": plan.scenario.seed,
        "versions": {
            "foltr": _version("foltr"),
            "protocol": VERSION,
            "python": platform.python_version(),
            "machine": platform.machine(),
            **{name: _version(name) for name in BITS_DEPEND_ON},
        },
        "dimension": plan.ranker.dimension,
        "engine": plan.scenario.federation.engine,
        "weights": plan.weights,
        **({"parent": plan.parent} if plan.parent else {}),
    }


def _enrolment(plan: Plan) -> dict[str, Any]:
    host_of = {client.id: host for host, clients in plan.hosts.items() for client in clients}
    return {
        "clients": [client.id for client in plan.clients],
        "hosts": [host_of[client.id] for client in plan.clients],
        "clicks": [setting_text(client.clicks) for client in plan.clients],
        "attacks": [setting_text(client.attack) for client in plan.clients],
        "interactions": [client.interactions for client in plan.clients],
    }


@cache
def _version(package: str) -> str:
    return version(package)
