"""A client that attacks alone, ready to be asked what it sends."""

from dataclasses import dataclass

import numpy as np

from learning.attacks.attack import ClientAttack
from learning.attacks.schedule import Scheduled
from learning.kernels.arrays import Reals
from learning.streams import Purpose, stream

__all__ = ["LoneAttacker"]


@dataclass(frozen=True, slots=True)
class LoneAttacker:
    """One client's attack with its schedule and its random streams; `key` is the client's."""

    attack: ClientAttack
    schedule: Scheduled
    seed: int
    key: int

    def sent(self, local: Reals, before: Reals, number: int) -> Reals:
        """What the client sends in a round [d]: its local model [d] while it is honest."""
        if not self.schedule.is_on(number):
            return local
        random = stream(self.seed, Purpose.ATTACK, self.key, number)
        return self.attack(local.copy(), np.array(before), random)
