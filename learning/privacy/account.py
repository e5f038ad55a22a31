"""A run's account: what its rounds have cost so far, and whether a budget has room for another."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isclose
from typing import Any

from learning.privacy.composition import Spending
from learning.privacy.mechanism import Cost

__all__ = ["FREE", "Account"]

FREE = Cost(0.0, 0.0, 0.0, 0.0, 0.0)
"""The cost of a round whose updates were thrown away: its model tells nothing new."""


@dataclass(frozen=True, slots=True)
class Account:
    """What the closed rounds cost together, in three ε side by side.

    slack   the probability δ' that advanced composition may fail with
    budget  what the basic composition of `epsilon` may come to; none: anything
    """

    slack: float
    budget: float | None = None
    nominal: Spending = field(default_factory=Spending)
    epsilon: Spending = field(default_factory=Spending)
    joint: Spending = field(default_factory=Spending)
    delta: float = 0.0

    def after(self, cost: Cost) -> "Account":
        """With one round more."""
        return replace(
            self,
            nominal=self.nominal.after(cost.nominal),
            epsilon=self.epsilon.after(cost.epsilon),
            joint=self.joint.after(cost.joint),
            delta=self.delta + cost.delta,
        )

    def after_all(self, told: Iterable[Mapping[str, Any]]) -> "Account":
        """With the rounds that a log tells of, by what `record` wrote; none stands for no finite ε."""
        account = self
        for one in told:
            numbers = {name: inf if one[name] is None else one[name] for name in ("nominal", "epsilon", "joint")}
            account = account.after(Cost(**numbers, message=inf, delta=one["delta"]))
        return account

    def allows(self, cost: Cost) -> bool:
        """Whether another round of this cost stays within the budget."""
        if self.budget is None:
            return True
        after = self.epsilon.total + cost.epsilon
        return after <= self.budget or isclose(after, self.budget, rel_tol=1e-12)  # 22 rounds of 0.1 are 2.2

    def record(self, cost: Cost) -> dict[str, float | None]:
        """The account with its last round, as the log has it; no finite ε is none."""
        told: dict[str, float] = {
            "nominal": cost.nominal,
            "epsilon": cost.epsilon,
            "joint": cost.joint,
            "message": cost.message,
            "delta": cost.delta,
            "delta_basic": self.delta,
            "delta_advanced": self.delta + self.slack,
        }
        for name in ("nominal", "epsilon", "joint"):
            spending: Spending = getattr(self, name)
            told |= {f"{name}_basic": spending.basic, f"{name}_advanced": spending.advanced(self.slack)}
        return {name: None if value == inf else value for name, value in told.items()}
