"""The coordinator's arithmetic at the end of a round: the model, and what it costs in privacy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from learning.aggregation import Rule, Updates
from learning.privacy import FREE, Account, Cost
from protocol.terms import Aggregate, Aggregated
from scenarios.plan import Plan

__all__ = ["Closing"]


class Closing:
    """Makes models by a rule and a mechanism, and keeps the run's account; `told` are the closed rounds' costs."""

    def __init__(self, plan: Plan, rule: Rule, told: Iterable[Mapping[str, Any]] = ()) -> None:
        self._rule = rule
        self._noise = plan.noise
        self._account: Account = plan.account.after_all(told)
        self._dimension = plan.ranker.dimension
        self._interactions = np.array([client.interactions for client in plan.clients], dtype=np.int64)

    def close(self, asked: Aggregate, names: Sequence[str]) -> Callable[[float], Aggregated]:
        """The round's model: the rule's with the coordinator's noise, or the one before if the round is discarded.

        names are those of the clients whose updates there are, for the log.
        """
        if asked.noise.discarded:
            theta, info = asked.before, {"discarded": asked.noise.discarded}
            cost = replace(FREE, message=self._cost(asked).message)  # its messages were sent all the same
        else:
            made = self._rule(Updates(asked.thetas, asked.interactions, asked.clients, asked.before, asked.round))
            theta, info, cost = made.theta, made.record(names), self._cost(asked)
        if self._noise is None:
            return lambda now: Aggregated(now, theta, info)
        if not asked.noise.discarded:
            theta = self._noise.on_mean(theta, asked.round, asked.interactions)
        if not self._account.allows(cost):
            why = f"{self._spent()}, and round {asked.round} would cost {_figure(cost.epsilon)}"
            return lambda now: Aggregated(now, theta, info, exceeded=why)
        self._account = self._account.after(cost)
        told = _counted(asked) | self._account.record(cost)
        exhausted = self.exhausted(asked.round + 1)
        return lambda now: Aggregated(now, theta, info, told, exhausted=exhausted)

    def start_anew(self, rule: Rule) -> None:
        """The model goes back to unlearn: from here on a fresh rule makes the models; what was spent stays spent."""
        self._rule = rule

    def exhausted(self, number: int) -> str:
        """Why the budget has no room for a round with all its noise; empty if it has."""
        if self._noise is None:
            return ""
        share = 1 / len(self._interactions)
        cost = self._noise.mechanism.cost(self._dimension, self._interactions, 1.0, share)
        if self._account.allows(cost):
            return ""
        return f"{self._spent()}, and round {number} would cost {_figure(cost.epsilon)}"

    def _cost(self, asked: Aggregate) -> Cost:
        if self._noise is None:
            return FREE
        count = asked.noise
        promised = max(1, count.promised)
        arrived = (count.received + count.topped_up) / promised if count.promised else 1.0
        return self._noise.mechanism.cost(self._dimension, asked.interactions, arrived, 1 / promised)

    def _spent(self) -> str:
        account = self._account
        return f"the privacy budget is {_figure(account.budget or 0)}, {_figure(account.epsilon.total)} of it is spent"


def _counted(asked: Aggregate) -> dict[str, Any]:
    count = asked.noise
    return {
        "promised": count.promised,
        "received": count.received,
        "topped_up": count.topped_up,
        "givers": list(count.givers),
        "discarded": bool(count.discarded),
        "equal_weights": bool(asked.interactions.min() == asked.interactions.max()),
    }


def _figure(epsilon: float) -> str:
    return f"{epsilon:.6g}" if epsilon < np.inf else "more than any number"
