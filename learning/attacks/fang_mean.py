"""Fang's attack on Trimmed Mean and Median (Fang et al., USENIX Security 2020, §4.3; ICTIR 2023, §4.3.2)."""

from dataclasses import dataclass

import numpy as np

from learning.attacks.attack import ColludingAttack, Crafted, Seen

__all__ = ["FangMean"]


@dataclass(frozen=True, slots=True)
class FangMean(ColludingAttack):
    """Each draws each coordinate just beyond the benign extreme that lies against the direction of learning.

    s = −sign(μ − θ_t), μ the mean of all before-attack models they see. Coordinate j is uniform on [max, 2·max] where
    s_j = 1 ([max, max/2] if max < 0), on [2·min, min] where s_j = −1 ([min/2, min] if min > 0), and μ_j, which is
    θ_t's, where s_j = 0; max and min are of the benign models, or with partial knowledge of the members' own.
    """

    def __call__(self, seen: Seen, random: np.random.Generator) -> Crafted:
        """A draw for each of the m members and d coordinates."""
        direction = -np.sign(seen.moved)
        high, low = seen.benign.max(axis=0), seen.benign.min(axis=0)
        above = np.where(high > 0, 2 * high, high / 2)
        below = np.where(low > 0, low / 2, 2 * low)
        near = np.where(direction > 0, high, low)
        far = np.where(direction > 0, above, below)
        drawn = near + random.random(seen.members.shape) * (far - near)
        return Crafted(np.where(direction == 0, seen.before, drawn), {})
