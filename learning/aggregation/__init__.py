"""Aggregation rules: how the coordinator makes one model of the local ones."""

from collections.abc import Callable, Mapping
from typing import Any

from learning.aggregation.fedavg import FedAvg
from learning.aggregation.rule import Aggregate, Rule, Updates
from learning.registry import make

__all__ = ["RULES", "Aggregate", "Rule", "Updates", "make_rule"]

RULES: Mapping[str, Callable[..., Rule]] = {
    "fedavg": FedAvg,
}


def make_rule(kind: str, **options: Any) -> Rule:
    """A fresh rule of that kind with its settings."""
    return make("aggregation rule", RULES, kind, **options)
