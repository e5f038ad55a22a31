"""Little Is Enough (Baruch et al., NeurIPS 2019, §3; Wang & Zuccon, ICTIR 2023, §4.3.1)."""

from dataclasses import KW_ONLY, dataclass
from statistics import NormalDist

import numpy as np

from learning.attacks.attack import ColludingAttack, Crafted, Seen, check_number

__all__ = ["Lie", "largest_z"]


@dataclass(frozen=True, slots=True)
class Lie(ColludingAttack):
    """All send μ − z·σ of the before-attack models they see: inside the spread of the honest ones.

    σ is the population standard deviation, a number a coordinate. A `z` that is not given is such that s honest clients
    are still further from the mean: s = ⌊n/2 + 1⌋ − m, z = Φ⁻¹((n − m − s)/(n − m)). With n = 10, z is −0.14, 0, 0.18
    and 0.43 for m = 1 … 4: no attack below m = 3.
    """

    _: KW_ONLY
    z: float | None = None

    def __post_init__(self) -> None:
        if self.z is not None:
            check_number("lie", "z", self.z)

    def __call__(self, seen: Seen, random: np.random.Generator) -> Crafted:
        """μ − z·σ, m times."""
        del random
        models = seen.visible
        z = largest_z(seen.clients, len(seen.members)) if self.z is None else float(self.z)
        theta = models.mean(axis=0) - z * models.std(axis=0)
        return Crafted(np.tile(theta, (len(seen.members), 1)), {"z": z})


def largest_z(clients: int, members: int) -> float:
    """Φ⁻¹((n − m − s)/(n − m)); 0 where that is not a number, in rounds of very few or with members in the majority."""
    supporters = clients // 2 + 1 - members
    share = (clients - members - supporters) / max(1, clients - members)
    return NormalDist().inv_cdf(share) if 0 < share < 1 else 0.0
