"""The supervisor: starts the nodes, watches them, tells the coordinator who died, takes orders, stops all cleanly."""

import contextlib
import json
import time
from collections import deque
from typing import Any, Final

import orjson
import psutil

from learning.errors import LearningError
from nodes.control import Desk
from nodes.crew import Crew
from nodes.director import Director
from nodes.ending import Ending, Interruption
from nodes.evaluator import EVALUATOR
from nodes.nursery import Child, ended_how
from nodes.past import Past
from nodes.watcher import Watcher
from protocol.codec import Codec
from protocol.errors import UserError
from protocol.journal import Follower, Journal, journal_path
from protocol.messages import ADVERSARY, COORDINATOR, SUPERVISOR, Cue, Lost, Message, Order, Progress, Ready, Stop
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
    """One run as real processes; `past` is where it stood if it goes on."""

    def __init__(self, plan: Plan, watcher: Watcher, interruption: Interruption, past: Past | None = None) -> None:
        self.plan = plan
        self.watcher = watcher
        self.interruption = interruption
        self.journal = Journal(plan.run, SUPERVISOR)
        self.crew = Crew(plan, self.journal, self._say, self._bury)
        self.director = Director(plan, self.crew, self.journal, time.monotonic)
        self.crew.remind = self.director.remind
        self._past = past
        self._codec = Codec(plan.largest_frame)
        self._measured = Follower(journal_path(plan.run, EVALUATOR))
        self._latest: tuple[int, float] | None = None
        self._progress: Progress | None = None
        self._pace: deque[tuple[float, int]] = deque(maxlen=20)
        self._said = 0
        self._quick_deaths: dict[str, int] = {}
        self._over: Ending | None = None
        self._unmeasured = False  # whether the evaluator died when all was over

    def run(self) -> Ending:
        """Start everybody, look on until the run is over, leave nobody behind."""
        desk = Desk(self.plan.run)
        try:
            self._start()
            self.watcher.started(self.plan)
            while self._over is None:
                self._look(desk)
            if self._progress is None or not self._progress.outcome:
                self.journal.append("run.abandoned", outcome=self._over.outcome, reason=self._over.reason)
                self.crew.nursery.kill(but=EVALUATOR)  # nobody will tell them that it is over
            self._wind_up()
            return self._over
        finally:
            self.crew.nursery.kill()
            if self.crew.line is not None:
                self.crew.line.close()
            desk.close()
            self.journal.close()

    def _start(self) -> None:
        self.crew.start_coordinator(goes_on=self._past is not None)
        if self._past is not None:
            self.director.recall(self._past.performed, self._past.closed)
        for node in self.plan.adversary:
            self.crew.start_node(node)
        gone = {client for client, first in self.plan.until.items() if self._past and first <= self._past.closed + 1}
        for host, clients in self.plan.hosts.items():
            if any(client.id not in gone for client in clients):
                self.crew.start_node(host)
        self.crew.start_node(EVALUATOR)

    # --- looking on --------------------------------------------------------------------------------------------------

    def _look(self, desk: Desk) -> None:
        """One look around: what the coordinator says, who has died, what is due, who wants something."""
        self._hear(TICK)
        self.crew.reap()
        self.director.on_time()
        while self._over is None and (asked := desk.next()):
            fine, lines = self._obey(asked[0])
            desk.answer(asked[1], fine=fine, lines=lines)
        if self.interruption.asked and not self.interruption.told:
            self.interruption.told = True
            self._say(Stop(self.interruption.reason))
        if self.interruption.asked > 1 and self._over is None:
            self._over = Ending("stopped", f"{self.interruption.reason} twice")

    def _hear(self, seconds: float) -> None:
        line = self.crew.line
        assert line is not None
        line.look(seconds)
        while frame := line.receive(wait=False):
            message = self._codec.decode(frame).message
            if isinstance(message, Cue):
                self._say(Ready(message.round, self.director.perform(message.round)))
                return  # the line may be a new one
            assert isinstance(message, Progress)
            self._progress = message
            self.director.round = max(self.director.round, message.round + 1)
            self._pace.append((time.monotonic(), message.round))
            self._show()
            if message.outcome:
                self._over = Ending(message.outcome, message.reason)

    def _show(self) -> None:
        for line in self._measured.lines():
            record = orjson.loads(line)
            if record["event"] == "metric.measured":
                self._latest = (record["rounds"][-1], record["values"][-1])
        if self._progress is not None:
            self.watcher.progressed(self._progress, self._latest)

    def _bury(self, child: Child, code: int) -> None:
        """A node ended before the run did: say so, tell the coordinator, start it again if the scenario says so."""
        if self._over is not None:
            self._unmeasured = self._unmeasured or (child.task.role == EVALUATOR and code != 0)
            return
        name, role, how = child.task.name, child.task.role, ended_how(code)
        kind, words = child.last_words()
        if kind == "crashed":
            self.journal.append("node.crashed", name=name, traceback=words)
            self.journal.flush()
            how = words.strip().splitlines()[-1]
        if kind == "failed":
            self._over = Ending("aborted", words)
        elif role == "coordinator":
            self._miss_coordinator(child, code, how)
        elif code == 0 and role in ("host", ADVERSARY):
            self.watcher.noticed(f"{name} has left")
        else:
            self.watcher.noticed(f"{name} died ({how})")
            if role in ("host", ADVERSARY):
                self._say(Lost(name, child.pid))
            wanted = role == "evaluator" or self.plan.scenario.federation.restart == "always"
            if wanted and self._may_restart(child, code):
                self.crew.start_node(name)

    def _miss_coordinator(self, child: Child, code: int, how: str) -> None:
        if code == 0:
            self._hear(GRACE)  # its last word is still on its way
        elif self.plan.scenario.federation.restart == "always" and self._may_restart(child, code):
            self.watcher.noticed(f"the coordinator died ({how}) and goes on from its log")
            self.crew.restart(COORDINATOR)
            return
        again = f"foltr resume {self.plan.run} goes on from there"
        died = Ending("aborted", f"the coordinator died ({how}); its log holds every closed round, and {again}")
        self._over = self._over or died

    def _may_restart(self, child: Child, code: int) -> bool:
        """Whether a node that died is worth another start: always if it was killed, some times if it failed itself."""
        name = child.task.name
        quick = code > 0 and time.monotonic() - child.started < QUICK_DEATH
        self._quick_deaths[name] = self._quick_deaths.get(name, 0) + 1 if quick else 0
        if self._quick_deaths[name] < MOST_QUICK_DEATHS:
            return True
        self.watcher.noticed(f"{name} died {MOST_QUICK_DEATHS} times soon after its start and is not started again")
        return False

    def _say(self, message: Message) -> None:
        """Log a message to the coordinator, then send it."""
        self._said += 1
        frame = self._codec.encode(message, self._said)
        tells: dict[str, Any] = {"name": message.host} if isinstance(message, Lost) else {}
        if isinstance(message, Stop):
            tells = {"reason": message.reason}
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
        if self.crew.line is not None:
            self.crew.line.send(COORDINATOR, frame)

    # --- orders ------------------------------------------------------------------------------------------------------

    def _obey(self, order: Order) -> tuple[bool, list[str]]:
        """Do what a person at another terminal asks for; what became of it."""
        self.journal.append("order.received", name=order.verb, whom=order.whom, by=order.by)
        self.journal.flush()
        try:
            if order.verb == "ps":
                return True, [json.dumps(row) for row in self._roll_call()]
            if order.verb == "stop":
                self.interruption.ask(f"stopped by {order.by}")
                return True, ["stopping after the last closed round"]
            done = self.director.order(order.verb, order.whom, json.loads(order.settings), order.by)
        except (UserError, LearningError, TypeError) as error:
            return False, [str(error)]
        self.watcher.noticed(f"{order.by}: {', '.join(done)}")
        return True, done

    def _roll_call(self) -> list[dict[str, Any]]:
        """Every node with what can be told of it: for `foltr ps`."""
        pace = self._pace
        seconds = pace[-1][0] - pace[0][0] if len(pace) > 1 else 0.0
        speed = (pace[-1][1] - pace[0][1]) / seconds if seconds else 0.0
        closed = self._progress.round if self._progress else 0
        names = [COORDINATOR, *self.plan.hosts, *self.plan.adversary, EVALUATOR]
        names += [name for name in self.crew.nursery.children if name not in names]
        return [self._facts(name) | {"round": closed, "rounds_per_second": round(speed, 1)} for name in names]

    def _facts(self, name: str) -> dict[str, Any]:
        child = self.crew.nursery.children.get(name)
        path = journal_path(self.plan.run, name)
        heard = round(time.time() - path.stat().st_mtime, 1) if path.exists() else None
        clients = [client.id for client in self.plan.hosts.get(name, ())] or (
            [name] if name.startswith("client") else []
        )
        facts: dict[str, Any] = {"name": name, "clients": clients, "last_heard": heard}
        if child is None:
            return facts | {"pid": None, "state": "dead", "memory": 0}
        process = psutil.Process(child.pid)
        state = "paused" if process.status() == psutil.STATUS_STOPPED else "running"
        return facts | {"pid": child.pid, "state": state, "memory": process.memory_info().rss}

    # --- the end -----------------------------------------------------------------------------------------------------

    def _wind_up(self) -> None:
        """Give the hosts a moment to end, and the evaluator all the time it needs, unless somebody is in a hurry."""
        nursery = self.crew.nursery
        evaluator = nursery.children.pop(EVALUATOR, None)
        nursery.wait(GRACE if self.interruption.asked < 2 else 0)
        nursery.kill()
        if evaluator is not None and evaluator.process.exitcode:
            self._unmeasured = True  # it was killed just before the end
        if self._unmeasured:
            self.crew.start_node(EVALUATOR)
            evaluator = nursery.children[EVALUATOR]
        if evaluator is None:
            return
        nursery.children[EVALUATOR] = evaluator
        with contextlib.suppress(OSError):  # it has read the run's end and is gone
            evaluator.report.send("no more will come")
        while nursery.children and self.interruption.asked < 2:
            nursery.wait(TICK)
            self._show()
