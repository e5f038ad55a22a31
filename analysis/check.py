"""Whether a run did what every run must: the invariants of `checks/*.sql`, and the arithmetic of its models.

A check holds, or fails with offenders, or cannot be told. SQL compares what the log says with what else it says; what
must be computed bit for bit, a model's hash and its aggregation, is computed here, a round at a time.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

import duckdb
import numpy as np
from numpy.typing import NDArray

from analysis.log import sql_text
from analysis.models import LoggedModel, logged_models
from analysis.queries import one_sentence
from analysis.runs import Run, open_run
from learning.aggregation import Rule, Updates
from learning.errors import LearningError
from learning.privacy import Noise
from protocol.errors import FoltrError
from protocol.terms import fingerprint
from scenarios.load import from_dict
from scenarios.plan import Plan

__all__ = ["Check", "Verdict", "check", "check_text", "problems", "verdict"]

Verdict = Literal["held", "failed", "unknown"]
FIRST: Final = 5  # offenders that are told

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Check:
    """One invariant of a run: what must hold, whether it does, and the first of those that break it.

    limits  why it cannot be told, in words; empty if it can
    """

    name: str
    sentence: str
    offenders: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0
    limits: str = ""

    @property
    def verdict(self) -> Verdict:
        """Failed if anything breaks it; else unknown if not all could be looked at."""
        return "failed" if self.count else "unknown" if self.limits else "held"

    def as_dict(self) -> dict[str, Any]:
        """The check as JSON has it."""
        return {
            "name": self.name,
            "sentence": self.sentence,
            "verdict": self.verdict,
            "count": self.count,
            "offenders": self.offenders,
            "limits": self.limits,
        }

    def blame(self, **offender: Any) -> None:
        """Count one that breaks it; the first ones are told."""
        self.count += 1
        if self.count <= FIRST:
            self.offenders.append(offender)


def check(run: Run) -> list[Check]:
    """Every check of a run, live, finished or packed, in the order of their names."""
    with one_sentence(), run.database.cursor() as facts:
        run.refresh()
        for name in ("facts_of_packed" if run.packed else "facts_of_journals", "facts"):
            facts.execute(sql_text(name))
        checks = [_asked(facts, name, text) for name, text in _texts()]
        checks += _computed(run, _plan(facts), _numbers(facts))
        silent = facts.execute("from spoken limit 1").fetchone() is None
    if silent:
        checks = [Check(one.name, one.sentence, limits="the coordinator has logged nothing") for one in checks]
    return sorted(checks, key=lambda one: one.name)


def verdict(checks: list[Check]) -> Verdict:
    """Of all checks together: failed if one failed, else unknown if one is."""
    found = {one.verdict for one in checks}
    return "failed" if "failed" in found else "unknown" if "unknown" in found else "held"


def problems(path: Path) -> list[str]:
    """What is wrong with a run's log, a sentence a failed check: its name and its first offender."""
    with open_run(path) as run:
        broken = [one for one in check(run) if one.verdict == "failed"]
    return [f"{one.name}: {one.offenders[0]['detail']} ({one.count:,} in all)" for one in broken]


def check_text(checks: list[Check]) -> str:
    """All checks for a person at a terminal: a line each, and the first offenders of those that failed."""
    lines = []
    for one in checks:
        lines.append(f"{one.verdict:8} {one.name}: {one.sentence}")
        lines += [f"{'':8}   {offender['detail']}" for offender in one.offenders]
        if one.count > len(one.offenders):
            lines.append(f"{'':8}   … and {one.count - len(one.offenders):,} more")
        if one.limits:
            lines.append(f"{'':8}   {one.limits}")
    return "\n".join(lines)


def _texts() -> Iterator[tuple[str, str]]:
    """The names and texts of the checks in SQL."""
    for path in (files("analysis") / "checks").iterdir():
        if path.name.endswith(".sql"):
            yield path.name.removesuffix(".sql"), path.read_text(encoding="utf-8")


def _asked(facts: duckdb.DuckDBPyConnection, name: str, text: str) -> Check:
    """A check in SQL: its sentence is its first line, its offenders are its rows."""
    made = Check(name, text.partition("\n")[0].removeprefix("-- "))
    rows = facts.execute(text).fetchall()
    columns = [one[0] for one in facts.description or []]
    made.offenders = [dict(zip(columns, row, strict=True)) for row in rows[:FIRST]]
    made.count = len(rows)
    return made


def _plan(facts: duckdb.DuckDBPyConnection) -> Plan | str:
    """The run's plan, for its rule and its noise; or why it cannot be had."""
    told = facts.execute("select scenario from spoken where event = 'run.started' order by seq").fetchone()
    if told is None or told[0] is None:
        return "the log does not tell the run's scenario"
    try:
        plan = Plan(from_dict(json.loads(told[0])), Path(), features=0, cores=1)
        plan.rule()
    except (FoltrError, LearningError) as error:
        return f"this version cannot read the run's scenario: {' '.join(str(error).split())}"
    return plan


def _numbers(facts: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Every client's number."""
    return dict(facts.execute("select client, number from members").fetchall())


def _computed(run: Run, plan: Plan | str, numbers: dict[str, int]) -> list[Check]:
    """The checks that need arithmetic: every model's hash, and every model out of the updates that are in it."""
    hashes = Check("models-have-their-hashes", "Every model's hash is that of its weights.")
    repeated = Check(
        "aggregations-can-be-repeated", "The updates in a model, aggregated again in client order, give the same bits."
    )
    before: tuple[int, Floats | None] = (-1, None)
    rule = plan if isinstance(plan, str) else plan.rule()
    noise = None if isinstance(plan, str) else plan.noise
    known = unknown = 0
    for one in logged_models(run):
        if one.theta is not None and fingerprint(one.theta) != one.model:
            detail = f"model {one.round} is called {one.model}, and is {fingerprint(one.theta)}"
            hashes.blame(round=one.round, detail=detail)
        if one.round > 0 and not one.participants and not one.discarded:
            # Unlearning starts with it, or nobody was left for its step.
            rule = plan.rule() if not isinstance(rule, str) and not isinstance(plan, str) and rule.remembers else rule
        elif one.round > 0:
            start = before[1] if before[0] == one.round - 1 else None
            problem = _difference(rule, noise, one, start, numbers)
            known, unknown = known + (problem is not None), unknown + (problem is None)
            if problem is None and not isinstance(rule, str) and rule.remembers:
                rule = f"the log lacks weights of round {one.round}, which the rule would remember"
            if problem:
                repeated.blame(round=one.round, detail=f"model {one.round} {problem}")
        before = (one.round, one.theta)
    if isinstance(rule, str):
        repeated.limits = rule
    elif unknown:
        repeated.limits = f"the log lacks weights that {unknown:,} of {known + unknown:,} models are made of"
    return [hashes, repeated]


def _difference(
    rule: Rule | str, noise: Noise | None, one: LoggedModel, before: Floats | None, numbers: dict[str, int]
) -> str | None:
    """What is wrong with a model that its updates should give; empty if they do, none if it cannot be told."""
    made_of = one.local_models()
    if isinstance(rule, str) or made_of is None or one.theta is None or before is None:
        return None
    if one.discarded:
        return "" if one.theta.tobytes() == before.tobytes() else "is another than the one before a discarded round"
    try:
        clients = np.array([numbers.get(name, -1) for name in one.participants], dtype=np.int64)
        made = rule(Updates(*made_of, clients, before, one.round)).theta
        made = made if noise is None else noise.on_mean(made, one.round, made_of[1])
    except LearningError as error:
        return f"cannot be aggregated from its updates: {error}"
    same = made.tobytes() == one.theta.tobytes()
    return "" if same else f"is not what its updates give, which is {fingerprint(made)}"
