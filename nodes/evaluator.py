"""The evaluator: follows the coordinator's log and measures its models, many at once; never sits in the loop."""

import os
from pathlib import Path
from typing import Final

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
        self._unmeasured: tuple[int, list[float]] | None = None  # the newest model that was not due
        self._finished = False
        self.journal.append("node.ready", role=EVALUATOR, pid=os.getpid())

    def follow(self) -> bool:
        """Measure what the log has by now; false if it had nothing new."""
        lines = self._follower.lines()
        due: list[tuple[int, list[float]]] = []
        for line in lines:
            if line.startswith(_CLOSED):
                record = orjson.loads(line)
                model = (record["round"], record["theta"])
                if model[0] % self._every == 0 or model[0] == self._last:
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
        due = [model for model in due if model[0] not in self._measured]
        for start in range(0, len(due), BLOCK):
            self._measure(due[start : start + BLOCK])
        return bool(lines)

    @property
    def finished(self) -> bool:
        """Whether the run's end has been read and everything is measured."""
        return self._finished

    def _measure(self, models: list[tuple[int, list[float]]]) -> None:
        rounds = [number for number, _ in models]
        values = self._evaluator.ndcg(np.array([theta for _, theta in models]))
        self.journal.append("metric.measured", name=self._name, split="test", rounds=rounds, values=values)
        self.journal.flush()
        self.latest = (rounds[-1], float(values[-1]))


def _measured(run: Path) -> set[int]:
    """The rounds that the evaluator's log of a run has values of."""
    path = journal_path(run, EVALUATOR)
    if not path.exists():
        return set()
    records = read_journal(path)
    return {number for one in records if one["event"] == "metric.measured" for number in one["rounds"]}
