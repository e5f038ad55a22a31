"""How alike two rankers rank: Kendall's τ of whole rankings, and rank-biased overlap of their tops.

    τ = (concordant − discordant pairs) / all pairs
    RBO@k = Σ_{d=1}^{k} p^{d−1}·|A_d ∩ B_d|/d / Σ_{d=1}^{k} p^{d−1},   p = 0.9, A_d and B_d the first d
                                                                        (Webber et al., TOIS 2010)

Both are 1 for equal rankings. Equal scores are in the fixed pseudo-random order of offline measures.
"""

from typing import Final

import numpy as np

from learning.data.dataset import Queries
from learning.kernels.arrays import Integers, Reals
from learning.metrics import tie_order
from learning.rankers.ranker import Ranker

__all__ = ["agreement", "kendall_tau", "rank_biased_overlap"]

PERSISTENCE: Final = 0.9


def agreement(queries: Queries, ranker: Ranker, one: Reals, other: Reals, at: int = 10) -> tuple[float, float]:
    """The means of τ and RBO@at over the queries, for two models [d]; queries with one document are left out."""
    scores = ranker.scores(np.array([one, other]), queries.features)
    order = tie_order(queries)
    taus, overlaps = [], []
    for first, last in zip(queries.offsets[:-1].tolist(), queries.offsets[1:].tolist(), strict=True):
        if last - first < 2:
            continue
        places = order[first:last]
        mine, yours = (places[np.argsort(-each[first:last][places], kind="stable")] for each in scores)
        taus.append(kendall_tau(mine, yours))
        overlaps.append(rank_biased_overlap(mine, yours, at))
    return float(np.mean(taus)), float(np.mean(overlaps))


def kendall_tau(one: Integers, other: Integers) -> float:
    """τ of two rankings [n] of the same documents."""
    place = np.empty(len(other), dtype=np.int64)
    place[other] = np.arange(len(other))
    sequence = place[one]  # rising where the two agree
    pairs = len(one) * (len(one) - 1) / 2
    concordant = sum(int((sequence[at + 1 :] > sequence[at]).sum()) for at in range(len(sequence) - 1))
    return float(2 * concordant / pairs - 1)


def rank_biased_overlap(one: Integers, other: Integers, at: int) -> float:
    """RBO of the first `at` of two rankings, as far as they go."""
    depth = min(at, len(one))
    weights = PERSISTENCE ** np.arange(depth)
    shared = [len(set(one[:d].tolist()) & set(other[:d].tolist())) / d for d in range(1, depth + 1)]
    return float(weights @ shared / weights.sum())
