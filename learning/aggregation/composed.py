"""A rule after pre-aggregators: each turns the round's updates into others, the rule makes a model of the last ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from learning.aggregation.rule import Aggregate, Rule, Updates

__all__ = ["Composed", "PreAggregator"]


class PreAggregator(Protocol):
    """What comes before a rule, with its settings."""

    def check(self, clients: int) -> None:
        """Refuse a number of clients that it cannot serve, with the inequality."""

    def __call__(self, updates: Updates) -> Updates:
        """Other updates of the same clients."""


@dataclass(frozen=True, slots=True)
class Composed:
    """`rule = ["nnm", "trimmed_mean"]`: who was used, and the scores, are the rule's, of the mixed models."""

    first: Sequence[PreAggregator]
    rule: Rule

    @property
    def remembers(self) -> bool:
        """Whether the rule does; pre-aggregators never do."""
        return self.rule.remembers

    def check(self, clients: int) -> None:
        """Every stage must be able to serve them."""
        for stage in self.first:
            stage.check(clients)
        self.rule.check(clients)

    def __call__(self, updates: Updates) -> Aggregate:
        """One stage after the other."""
        for stage in self.first:
            updates = stage(updates)
        return self.rule(updates)
