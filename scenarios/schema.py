"""What a scenario may say: every key with its type, its bounds, its default and its meaning.

The docstring under a key is its description in the JSON Schema and in docs/scenarios.md. The models hold single keys;
what keys mean together is in `rules.py`, and `load.py` is the only way in.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from scenarios.comparison import Comparison, parse_comparison
from scenarios.duration import duration_seconds
from scenarios.privacy import Privacy
from scenarios.timeline import Happening
from scenarios.values import (
    Activation,
    Address,
    AggregationRule,
    Attack,
    Clicks,
    ComparisonText,
    Duration,
    EsMetric,
    EventName,
    Identifier,
    LearnerKind,
    Natural,
    Positive,
    RankerKind,
    Section,
)
from scenarios.words import Words

__all__ = [
    "JUDGED",
    "NEURAL_HIDDEN",
    "Aggregation",
    "ClientGroup",
    "Data",
    "Evaluation",
    "Expect",
    "Federation",
    "Learner",
    "Log",
    "Ranker",
    "Scenario",
]

NEURAL_HIDDEN = 64  # hidden units with PDGD in the papers
ES_HIDDEN = 10  # and with evolution strategies
ES_DEFAULTS = {"learning_rate": 0.001, "interactions": 4, "sigma": 0.01, "metric": "maxrr", "p": 1.0}
JUDGED = 20  # queries that fltrust's coordinator has judgements for


class Data(Section):
    """The queries, documents and relevance labels that users search in."""

    source: Annotated[
        str, Field(min_length=1), Words('a source such as "synthetic:mq2007" or "letor:/path/to/MQ2007"')
    ] = "synthetic:mq2007"
    """Where the data comes from; a relative path starts where foltr is started."""
    fold: Positive = 1
    """The fold of a data set that has several."""
    scale: Literal["auto", "query", "none"] = "auto"
    """Min-max scaling of the features within each query: always, never, or where the data set needs it."""
    dtype: Literal["float32", "float64"] = "float32"
    """The precision that features are kept in; models are float64 always."""


class Federation(Section):
    """Who runs where, and what happens when somebody is missing."""

    engine: Literal["processes", "inline"] = "processes"
    """Real processes over ZeroMQ, or everything inside one process; the models are the same to the bit."""
    hosts: Literal["auto", "per-client"] | Positive = "auto"
    """How many processes share the clients; "auto" is a process a client up to 16 clients, else one a core."""
    on_missing: Literal["skip", "wait"] = "skip"
    """Close a round without the clients that are dead or past the deadline, or wait for all of them."""
    deadline: Duration = "30s"
    """How long a silent client is waited for when missing ones are skipped."""
    quorum: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The fraction of the clients without which no round is closed."""
    restart: Literal["never", "always"] = "never"
    """Whether a process that died is started again."""
    address: Address = "127.0.0.1"
    """The address that the coordinator listens on."""
    port: Annotated[int, Field(ge=0, le=65535)] = 0
    """The port that the coordinator listens on; 0 is any free one."""

    @property
    def deadline_seconds(self) -> float:
        """The deadline in seconds."""
        return duration_seconds(self.deadline)


class Evaluation(Section):
    """How the global model is measured on the test split."""

    every: Positive = 1
    """Rounds between evaluated models."""
    at: Positive = 10
    """The k of nDCG@k."""


class Ranker(Section):
    """The model that scores documents."""

    kind: RankerKind = "linear"
    """A weight a feature, or a network with one hidden layer."""
    hidden: Annotated[
        Positive | SkipJsonSchema[None],
        Words(default=f'{NEURAL_HIDDEN} if kind = "neural", {ES_HIDDEN} if the learner is es'),
    ] = None
    """The hidden units of the neural ranker; the linear one has none."""
    activation: Annotated[
        Activation | SkipJsonSchema[None], Words(default='"sigmoid" if kind = "neural", "relu" if the learner is es')
    ] = None
    """What a hidden unit computes; with relu all weights start from 0, and the learner must be es."""

    @model_validator(mode="before")
    @classmethod
    def _resolve_network(cls, raw: Any) -> Any:
        """Write the network out, so that a resolved scenario tells it."""
        if isinstance(raw, dict) and raw.get("kind") == "neural":
            return {"hidden": NEURAL_HIDDEN, "activation": "sigmoid", **raw}
        return raw


class Learner(Section):
    """How a client learns from its users' clicks."""

    kind: LearnerKind = "pdgd"
    """The method: pairwise differentiable gradient descent, or evolution strategies, which send no weights."""
    learning_rate: Annotated[float, Field(gt=0), Words(default='0.1; 0.001 if kind = "es"')] = 0.1
    """The step size of one update; with es that of the coordinator's Adam."""
    interactions: Annotated[Positive, Words(default='5; 4 if kind = "es"')] = 5
    """Queries that a client's users search in one round; with es an even number."""
    update: Annotated[
        Literal["interaction", "batch"] | SkipJsonSchema[None], Words(default='"interaction" if kind = "pdgd"')
    ] = None
    """Update the local model after every interaction, or once with the gradients of the round summed."""
    sigma: Annotated[Annotated[float, Field(gt=0)] | SkipJsonSchema[None], Words(default='0.01 if kind = "es"')] = None
    """How far es pushes the model to and fro: the standard deviation of each weight's push."""
    metric: Annotated[EsMetric | SkipJsonSchema[None], Words(default='"maxrr" if kind = "es"')] = None
    """What es maximises: 1/(rank of the highest click), or the clicks' discounted gain."""
    p: Annotated[
        Annotated[float, Field(gt=0, le=1)] | SkipJsonSchema[None], Words(default='1.0 if kind = "es": always')
    ] = None
    """How often a client of es tells the true maxrr of an interaction; else it tells any other value."""

    @model_validator(mode="before")
    @classmethod
    def _resolve_method(cls, raw: Any) -> Any:
        """Write the method's settings out, so that a resolved scenario tells them."""
        if not isinstance(raw, dict) or raw.get("kind", "pdgd") not in ("pdgd", "es"):
            return raw
        return {**(ES_DEFAULTS if raw.get("kind") == "es" else {"update": "interaction"}), **raw}


class Aggregation(Section):
    """How the coordinator makes one model of the clients' models."""

    rule: Annotated[AggregationRule, Words(default='"fedavg"; "adam" if the learner is es')] = "fedavg"
    """The rule, or pre-aggregators and then the rule (docs/defences.md); with es a step of Adam."""
    tolerate: Annotated[Natural | SkipJsonSchema[None], Words(default="none; some rules need it")] = None
    """How many malicious clients the rule is told to tolerate; no rule is told who they are."""
    radius: Annotated[
        Annotated[float, Field(gt=0)] | SkipJsonSchema[None], Words(default="the round's median length")
    ] = None
    """With norm_clipping and centred_clipping: the length that a client's change is clipped to."""
    judged: Annotated[Positive | SkipJsonSchema[None], Words(default=f"{JUDGED} with fltrust")] = None
    """With fltrust: how many judged queries the coordinator has, from the validation split, else the training split."""

    @property
    def options(self) -> dict[str, Any]:
        """What the rule is made with."""
        given = {"tolerate": self.tolerate, "radius": self.radius}
        return {name: value for name, value in given.items() if value is not None}


class ClientGroup(Section):
    """Clients that are alike: `count` of them without a name, or one with an `id`."""

    count: Annotated[Positive | SkipJsonSchema[None], Words(default="none; count or id is needed")] = None
    """How many clients there are in this group; they are called client-1, client-2, … over all groups."""
    id: Annotated[Identifier | SkipJsonSchema[None], Words(default="none; count or id is needed")] = None
    """The name of a single client."""
    clicks: Clicks
    """How the clients' users click: a named model, or a table of one's own."""
    interactions: Annotated[Positive | SkipJsonSchema[None], Words(default="learner.interactions")] = None
    """Queries in one round, where these clients differ from the learner's."""
    attack: Annotated[Attack | SkipJsonSchema[None], Words(default="none: they are honest")] = None
    """How these clients are malicious, with `start`, `stop` and `every`; docs/attacks.md has every kind."""


class Log(Section):
    """What is kept in the log."""

    weights: Annotated[
        str,
        Field(pattern=r"^(auto|all|models|every:[1-9][0-9]{0,8})$"),
        Words('"auto", "all", "models" or "every:N" such as "every:10"'),
    ] = "auto"
    """Whose weights: all clients' in every round or every Nth, or the global models only; "auto": what fits 2 GB."""


class Expect(Section):
    """What must hold when the run is over; it fails if something does not."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, ComparisonText] = Field(init=False)

    sometimes: Annotated[tuple[EventName, ...], Field(strict=False)] = ()
    """Events that must have happened at least once."""

    @property
    def metrics(self) -> dict[str, Comparison]:
        """The bound of each metric, by its name."""
        return {name: parse_comparison(text) for name, text in (self.__pydantic_extra__ or {}).items()}


class Scenario(Section):
    """A federation and what it is to do: everything that decides a run's result."""

    name: Annotated[Identifier, Words(default="the file's name")] = "unnamed"
    """What the run is called; its directory has this name."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    """The number that all randomness comes from: same scenario and seed, same bits."""
    rounds: Positive
    """How many times the clients' models are averaged into a new global model."""
    data: Data = Data()
    federation: Federation = Federation()
    evaluation: Evaluation = Evaluation()
    ranker: Ranker = Ranker()
    learner: Learner = Learner()
    aggregation: Aggregation = Aggregation()
    privacy: Privacy = Privacy()
    clients: Annotated[tuple[ClientGroup, ...], Field(strict=False, json_schema_extra={"minItems": 1})]
    timeline: Annotated[tuple[Happening, ...], Field(strict=False)] = ()
    log: Log = Log()
    expect: Expect = Expect()
    unlearning: Annotated[
        dict[str, Any] | SkipJsonSchema[None],
        Words("a table that foltr unlearn writes: parent, clients, after, forget", default="none: the run trains"),
    ] = None
    """Whom the run forgets that another run, its parent, has learned from; all its rounds are unlearning."""

    @model_validator(mode="before")
    @classmethod
    def _resolve_for_es(cls, raw: Any) -> Any:
        """Write out what another learner changes in other tables."""
        learner = raw.get("learner") if isinstance(raw, dict) else None
        if not isinstance(learner, dict) or learner.get("kind") != "es":
            return raw
        tables = {name: raw.get(name, {}) for name in ("aggregation", "ranker")}
        if isinstance(tables["aggregation"], dict):
            tables["aggregation"] = {"rule": "adam", **tables["aggregation"]}
        if isinstance(tables["ranker"], dict) and tables["ranker"].get("kind") == "neural":
            tables["ranker"] = {"hidden": ES_HIDDEN, "activation": "relu", **tables["ranker"]}
        return {**raw, **tables}
