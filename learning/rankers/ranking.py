"""The list that a ranker shows: its documents by score, in compiled code."""

import numpy as np

from learning.kernels.arrays import Integers, Reals
from learning.kernels.compiling import compiled

__all__ = ["rank_by_score"]


@compiled
def rank_by_score(scores: Reals, order: Integers, best: Reals, shown: Integers) -> None:
    """Fill `shown` [k] with the places of the k highest of scores [≥ n], from the top; equal ones as in `order` [n].

    best [≥ k] is work space. Each document in turn goes up the list as far as it beats what is there.
    """
    ranks = len(shown)
    best[:ranks] = -np.inf
    for document in order:
        value = scores[document]
        if value > best[ranks - 1]:
            rank = ranks - 1
            while rank > 0 and value > best[rank - 1]:
                best[rank] = best[rank - 1]
                shown[rank] = shown[rank - 1]
                rank -= 1
            best[rank] = value
            shown[rank] = document
