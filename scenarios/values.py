"""The values that keys of a scenario take: their types with bounds, patterns and words."""

import ipaddress
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from protocol.events import EVENTS
from scenarios.comparison import PATTERN as COMPARISON_PATTERN
from scenarios.comparison import parse_comparison
from scenarios.duration import PATTERN as DURATION_PATTERN
from scenarios.duration import duration_seconds
from scenarios.words import LARGEST_COUNT, Words

__all__ = [
    "Activation",
    "Address",
    "AggregationRule",
    "Attack",
    "Clicks",
    "ComparisonText",
    "Duration",
    "EsMetric",
    "EventName",
    "Forget",
    "Identifier",
    "LearnerKind",
    "Natural",
    "Positive",
    "PrivacyMechanism",
    "RankerKind",
    "Section",
    "Selector",
]

# The names of learning's registries. They are repeated here because importing the registries compiles kernels, and a
# scenario is read by commands that compute nothing; tests/scenarios/test_schema.py holds the two to each other.
RankerKind = Literal["linear", "neural"]
Activation = Literal["sigmoid", "relu"]
LearnerKind = Literal["pdgd", "es"]
EsMetric = Literal["maxrr", "dcg"]
PrivacyMechanism = Literal["none", "laplace-shares", "central-gaussian", "local-gaussian"]
RuleName = Literal[
    "fedavg",
    "krum",
    "multi_krum",
    "trimmed_mean",
    "median",
    "bulyan",
    "geometric_median",
    "norm_clipping",
    "centred_clipping",
    "fltrust",
    "fldetector",
    "guarded",
    "adam",
]
PreAggregatorName = Literal["nnm"]
ClickModelName = Literal["perfect", "navigational", "informational", "poison", "pbm"]


def _finite_comparison(text: str) -> str:
    parse_comparison(text)
    return text


def _bounded_duration(text: str) -> str:
    duration_seconds(text)
    return text


def _known_event(name: str) -> str:
    if name not in EVENTS:
        raise ValueError(f'no event is called "{name}"')
    return name


def _ipv4(text: str) -> str:
    return str(ipaddress.IPv4Address(text))


Identifier = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=64),
    Words("letters, digits, - _ . (a letter or digit first, at most 64)"),
]
Positive = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]
Natural = Annotated[int, Field(ge=0, le=LARGEST_COUNT)]
Duration = Annotated[
    str,
    Field(pattern=DURATION_PATTERN),
    AfterValidator(_bounded_duration),
    Words('a duration such as "30s", "500ms" or "2m", at most "24h"'),
]
ComparisonText = Annotated[
    str,
    Field(pattern=COMPARISON_PATTERN),
    AfterValidator(_finite_comparison),
    Words('a comparison such as ">= 0.30"'),
]
EventName = Annotated[
    str,
    AfterValidator(_known_event),
    WithJsonSchema({"type": "string", "enum": sorted(EVENTS)}),
    Words('the name of an event such as "client.rejoined"', choices=tuple(sorted(EVENTS))),
]
AggregationRule = (
    RuleName
    | Annotated[
        tuple[RuleName | PreAggregatorName, ...],
        Field(strict=False, min_length=1),
        Words('an array of "nnm" and one of these, such as ["nnm", "trimmed_mean"]'),
    ]
)
Attack = Annotated[dict[str, Any], Words('a table such as { kind = "sign_flip", z = 2 }')]
Forget = Annotated[dict[str, Any], Words('a table such as { method = "federaser", every = 10, interactions = 3 }')]
Clicks = ClickModelName | Annotated[dict[str, Any], Words('a table such as { kind = "pbm", eta = 0.5 }')]
Address = Annotated[str, AfterValidator(_ipv4), Words('an IPv4 address such as "127.0.0.1"')]
Selector = Annotated[
    str | Annotated[tuple[str, ...], Field(strict=False)] | SkipJsonSchema[None],
    Words(
        'an id, "clients", "coordinator", "adversary", "evaluator", a fraction such as "30%", or an array of these',
        "nobody",
    ),
]


class Section(BaseModel):
    """A table of a scenario: frozen, without unknown keys, and "5" is no number."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )
