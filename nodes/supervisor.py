"""The supervisor: starts the nodes, watches them, tells the coordinator who died, and stops all of them cleanly."""

import contextlib
import time
from dataclasses import replace
from typing import Final

import orjson

from nodes.ending import Ending, Interruption
from nodes.evaluator import EVALUATOR
from nodes.nursery import Child, Nursery, ended_how
from nodes.process import Task
from nodes.watcher import Watcher
from protocol.codec import Codec
from protocol.errors import UserError
from protocol.journal import Follower, Journal, journal_path
from protocol.messages import COORDINATOR, SUPERVISOR, Lost, Message, Progress, Stop
from protocol.transport import KeyPair, Line, make_keys
from scenarios.load import to_dict
from scenarios.plan import Plan

__all__ = ["Supervisor"]

TICK: Final = 0.1
"""Seconds between two looks when nothing happens; a death is noticed at once."""
GRACE: Final = 5.0
"""Seconds that nodes have to end by themselves when the run is over."""
QUICK_DEATH: Final = 2.0
MOST_QUICK_DEATHS: Final = 5
"""A node that dies so soon after its start, so often in a row, is not started again."""


class Supervisor:
    """One run as real processes."""

    def __init__(self, plan: Plan, watcher: Watcher, interruption: Interruption) -> None:
        self.plan = plan
        self.watcher = watcher
        self.interruption = interruption
        self.journal = Journal(plan.run, SUPERVISOR)
        self.nursery = Nursery(self.journal)
        self._codec = Codec(plan.largest_frame)
        self._keys = {name: make_keys() for name in (COORDINATOR, SUPERVISOR, *plan.hosts)}
        self._task = Task("", "", to_dict(plan.scenario), str(plan.run), plan.features, plan.cores, KeyPair(b"", b""))
        self._measured = Follower(journal_path(plan.run, EVALUATOR))
        self._latest: tuple[int, float] | None = None
        self._progress: Progress | None = None
        self._said = 0
        self._quick_deaths: dict[str, int] = {}
        self._over: Ending | None = None

    def run(self) -> Ending:
        """Start everybody, look on until the run is over, leave nobody behind."""
        try:
            self._line = self._start()
            with self._line:
                self.watcher.started(self.plan)
                while self._over is None:
                    self._look()
            if self._progress is None or not self._progress.outcome:
                self.journal.append("run.abandoned", outcome=self._over.outcome, reason=self._over.reason)
                self.nursery.kill(but=EVALUATOR)  # nobody will tell them that it is over
            self._wind_up()
            return self._over
        finally:
            self.nursery.kill()
            self.journal.close()

    # --- starting ----------------------------------------------------------------------------------------------------

    def _start(self) -> Line:
        enrolled = tuple((self._keys[name].public, name) for name in (SUPERVISOR, *self.plan.hosts))
        keys = self._keys[COORDINATOR]
        coordinator = self.nursery.start(
            replace(self._task, name=COORDINATOR, role="coordinator", keys=keys, enrolled=enrolled)
        )
        kind, endpoint = self._first_words(coordinator)
        if kind != "ready":
            raise UserError(endpoint if kind == "failed" else f"the coordinator crashed at its start:\n{endpoint}")
        self._task = replace(self._task, server=keys.public, endpoint=endpoint)
        line = Line(endpoint, self._keys[SUPERVISOR], keys.public, self.plan.largest_frame)
        line.watch(coordinator.process.sentinel)
        for host in self.plan.hosts:
            line.watch(self._start_node(host, "host").process.sentinel)
        line.watch(self._start_node(EVALUATOR, "evaluator").process.sentinel)
        return line

    def _start_node(self, name: str, role: str) -> Child:
        keys = self._keys.get(name, KeyPair(b"", b""))
        return self.nursery.start(replace(self._task, name=name, role=role, keys=keys))

    def _first_words(self, child: Child) -> tuple[str, str]:
        """Wait until a node is ready or has failed."""
        while not child.report.poll(TICK):
            pass
        words = child.last_words()  # none if the pipe was closed, which a process that ends does
        child.process.join(GRACE if not words[0] else 0)
        how = ended_how(child.process.exitcode or 0)
        return words if words[0] else ("failed", f"{child.task.name} ended at its start ({how})")

    # --- looking on --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """One look around: what the coordinator says, who has died, who wants to stop."""
        self._hear(TICK)
        for child, code in self.nursery.ended():
            self._line.unwatch(child.process.sentinel)
            if self._over is None:
                self._bury(child, code)
        if self.interruption.asked and not self.interruption.told:
            self.interruption.told = True
            self._say(Stop(self.interruption.reason))
        if self.interruption.asked > 1 and self._over is None:
            self._over = Ending("stopped", f"{self.interruption.reason} twice")

    def _hear(self, seconds: float) -> None:
        self._line.look(seconds)
        while frame := self._line.receive(wait=False):
            progress = self._codec.decode(frame).message
            assert isinstance(progress, Progress)
            self._progress = progress
            self._show()
            if progress.outcome:
                self._over = Ending(progress.outcome, progress.reason)

    def _show(self) -> None:
        for line in self._measured.lines():
            record = orjson.loads(line)
            if record["event"] == "metric.measured":
                self._latest = (record["rounds"][-1], record["values"][-1])
        if self._progress is not None:
            self.watcher.progressed(self._progress, self._latest)

    def _bury(self, child: Child, code: int) -> None:
        """A node ended before the run did: say so, tell the coordinator, start it again if the scenario says so."""
        name, how = child.task.name, ended_how(code)
        kind, words = child.last_words()
        if kind == "crashed":
            self.journal.append("node.crashed", name=name, traceback=words)
            self.journal.flush()
            how = words.strip().splitlines()[-1]
        if kind == "failed":
            self._over = Ending("aborted", words)
            return
        if child.task.role == "coordinator":
            if code == 0:
                self._hear(GRACE)  # its last word is still on its way
            died = Ending("aborted", f"the coordinator died ({how}); its log holds every closed round")
            self._over = self._over or died
            return
        self.watcher.noticed(f"{name} died ({how})")
        if child.task.role == "host":
            self._say(Lost(name, child.pid))
        if child.task.role == "evaluator" or self.plan.scenario.federation.restart == "always":
            self._restart(child)

    def _restart(self, child: Child) -> None:
        name = child.task.name
        quick = time.monotonic() - child.started < QUICK_DEATH
        self._quick_deaths[name] = self._quick_deaths.get(name, 0) + 1 if quick else 0
        if self._quick_deaths[name] >= MOST_QUICK_DEATHS:
            self.watcher.noticed(f"{name} died {MOST_QUICK_DEATHS} times at its start and is not started again")
            return
        self._line.watch(self._start_node(name, child.task.role).process.sentinel)

    def _say(self, message: Message) -> None:
        """Log a message to the coordinator, then send it."""
        self._said += 1
        frame = self._codec.encode(message, self._said)
        tells = {"name": message.host} if isinstance(message, Lost) else {"reason": getattr(message, "reason", "")}
        self.journal.append(
            f"{message.name}.sent",
            direction="sent",
            message=message.name,
            peers=[COORDINATOR],
            id=self._said,
            bytes=len(frame),
            **tells,
        )
        self.journal.flush()
        self._line.send(COORDINATOR, frame)

    # --- the end -----------------------------------------------------------------------------------------------------

    def _wind_up(self) -> None:
        """Give the hosts a moment to end, and the evaluator all the time it needs, unless somebody is in a hurry."""
        evaluator = self.nursery.children.pop(EVALUATOR, None)
        self.nursery.wait(GRACE if self.interruption.asked < 2 else 0)
        self.nursery.kill()
        if evaluator is None:
            return
        self.nursery.children[EVALUATOR] = evaluator
        with contextlib.suppress(OSError):  # it has read the run's end and is gone
            evaluator.report.send("no more will come")
        while self.nursery.children and self.interruption.asked < 2:
            self.nursery.wait(TICK)
            self._show()
