"""Inner product manipulation (Xie et al., UAI 2020, §4)."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from learning.attacks.attack import ColludingAttack, Crafted, Seen, check_number

__all__ = ["Ipm"]


@dataclass(frozen=True, slots=True)
class Ipm(ColludingAttack):
    """All send θ_t − ε·mean of the honest updates, so that the aggregate may point against learning.

    With partial knowledge the members' own before-attack updates stand for the honest ones.
    """

    _: KW_ONLY
    epsilon: float = 0.5

    def __post_init__(self) -> None:
        check_number("ipm", "epsilon", self.epsilon, least=0.0)

    def __call__(self, seen: Seen, random: np.random.Generator) -> Crafted:
        """θ_t − ε·mean(w_i − θ_t), m times."""
        del random
        theta = seen.before - self.epsilon * (seen.benign - seen.before).mean(axis=0)
        return Crafted(np.tile(theta, (len(seen.members), 1)), {})
