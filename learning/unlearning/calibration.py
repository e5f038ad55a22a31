"""Calibration: the direction of a new update with the length of the kept one (Wang et al., ECIR 2024, eq. 2).

ΔM_unlearn = ‖ΔM‖ · ΔM' / ‖ΔM'‖,   and 0 where ΔM' = 0
"""

from math import sqrt

import numpy as np

from learning.errors import LearningError
from learning.kernels.arrays import Reals, read_only
from learning.kernels.compiling import compiled

__all__ = ["calibrate"]


def calibrate(thetas: Reals, before: Reals, norms: Reals) -> Reals:
    """The local models [n, d] with each change from the model before [d] made as long as `norms` [n] says."""
    if thetas.ndim != 2 or before.shape != thetas.shape[1:] or norms.shape != thetas.shape[:1]:
        raise LearningError(
            f"calibration needs models [n, d], the model before [d] and a norm each; "
            f"got {thetas.shape}, {before.shape} and {norms.shape}"
        )
    made = np.empty_like(thetas)
    _calibrate(read_only(thetas), read_only(before), read_only(norms), made)
    return made


@compiled
def _calibrate(thetas: Reals, before: Reals, norms: Reals, made: Reals) -> None:
    """Fill `made`; sums go from left to right, so that the bits depend on nothing but the row."""
    for client in range(thetas.shape[0]):
        square = 0.0
        for j in range(thetas.shape[1]):
            change = thetas[client, j] - before[j]
            square += change * change
        length = sqrt(square)
        for j in range(thetas.shape[1]):
            change = thetas[client, j] - before[j]
            made[client, j] = before[j] + norms[client] * (change / length) if length > 0.0 else before[j]
