"""A node as a process of its own: what it is given, how it starts, and how it says that it failed."""

import gc
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from learning.errors import LearningError
from nodes.adversary import AdversaryShell
from nodes.client_host import HostShell
from nodes.coordinator import CoordinatorShell
from nodes.evaluator import Evaluator
from nodes.lifeline import live_as_node
from nodes.past import read_past
from nodes.shell import Shell
from protocol.errors import UserError
from protocol.forgetting import Beginning, Request
from protocol.messages import COORDINATOR
from protocol.transport import Gate, KeyPair, Line
from scenarios.load import from_dict
from scenarios.plan import Plan, open_data
from scenarios.roster import Client

__all__ = ["ROLES", "Task", "run_node"]

EVALUATOR_PAUSE = 0.02  # seconds between two looks at a log that had nothing new
LOOK_EVERY = 0.02  # seconds between two looks at the time while frames keep coming
IN_BAD_WEATHER = 0.001  # seconds that a coordinator sleeps at most while frames are held back
EVALUATOR_NICE = 5  # the rounds go first; what is measured late is measured all the same


@dataclass(frozen=True, slots=True)
class Task:
    """Everything a node's process is given; plain values, since it crosses to another process."""

    name: str
    role: str
    scenario: dict[str, Any]
    run: str
    features: int
    cores: int
    keys: KeyPair
    server: bytes = b""  # the coordinator's public key
    endpoint: str = ""
    port: int = 0  # for the coordinator: where it listens
    enrolled: tuple[tuple[bytes, str], ...] = ()  # for the coordinator: whose key is whose
    added: tuple[Client, ...] = ()  # clients that were enrolled while the run went on
    parent: str = ""  # the run that this one is a variation of
    unlearning: tuple[Request, Beginning] | None = None  # for the coordinator: what the run is all about, if it is
    goes_on: bool = False  # for the coordinator: go on from the last closed round in the log

    @property
    def plan(self) -> Plan:
        """The plan that every node of the run derives alike."""
        scenario, run = from_dict(self.scenario), Path(self.run)
        return Plan(
            scenario, run, self.features, self.cores, self.added, parent=self.parent, unlearning=self.unlearning
        )


def run_node(task: Task, report: Connection) -> None:
    """The body of every node's process: do the role's work; on failure tell the supervisor why and exit."""
    live_as_node(task.name, task.run)
    try:
        gc.freeze()  # what the forkserver loaded stays; cycles are rare in the loops
        ROLES[task.role](task, report)
    except (UserError, LearningError) as error:
        report.send(("failed", str(error)))
        sys.exit(2)
    except Exception:  # noqa: BLE001 - whatever it was, its last words belong in the log
        report.send(("crashed", traceback.format_exc()))
        sys.exit(1)


def _coordinate(task: Task, report: Connection) -> None:
    plan, past = task.plan, None
    if task.goes_on:
        past = read_past(plan.run)
        plan = past.onto(plan)
    address = plan.scenario.federation.address
    with Gate(address, task.port, task.keys, dict(task.enrolled), plan.largest_frame) as gate:
        shell = CoordinatorShell(plan, gate, time.monotonic, past, lambda name, key: gate.admit(name, key.encode()))
        report.send(("ready", gate.endpoint))
        shell.begin()
        look_at = 0.0
        while shell.outcome is None:
            calm = shell.weather.calm
            if heard := gate.receive() if calm else gate.receive(IN_BAD_WEATHER):
                shell.on_frame(*heard)
            if not calm or time.monotonic() >= look_at:
                shell.on_time()
                shell.report()
                look_at = time.monotonic() + LOOK_EVERY
        shell.report(always=True)
        shell.journal.close()


def _host(task: Task, report: Connection) -> None:
    plan = task.plan
    with Line(task.endpoint, task.keys, task.server, plan.largest_frame) as line:
        shell = HostShell(plan, task.name, open_data(plan.scenario), line, time.monotonic, os.getpid())
        report.send(("ready", ""))
        _serve(shell, line)


def _conspire(task: Task, report: Connection) -> None:
    plan = task.plan
    with Line(task.endpoint, task.keys, task.server, plan.largest_frame) as line:
        shell = AdversaryShell(plan, line, time.monotonic, os.getpid())
        report.send(("ready", ""))
        _serve(shell, line)


def _serve(shell: Shell, line: Line) -> None:
    """The loop of a node that answers the coordinator; only an idle one has something to say by itself."""
    shell.begin()
    while shell.outcome is None:
        if frame := line.receive():
            shell.on_frame(COORDINATOR, frame)
        else:
            shell.on_time()
    shell.journal.close()


def _evaluate(task: Task, report: Connection) -> None:
    os.nice(EVALUATOR_NICE)
    plan = task.plan
    evaluator = Evaluator(plan, open_data(plan.scenario))
    report.send(("ready", ""))
    while not evaluator.finished:
        # The supervisor says a word when no more will come: a coordinator that was killed leaves a log without an end.
        last = report.poll()
        if not evaluator.follow():
            if last:
                break
            time.sleep(EVALUATOR_PAUSE)
    evaluator.journal.close()


ROLES: dict[str, Callable[[Task, Connection], None]] = {
    "coordinator": _coordinate,
    "host": _host,
    "adversary": _conspire,
    "evaluator": _evaluate,
}
"""What a process does, by its role."""
