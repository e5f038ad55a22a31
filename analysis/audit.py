"""Open-loop audit: the recorded updates of each round, aggregated again by another rule.

Open loop: the clients' updates are those of the run as it was. They did not react to the models that the other rule
would have made; `foltr replay` without --open-loop runs them anew and lets them react. A rule that remembers is given
the recorded rounds in order. Whom it leaves out is held against who attacked in that round.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from analysis.models import LoggedModel, logged_models
from analysis.runs import Run
from learning.aggregation import PRE_AGGREGATORS, RULES, Updates
from learning.attacks import Scheduled, WireAttack, make_attack
from learning.errors import LearningError
from protocol.errors import UserError
from scenarios.load import from_dict
from scenarios.plan import Plan
from scenarios.problems import ScenarioError
from scenarios.roster import setting_of

__all__ = ["Attackers", "Audit", "AuditedRound", "attackers", "audit", "audited_rules", "with_rule"]

OF_TRIALS: Final = ("adam",)
"""Rules that make a model of trials: they cannot take the place of one that makes it of models, nor the other way."""
POISON: Final = "poison"
"""Users whose clicks are an attack by themselves."""


@dataclass(frozen=True, slots=True)
class AuditedRound:
    """What a rule would have made of a round.

    moved     ‖θ' − θ_{t−1}‖, how far its model is from the one before
    logged    ‖θ_t − θ_{t−1}‖, how far the run's own model is
    apart     ‖θ' − θ_t‖, how far the two are from each other
    excluded  whose updates it would have left out
    """

    round: int
    moved: float
    logged: float
    apart: float
    excluded: list[str]


@dataclass(slots=True)
class Audit:
    """One rule over a whole run: exclusions against true attackers, a client and round at a time.

    problem  why the rule could not be tried, or not in every round; empty if it could
    """

    rule: str
    tolerate: int | None
    problem: str = ""
    rounds: list[AuditedRound] = field(default_factory=list)
    excluded: int = 0  # exclusions, each of a client in a round
    attacks: int = 0  # updates of clients that attacked in their round
    caught: int = 0  # exclusions that were attacks
    updates: int = 0
    times: Counter[str] = field(default_factory=Counter)  # how often each client was left out

    @property
    def precision(self) -> float | None:
        """The share of the exclusions that were attacks; none without exclusions."""
        return self.caught / self.excluded if self.excluded else None

    @property
    def recall(self) -> float | None:
        """The share of the attacks that were left out; none without attacks."""
        return self.caught / self.attacks if self.attacks else None

    @property
    def wrongly(self) -> float | None:
        """The share of the honest updates that were left out; none without honest updates."""
        honest = self.updates - self.attacks
        return (self.excluded - self.caught) / honest if honest else None

    @property
    def apart(self) -> float | None:
        """How far its models are from the run's own in the mean; none without rounds."""
        return float(np.mean([one.apart for one in self.rounds])) if self.rounds else None

    def as_dict(self, *, rounds: bool) -> dict[str, Any]:
        """The audit as JSON has it, with every round or without."""
        told: dict[str, Any] = {
            "rule": self.rule,
            "tolerate": self.tolerate,
            "problem": self.problem,
            "audited_rounds": len(self.rounds),
            "precision": self.precision,
            "recall": self.recall,
            "honest_excluded": self.wrongly,
            "mean_distance": self.apart,
            "excluded_updates": self.excluded,
            "attacks": self.attacks,
            "times_excluded": dict(self.times.most_common()),
            "open_loop": True,
        }
        every = [{name: getattr(one, name) for name in AuditedRound.__slots__} for one in self.rounds] if rounds else []
        return told | ({"rounds": every} if rounds else {})


def audited_rules() -> list[str]:
    """The rules that a run of models can be audited by."""
    return [name for name in RULES if name not in OF_TRIALS]


def with_rule(tables: dict[str, Any], rule: str, tolerate: int | None, attackers: int) -> dict[str, Any]:
    """A scenario's tables with another rule; `nnm+median` is a pre-aggregator and a rule.

    It is told to tolerate what is given, else what the run's own rule was told, else as many as there are attackers.
    """
    stages = rule.split("+")
    known = tables["aggregation"].get("tolerate")
    count = tolerate if tolerate is not None else known if known is not None else attackers
    chosen = {"rule": stages if len(stages) > 1 else rule, "tolerate": count}
    return tables | {"aggregation": chosen if rule != "fedavg" else {"rule": rule}}


def audit(run: Run, rules: Sequence[str], tolerate: int | None = None) -> Iterator[Audit]:
    """Try each rule on the recorded updates of a run."""
    told = run.rows("select scenario from run")
    if not told or not told[0]["scenario"]:
        raise UserError(f"{run.path} has no record of its scenario")
    tables = json.loads(told[0]["scenario"])
    who = attackers(run)
    known = [*audited_rules(), *PRE_AGGREGATORS]
    for unknown in (stage for rule in rules for stage in rule.split("+") if stage not in known):
        raise UserError(f"a rule must be one of {', '.join(known)}, or two with a + between; got {unknown!r}")
    for rule in rules:
        yield _audit(run, with_rule(tables, rule, tolerate, who.count), rule, who)


def attackers(run: Run) -> "Attackers":
    """Who attacked in a run."""
    return Attackers(run.rows("select id, number, clicks, attack from clients order by number"))


def _audit(run: Run, tables: dict[str, Any], rule: str, who: "Attackers") -> Audit:
    made = Audit(rule, tables["aggregation"].get("tolerate"))
    try:
        chosen = Plan(from_dict(tables), Path(), features=0, cores=1).rule()
    except (ScenarioError, LearningError) as error:
        made.problem = " ".join(str(error).split())
        return made
    before: LoggedModel | None = None
    for model in logged_models(run):
        if model.phase != "training":
            continue
        last, before = before, model
        if model.round == 0:
            continue
        found = model.local_models()
        if found is None or last is None or last.theta is None or model.theta is None:
            made.problem = "the log does not keep the weights of every round"
            continue
        numbers = np.array([who.numbers[name] for name in model.participants], dtype=np.int64)
        try:
            result = chosen(Updates(*found, numbers, last.theta, model.round))
        except LearningError as error:
            made.problem = f"round {model.round}: {error}"
            continue
        used = np.ones(len(numbers), dtype=bool) if result.used is None else result.used
        excluded = [name for name, kept in zip(model.participants, used, strict=True) if not kept]
        made.rounds.append(
            AuditedRound(
                model.round,
                float(np.linalg.norm(result.theta - last.theta)),
                float(np.linalg.norm(model.theta - last.theta)),
                float(np.linalg.norm(result.theta - model.theta)),
                excluded,
            )
        )
        attacking = who.in_round(model.round)
        made.excluded += len(excluded)
        made.updates += len(numbers)
        made.attacks += len(attacking.intersection(model.participants))
        made.caught += len(attacking.intersection(excluded))
        made.times.update(excluded)
    return made


class Attackers:
    """Who of a roster attacks by what it sends or learns from, and in which rounds."""

    def __init__(self, roster: Sequence[dict[str, Any]]) -> None:
        self.numbers = {row["id"]: row["number"] for row in roster}
        self._always = {row["id"] for row in roster if setting_of(row["clicks"]) == POISON}
        made = {row["id"]: make_attack(json.loads(row["attack"])) for row in roster if row["attack"]}
        self._schedules: dict[str, Scheduled] = {
            name: one for name, one in made.items() if not isinstance(one.attack, WireAttack)
        }

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._always | self._schedules.keys())

    def in_round(self, number: int) -> set[str]:
        """Those who attack in a round."""
        return self._always | {name for name, one in self._schedules.items() if one.is_on(number)}
