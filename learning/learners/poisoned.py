"""A host some of whose clients learn from poisoned clicks in some rounds."""

from collections.abc import Mapping

import numpy as np

from learning.attacks.schedule import Scheduled
from learning.kernels.arrays import Integers, Reals
from learning.learners.cohort import Learner, LocalUpdates

__all__ = ["Poisoned"]


class Poisoned:
    """Two learners for the same clients: with their own users, and with those of their attacks (by place, when on)."""

    def __init__(self, honest: Learner, poisoned: Learner, clients: int, attacks: Mapping[int, Scheduled]) -> None:
        self._honest = honest
        self._poisoned = poisoned
        self._everyone = np.arange(clients)
        self._attacks = attacks

    def train(
        self,
        theta: Reals,
        round: int,  # noqa: A002 (the domain's word)
        members: Integers | None = None,
        *,
        most: int = 0,
    ) -> LocalUpdates:
        """The updates of the members (indices into the cohort; all of it if None) from the global model θ [d]."""
        on = [place for place, attack in self._attacks.items() if attack.is_on(round)]
        places = self._everyone if members is None else members
        attacking = np.isin(places, on)
        if not attacking.any():
            return self._honest.train(theta, round, members, most=most)
        if attacking.all():
            return self._poisoned.train(theta, round, members, most=most)
        good = self._honest.train(theta, round, places[~attacking], most=most)
        bad = self._poisoned.train(theta, round, places[attacking], most=most)
        order = np.argsort(np.concatenate([np.flatnonzero(~attacking), np.flatnonzero(attacking)]))
        return LocalUpdates(
            np.concatenate([good.thetas, bad.thetas])[order],
            np.concatenate([good.interactions, bad.interactions])[order],
            np.concatenate([good.online, bad.online])[order],
            None if good.maxrr is None else np.concatenate([good.maxrr, bad.maxrr])[order],
        )
