"""The mathematics of a logged run, made ready again: its start, its aggregation rule, its clients' local work.

What is missing (a scenario that this version cannot read, a data set that is not on this machine) is told in `limits`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.log import sql_text
from analysis.models import LoggedModel
from analysis.runs import Run
from learning.aggregation import Rule, Updates
from learning.attacks import Seen
from learning.data import Dataset
from learning.errors import LearningError
from learning.learners import Learner
from learning.streams import client_key
from learning.unlearning import calibrate
from protocol.errors import FoltrError
from scenarios.load import from_dict
from scenarios.plan import Plan, open_data
from scenarios.roster import Client, clients, setting_of

__all__ = ["Question", "Recomputing", "recomputing"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Brief(NamedTuple):
    """What the adversary knew of a round when it decided."""

    members: list[str]
    others: list[str]
    size: int


@dataclass(frozen=True, slots=True)
class Question:
    """What clients were asked with in a round; `draws`, `most`, `promised` and, by client, `norms` as in `Train`."""

    round: int
    draws: int
    most: int = 0
    norms: Mapping[str, float] = field(default_factory=dict)
    promised: int = 0


@dataclass(slots=True)
class Recomputing:
    """What of a run can be computed on this machine; without a plan nothing, without data no client's work."""

    plan: Plan | None
    data: Dataset | None
    limits: list[str]
    briefs: dict[tuple[int, str], Brief] = field(default_factory=dict)
    _learners: dict[str, Learner] = field(default_factory=dict)
    _rule: Rule | None = None
    _aggregated: int = 0  # the last round that the rule has seen

    def start(self) -> Floats | None:
        """Model 0; none without data, which tell how long it is."""
        return self.plan.start if self.plan and self.data else None

    def aggregate(
        self, number: int, names: Sequence[str], thetas: Floats, interactions: Integers, before: Floats
    ) -> Floats | None:
        """A round's model from the local models [n, d] of these clients; the rounds must come in order.

        None without a plan, and if the rule would have to remember a round that it was not given.
        """
        if self.plan is None:
            return None
        self._rule = self._rule or self.plan.rule()
        if self._rule.remembers and number != self._aggregated + 1:
            return None
        self._aggregated = number
        places = {client.id: client.number for client in self.plan.clients}
        numbers = np.array([places[name] for name in names], dtype=np.int64)
        made = self._rule(Updates(thetas, interactions, numbers, before, number)).theta
        return made if self.plan.noise is None else self.plan.noise.on_mean(made, number, interactions)

    def top_up(self, model: LoggedModel) -> dict[str, Floats]:
        """What the givers of a round give in the place of its missing noise shares, [d] each."""
        told = model.privacy or {}
        noise, givers = self.plan.noise if self.plan else None, told.get("givers", [])
        if noise is None or model.theta is None:
            return {}
        of = (len(model.theta), told["promised"], told["topped_up"], len(givers))
        return {giver: noise.top_up(client_key(giver), model.round, *of) for giver in givers}

    def forget(self, number: int) -> None:
        """Unlearning starts in this round: a rule that remembers starts anew."""
        self._rule = None
        self._aggregated = number

    def train(self, before: Floats, asked: Question, names: Sequence[str]) -> dict[str, tuple[Floats, float]]:
        """What these clients send in a round, attackers too, and what their users saw; empty without plan or data."""
        if self.plan is None or self.data is None:
            return {}
        number = asked.round
        briefs = {name: brief for name in names if (brief := self.briefs.get((number, name))) is not None}
        known = {name for brief in briefs.values() for name in (*brief.members, *brief.others)}
        made = self._alone(before, asked, {*names, *known})
        sent = {name: made[name] for name in names if name in made}
        alone = {name: theta for name, (theta, _) in made.items()}
        for name, brief in briefs.items():
            sent[name] = self._craft(brief, before, number, alone)[name], made[name][1]
        return sent

    def _craft(self, brief: Brief, before: Floats, number: int, sent: dict[str, Floats]) -> dict[str, Floats]:
        """What the adversary lets the members of a brief send."""
        assert self.plan is not None
        members = np.array([sent[name] for name in brief.members])
        others = np.array([sent[name] for name in brief.others]).reshape(-1, len(before))
        made = self.plan.crafting()(Seen(members, others, before.copy(), brief.size), number)
        return dict(zip(brief.members, made.thetas, strict=True))

    def _alone(self, before: Floats, asked: Question, names: set[str]) -> dict[str, tuple[Floats, float]]:
        """What these clients would send without an adversary."""
        assert self.plan is not None
        assert self.data is not None
        made: dict[str, tuple[Floats, float]] = {}
        for host, members in self.plan.hosts.items():
            places = [at for at, client in enumerate(members) if client.id in names]
            if not places:
                continue
            if host not in self._learners:
                self._learners[host] = self.plan.learner(host, self.data)
            chosen = np.array(places, dtype=np.int64)
            found = self._learners[host].train(before, asked.draws, chosen, most=asked.most)
            attacks = self.plan.lone_attackers(host)
            for at, place in enumerate(places):
                theta = found.thetas[at].copy()
                if asked.norms:
                    norm = np.array([asked.norms[members[place].id]])
                    theta = calibrate(theta[np.newaxis], before, norm)[0]
                if place in attacks:
                    theta = attacks[place].sent(theta, before, asked.draws)
                if asked.promised and self.plan.noise is not None:
                    key = client_key(members[place].id)
                    theta = theta + self.plan.noise.share(key, asked.round, len(theta), asked.promised)
                made[members[place].id] = (theta, float(found.online[at]))
        return made


def recomputing(run: Run) -> Recomputing:
    """Make a run's mathematics ready from its first record, the log's clients and the scenario's data set."""
    rows = run.rows("select scenario from run")
    if not rows or not rows[0]["scenario"]:
        return Recomputing(None, None, ["the log has no beginning, so that nothing can be computed again"])
    try:
        scenario = from_dict(json.loads(rows[0]["scenario"]))
    except FoltrError as error:
        return Recomputing(None, None, [f"this version cannot read the run's scenario: {_one_line(error)}"])
    limits: list[str] = []
    data: Dataset | None = None
    try:
        data = open_data(scenario)
    except LearningError as error:
        limits.append(f"updates, because the data set cannot be opened here: {_one_line(error)}")
    known = {client.id for client in clients(scenario)}
    enrolled = run.rows("select id, number, clicks, interactions, attack from clients order by number")
    added = tuple(_client(row) for row in enrolled if row["id"] not in known)
    plan = Plan(scenario, run.path, data.dimension if data else 0, 1, added)
    briefs = _briefs(run) if plan.plot is not None else {}
    return Recomputing(plan, data, limits, briefs)


def _briefs(run: Run) -> dict[tuple[int, str], Brief]:
    """What the adversary knew, by the round and the client that was told what to send."""
    rows = run.rows(sql_text("briefs"))
    return {
        (row["round"], row["client"]): Brief(row["members"], row["others"], row["size"])
        for row in rows
        if row["members"] is not None
    }


def _client(row: dict[str, Any]) -> Client:
    attack = json.loads(row["attack"]) if row["attack"] else None
    return Client(row["id"], row["number"], setting_of(row["clicks"]), row["interactions"], attack)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
