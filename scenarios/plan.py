"""A plan: a scenario made concrete before its run, and the mathematics that each node builds from it.

The plan is a function of the scenario, the data's number of features and the number of cores, so that every process
derives the same one and only the scenario travels to it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from learning.aggregation import Judge, JudgedQueries, Rule, make_rule, options_of, remembers
from learning.aggregation.adam import Adam
from learning.attacks import ClickAttack, Crafted, LoneAttacker, Scheduled, Seen
from learning.clicks import ClickModel, click_model
from learning.data import Dataset, open_dataset
from learning.learners import LEARNERS, Cohort, Learner, Poisoned
from learning.learners.es import largest_fitness
from learning.learners.randomised_response import epsilon
from learning.metrics import OfflineEvaluator, discounts
from learning.privacy import Account, Mechanism, Noise, make_mechanism
from learning.rankers import Ranker, make_ranker
from learning.streams import client_key
from protocol.errors import UserError
from protocol.forgetting import Beginning, Phase, Request
from protocol.malice import Malice
from protocol.messages import ADVERSARY
from protocol.terms import Plot, Terms
from scenarios import malice, roster
from scenarios.schema import JUDGED, Scenario
from scenarios.unlearning import ROUTES, WITHOUT_UPDATES, needs_weights

__all__ = ["Plan", "open_data"]

LOCAL_SETTINGS: Final = {"pdgd": {"learning_rate", "update"}, "es": {"sigma", "metric", "p"}}
"""What a client needs to know of [learner] beside its interactions, by kind."""
LOG_LIMIT: Final = 2 * 10**9
"""Bytes of weights that a log keeps by default."""
WEIGHT_BYTES: Final = 20
"""Bytes of one float64 in JSON, about: 17 digits, a sign, a point, a comma."""
FRAME_MARGIN: Final = 1 << 16
"""Bytes of a frame beyond its arrays, generously."""


@dataclass(frozen=True)
class Plan:
    """What a run is made of; `run` is its directory.

    added  clients that were enrolled while the run went on, each with a host of its own, in the order of their numbers
    since  the first round of each of them
    until  the first round without a client that has left
    parent the run that this one is a variation of, if it is one
    unlearning  whom it forgets and how, if that is all that the run is about
    asked, phases  who is still to be forgotten, and the unlearning so far, where the run goes on
    """

    scenario: Scenario
    run: Path
    features: int
    cores: int
    added: tuple[roster.Client, ...] = ()
    since: dict[str, int] = field(default_factory=dict)
    until: dict[str, int] = field(default_factory=dict)
    parent: str = ""
    unlearning: tuple[Request, Beginning] | None = None
    asked: tuple[Request, ...] = ()
    phases: tuple[Phase, ...] = ()

    @cached_property
    def clients(self) -> tuple[roster.Client, ...]:
        """Everyone who takes part, by number."""
        return roster.clients(self.scenario) + self.added

    @cached_property
    def hosts(self) -> dict[str, tuple[roster.Client, ...]]:
        """The clients of each host."""
        return roster.hosts(self.scenario, self.cores) | {client.id: (client,) for client in self.added}

    @cached_property
    def ranker(self) -> Ranker:
        """The ranker that θ belongs to."""
        options = self.scenario.ranker.model_dump(include={"hidden", "activation"}, exclude_none=True)
        return make_ranker(self.scenario.ranker.kind, self.features, **options)

    def rule(self) -> Rule:
        """How updates become the next model: a fresh rule, for one pass over the rounds."""
        learner = self.scenario.learner
        if learner.kind == "es":
            protects = learner.p is not None and learner.p < 1.0
            own = epsilon(learner.p or 0.0, self.scenario.evaluation.at + 1) if protects else None
            return Adam(sigma=learner.sigma or 0.0, learning_rate=learner.learning_rate, epsilon=own)
        settings = self.scenario.aggregation
        known = {option for stage in self.stages for option in options_of(stage)}
        options = {name: value for name, value in settings.options.items() if name in known}
        return make_rule(self.stages, self._judge() if self.stages[-1] == "fltrust" else None, **options)

    @property
    def stages(self) -> tuple[str, ...]:
        """The aggregation rule, after its pre-aggregators."""
        rule = self.scenario.aggregation.rule
        return (rule,) if isinstance(rule, str) else rule

    def _judge(self) -> Judge:
        """What the coordinator itself knows of relevance."""
        data = open_data(self.scenario)
        ranker = replace(self, features=data.dimension).ranker
        return JudgedQueries(ranker, data, self.scenario.aggregation.judged or JUDGED, self.scenario.seed)

    @cached_property
    def mechanism(self) -> Mechanism | None:
        """What hides single clients; none if nothing does."""
        privacy = self.scenario.privacy
        if privacy.mechanism == "none":
            return None
        gaussian = {} if privacy.mechanism == "laplace-shares" else {"delta": privacy.delta}
        options = {"epsilon": privacy.epsilon, "sensitivity": privacy.sensitivity, "clip": privacy.clip}
        return make_mechanism(privacy.mechanism, **options, **gaussian)

    @property
    def noise(self) -> Noise | None:
        """The noise of the run; none without a mechanism."""
        return Noise(self.mechanism, self.scenario.seed) if self.mechanism else None

    @property
    def account(self) -> Account:
        """What the run has cost before its first round: nothing."""
        privacy = self.scenario.privacy
        return Account(privacy.delta or 1.0, privacy.budget)

    @property
    def start(self) -> NDArray[np.float64]:
        """Model 0."""
        return self.ranker.initial(self.scenario.seed)

    @cached_property
    def weights(self) -> str:
        """Which updates' weights the log keeps: all, every:N or models; "auto" is what fits the limit."""
        wanted = self.scenario.log.weights
        if wanted != "auto":
            return wanted
        remembering = remembers(self.stages) or self.scenario.learner.kind == "es"
        if remembering or any(one.forget and needs_weights(one.forget) for one in self.scenario.timeline):
            return "all"  # or a killed coordinator could not go on, and nobody could be forgotten by its updates
        size = self.scenario.rounds * len(self.clients) * self.ranker.dimension * WEIGHT_BYTES
        every = ceil(size / LOG_LIMIT)
        return "all" if every <= 1 else f"every:{every}" if every <= self.scenario.rounds else "models"

    @property
    def keep_weights_every(self) -> int:
        """The same as a number of rounds; 0 is never."""
        kind, _, every = self.weights.partition(":")
        return {"all": 1, "models": 0}.get(kind) if not every else int(every)  # type: ignore[return-value]

    def check_forget(self, settings: Mapping[str, Any]) -> None:
        """Refuse a wish to be forgotten that this run cannot fulfil."""
        if settings.get("then", ROUTES[0]) not in ROUTES:
            raise UserError(f"then must be one of {', '.join(ROUTES)}; got {settings['then']!r}")
        if self.fitness and settings["method"] not in WITHOUT_UPDATES:
            raise UserError(
                f"clients of {self.scenario.learner.kind} send no updates of weights, so that only "
                f"{' and '.join(WITHOUT_UPDATES)} can forget them; got {settings['method']}"
            )
        if needs_weights(settings) and self.weights != "all":
            raise UserError(f"{settings['method']} needs a log that keeps all weights; got {self.weights!r}")

    @property
    def fitness(self) -> float:
        """The most that a client's figures can be where clients send trials; 0: they send models."""
        metric = self.scenario.learner.metric
        return largest_fitness(metric, discounts(self.scenario.evaluation.at)) if metric else 0.0

    @property
    def terms(self) -> Terms:
        """The coordinator's rules of the run."""
        federation = self.scenario.federation
        return Terms(
            clients=tuple(client.id for client in self.clients),
            hosts={host: self.numbers(host) for host in self.hosts},
            interactions=np.array([client.interactions for client in self.clients], dtype=np.int64),
            dimension=self.ranker.dimension,
            rounds=self.scenario.rounds,
            wait=federation.on_missing == "wait",
            deadline=federation.deadline_seconds,
            quorum=federation.quorum,
            keep_weights_every=self.keep_weights_every,
            cues=self.cues,
            since=self.since,
            until=self.until,
            fitness=self.fitness,
            plot=self.plot,
            shares=self._shares,
            on_deficit=self.scenario.privacy.on_deficit or "proceed",
            unlearning=self.unlearning,
            asked=self.asked,
            phases=self.phases,
        )

    @property
    def _shares(self) -> Literal["none", "whole", "expected", "quorum"]:
        """How many shares of noise a round needs."""
        needs = self.mechanism.needs if self.mechanism else "none"
        return needs if needs != "shares" else self.scenario.privacy.shares or "expected"

    @cached_property
    def cues(self) -> frozenset[int]:
        """The rounds before which the timeline has something to do, or something to heal."""
        rounds = self.scenario.rounds
        found: set[int] = set()
        for happening in self.scenario.timeline:
            ends = [one for one in (happening.lasts, happening.restart_after) if isinstance(one, int)]
            for number in happening.rounds(rounds):
                found.update({number, *(number + length for length in ends if number + length <= rounds)})
        return frozenset(found)

    @property
    def largest_frame(self) -> int:
        """Bytes of the longest frame that a node has reason to send."""
        largest = max(len(clients) for clients in self.hosts.values())
        if self.plot is not None:
            largest = 2 * len(self.clients)  # the adversary is told of all at once, of those who come later too
        return largest * (self.ranker.dimension + 8) * 8 + self.ranker.dimension * 8 + FRAME_MARGIN

    def numbers(self, host: str) -> NDArray[np.int64]:
        """The numbers of a host's clients, rising."""
        return np.array([client.number for client in self.hosts[host]], dtype=np.int64)

    def learner(self, host: str, data: Dataset) -> Learner:
        """What does the local interactions of a host's clients, those with poisoned clicks among them."""
        clients = self.hosts[host]
        models = {id(client.clicks): click_model(client.clicks, data.levels) for client in clients}
        own = [models[id(client.clicks)] for client in clients]
        attacks = {at: one for at, one in malice.schedules(clients).items() if isinstance(one.attack, ClickAttack)}
        if not attacks:
            return self._learner(host, data, own)
        poisoned = [_poisoned(user, attacks.get(place)) for place, user in enumerate(own)]
        learners = self._learner(host, data, own), self._learner(host, data, poisoned)
        return Poisoned(*learners, len(clients), attacks)

    def _learner(self, host: str, data: Dataset, clicks: list[ClickModel]) -> Learner:
        clients, scenario = self.hosts[host], self.scenario
        cohort = Cohort(
            keys=np.array([client_key(client.id) for client in clients], dtype=np.uint64),
            interactions=np.array([client.interactions for client in clients], dtype=np.int64),
            clicks=clicks,
        )
        learner = scenario.learner
        settings: dict[str, Any] = {"seed": scenario.seed, "at": scenario.evaluation.at}
        settings |= learner.model_dump(include=LOCAL_SETTINGS[learner.kind])
        settings |= {"bound": self.mechanism.bound} if self.mechanism else {}
        return LEARNERS[learner.kind](self.ranker, data.train, cohort, **settings)

    def lone_attackers(self, host: str) -> dict[int, LoneAttacker]:
        """The clients of a host that attack alone by what they send, by their place on the host."""
        return malice.lone_attackers(self.hosts[host], self.scenario.seed)

    @property
    def adversary(self) -> tuple[str, ...]:
        """The name of the adversary's node, if there is one."""
        return (ADVERSARY,) if self.plot is not None else ()

    @cached_property
    def plot(self) -> Plot | None:
        """The clients that collude; none if nobody does, and then there is no adversary."""
        return malice.plot(self.clients, self.scenario.federation)

    def malice(self, host: str) -> Malice | None:
        """What malicious clients of a host do beyond their own models; none if nobody does."""
        return malice.malice(self.hosts[host], self.clients, self.scenario.federation)

    def crafting(self) -> Callable[[Seen, int], Crafted]:
        """What decides for colluding clients in a round."""
        made = malice.crafting(self.clients, self.scenario.seed)
        assert made is not None, "there is an adversary only where clients collude"
        return made

    def evaluator(self, data: Dataset) -> OfflineEvaluator:
        """What measures models on the held-out queries."""
        return OfflineEvaluator(data.test, self.ranker, at=self.scenario.evaluation.at)


def _poisoned(user: ClickModel, schedule: Scheduled | None) -> ClickModel:
    """A client's user while it attacks."""
    return schedule.attack(user) if schedule is not None and isinstance(schedule.attack, ClickAttack) else user


def open_data(scenario: Scenario, progress: Any = None) -> Dataset:
    """The scenario's data set, memory-mapped; made first if it is not in the cache."""
    data = scenario.data
    return open_dataset(data.source, fold=data.fold, scale=data.scale, dtype=data.dtype, progress=progress)
