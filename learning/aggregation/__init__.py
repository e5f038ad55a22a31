"""Aggregation rules: how the coordinator makes one model of the local ones, and what may come before a rule."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from learning.aggregation.bulyan import Bulyan
from learning.aggregation.centred_clipping import CentredClipping
from learning.aggregation.composed import Composed, PreAggregator
from learning.aggregation.fedavg import FedAvg
from learning.aggregation.fldetector import FLDetector
from learning.aggregation.fltrust import FLTrust, Judge
from learning.aggregation.geometric_median import GeometricMedian
from learning.aggregation.guarded import Guarded
from learning.aggregation.judged import JudgedQueries
from learning.aggregation.krum import Krum
from learning.aggregation.median import Median
from learning.aggregation.multi_krum import MultiKrum
from learning.aggregation.nnm import NearestNeighbourMixing
from learning.aggregation.norm_clipping import NormClipping
from learning.aggregation.rule import Aggregate, Rule, Updates
from learning.aggregation.trimmed_mean import TrimmedMean
from learning.errors import LearningError
from learning.registry import make

__all__ = [
    "PRE_AGGREGATORS",
    "RULES",
    "Aggregate",
    "Judge",
    "JudgedQueries",
    "Rule",
    "Updates",
    "make_rule",
    "options_of",
    "remembers",
]

RULES: Mapping[str, type[Rule]] = {
    "fedavg": FedAvg,
    "krum": Krum,
    "multi_krum": MultiKrum,
    "trimmed_mean": TrimmedMean,
    "median": Median,
    "bulyan": Bulyan,
    "geometric_median": GeometricMedian,
    "norm_clipping": NormClipping,
    "centred_clipping": CentredClipping,
    "fltrust": FLTrust,
    "fldetector": FLDetector,
    "guarded": Guarded,
}
PRE_AGGREGATORS: Mapping[str, type[PreAggregator]] = {
    "nnm": NearestNeighbourMixing,
}


def make_rule(kind: str | Sequence[str], judge: Judge | None = None, **options: Any) -> Rule:
    """A fresh rule: of that kind, or the last of several with pre-aggregators before it; each takes its own options.

    judge is what fltrust trusts; the others need none.
    """
    *first, last = _stages(kind)
    for name in options:
        if not any(name in options_of(stage) for stage in (*first, last)):
            known = ", ".join(sorted({one for stage in (*first, last) for one in options_of(stage)})) or "none"
            raise LearningError(f"an option of aggregation rule {last} must be one of {known}; got {name!r}")
    given = (judge,) if last == "fltrust" else ()
    if given == (None,):
        raise LearningError("aggregation rule fltrust needs judged queries; got none")
    rule = make("aggregation rule", RULES, last, *given, **_own(last, options))
    before = [make("pre-aggregator", PRE_AGGREGATORS, stage, **_own(stage, options)) for stage in first]
    return Composed(before, rule) if before else rule


def options_of(stage: str) -> frozenset[str]:
    """The options of a rule or pre-aggregator."""
    maker = {**RULES, **PRE_AGGREGATORS}.get(stage)
    parameters = inspect.signature(maker).parameters.values() if maker else ()
    return frozenset(one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY)


def remembers(kind: str | Sequence[str]) -> bool:
    """Whether a rule's models depend on earlier rounds."""
    return bool(getattr(RULES.get(_stages(kind)[-1]), "remembers", False))


def _stages(kind: str | Sequence[str]) -> list[str]:
    stages = [kind] if isinstance(kind, str) else list(kind)
    if not stages:
        raise LearningError(f"an aggregation rule must be one of {', '.join(RULES)}; got none")
    return stages


def _own(stage: str, options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in options_of(stage)}
