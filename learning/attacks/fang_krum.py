"""Fang's attack on Krum and Multi-Krum (Fang et al., USENIX Security 2020, §4.2; Wang & Zuccon, ICTIR 2023, §4.3.2)."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np

from learning.attacks.attack import ColludingAttack, Crafted, Seen
from learning.kernels.arrays import Reals

__all__ = ["FangKrum", "distances", "krum_takes_crafted"]

LEAST_STEP: Final = 1e-5
"""The λ below which no further halving is tried."""


@dataclass(frozen=True, slots=True)
class FangKrum(ColludingAttack):
    """All send θ_t + λ·s, against the direction of learning and near enough to the others that Krum takes it.

    s = −sign(μ − θ_t), μ the mean of all before-attack models they see. λ starts from

        min_i Σ_{n−m−2 nearest l} D(w_i, w_l) / ((n − 2m − 1)·√d) + max_i D(w_i, θ_t)/√d

    over the benign models w, and is halved until Krum over the m crafted and the benign would take a crafted one, or
    λ < 1e-5. With partial knowledge the members' own models play the benign ones, against 1 crafted copy, then 2, … m.
    The number of neighbours and the denominator are at least 1.
    """

    def __call__(self, seen: Seen, random: np.random.Generator) -> Crafted:
        """θ_t + λ·s, m times."""
        del random
        direction = -np.sign(seen.moved)
        benign = seen.benign
        apart, moved = distances(benign, benign), distances(benign, seen.before[None])[:, 0]
        taken, step = False, 0.0
        members = len(seen.members)
        for copies in (members,) if len(seen.honest) else range(1, members + 1):
            step = _first_step(apart, moved, copies, len(seen.before))
            taken = _is_taken(seen.before + step * direction, benign, apart, copies)
            while not taken and step >= LEAST_STEP:
                step /= 2
                taken = _is_taken(seen.before + step * direction, benign, apart, copies)
            if taken:
                break
        theta = seen.before + step * direction
        return Crafted(np.tile(theta, (members, 1)), {"lambda": step, "taken": taken})


def distances(models: Reals, others: Reals) -> Reals:
    """The Euclidean distance of each model [a, d] from each of the others [b, d]: float64[a, b]."""
    apart = models[:, None, :] - others[None, :, :]
    found: Reals = np.sqrt(np.einsum("abd,abd->ab", apart, apart))
    return found


def krum_takes_crafted(apart: Reals, to_crafted: Reals, copies: int) -> bool:
    """Whether Krum takes one of `copies` equal crafted models among b benign ones; a tie goes to the crafted.

    apart float64[b, b], to_crafted float64[b]. A score is the sum of the b − 2 smallest distances, at least 1 of them.
    """
    count = len(apart)
    neighbours = max(1, count - 2)
    crafted = np.sort(np.concatenate([np.zeros(copies - 1), to_crafted]))[:neighbours].sum()
    others = apart[~np.eye(count, dtype=bool)].reshape(count, count - 1)
    benign = np.sort(np.concatenate([others, np.repeat(to_crafted[:, None], copies, axis=1)], axis=1), axis=1)
    return bool(crafted <= benign[:, :neighbours].sum(axis=1).min())


def _is_taken(theta: Reals, benign: Reals, apart: Reals, copies: int) -> bool:
    return krum_takes_crafted(apart, distances(benign, theta[None])[:, 0], copies)


def _first_step(apart: Reals, moved: Reals, copies: int, dimension: int) -> float:
    """The λ to start from, with n = benign + copies and m = copies."""
    count = len(apart)
    nearest = np.sort(apart, axis=1)[:, 1 : 1 + max(1, count - 2)].sum(axis=1)  # the first is the model itself
    return float((nearest.min() / max(1, count - copies - 1) + moved.max()) / sqrt(dimension))
