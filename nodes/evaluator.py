"""The evaluator: follows the coordinator's log and measures its models, many at once; never sits in the loop."""

import os
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import orjson

from learning.data import Dataset
from protocol.journal import Follower, Journal, journal_path, read_journal
from protocol.messages import COORDINATOR
from scenarios.plan import Plan

__all__ = ["EVALUATOR", "Evaluator"]

EVALUATOR: Final = "evaluator"
BLOCK: Final = 256
"""Models measured at once at most: one product of matrices, some megabytes of scores."""

_CLOSED: Final = b'{"event":"round.closed"'
_FINISHED: Final = b'{"event":"run.finished"'
_RESUMED: Final = b'{"event":"run.resumed"'


class _Model(NamedTuple):
    """A closed round; its phase is empty in training."""

    round: int
    theta: list[float]
    phase: str


class Evaluator:
    """Reads what is new in the log, measures what is due, appends the values to a log of its own."""

    def __init__(self, plan: Plan, data: Dataset) -> None:
        self._measured = _measured(plan.run)  # by an earlier evaluator of this run
        self.journal = Journal(plan.run, EVALUATOR)
        self.latest: tuple[int, float] | None = None  # the last measured round and its nDCG, for the console
        self._follower = Follower(journal_path(plan.run, COORDINATOR))
        self._evaluator = plan.evaluator(data)
        self._every = plan.scenario.evaluation.every
        self._last = plan.scenario.rounds
        self._name = f"ndcg_at_{plan.scenario.evaluation.at}"
        self._unmeasured: _Model | None = None  # the newest model that was not due
        self._phase = ""  # of the newest model
        self._finished = False
        self.journal.append("node.ready", role=EVALUATOR, pid=os.getpid())

    def follow(self) -> bool:
        """Measure what the log has by now; false if it had nothing new."""
        lines = self._follower.lines()
        due: list[_Model] = []
        for line in lines:
            if line.startswith(_CLOSED):
                record = orjson.loads(line)
                model = _Model(record["round"], record["theta"], record.get("phase", ""))
                if model.phase != self._phase and self._unmeasured:
                    due.append(self._unmeasured)  # the last one of a phase counts
                self._phase = model.phase
                if model.round % self._every == 0 or model.round == self._last:
                    due.append(model)
                    self._unmeasured = None
                else:
                    self._unmeasured = model
            elif line.startswith(_FINISHED):
                self._finished = True
            elif line.startswith(_RESUMED):
                self._finished = False
        if self._finished and self._unmeasured:
            due.append(self._unmeasured)  # a run that was stopped early ends with a measured model, too
            self._unmeasured = None
        due = [model for model in due if model.round not in self._measured]
        for phase, models in groupby(due, key=attrgetter("phase")):
            while block := list(islice(models, BLOCK)):
                self._measure(block, phase)
        return bool(lines)

    @property
    def finished(self) -> bool:
        """Whether the run's end has been read and everything is measured."""
        return self._finished

    def _measure(self, models: list[_Model], phase: str) -> None:
        rounds = [model.round for model in models]
        values = self._evaluator.ndcg(np.array([model.theta for model in models]))
        told = {"phase": phase} if phase else {}
        self.journal.append("metric.measured", **told, name=self._name, split="test", rounds=rounds, values=values)
        self.journal.flush()
        self.latest = (rounds[-1], float(values[-1]))


def _measured(run: Path) -> set[int]:
    """The rounds that the evaluator's log of a run has values of."""
    path = journal_path(run, EVALUATOR)
    if not path.exists():
        return set()
    records = read_journal(path)
    return {number for one in records if one["event"] == "metric.measured" for number in one["rounds"]}
