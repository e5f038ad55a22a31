"""What coordinate-wise rules share: the mean of the middle values of each coordinate."""

import numpy as np

from learning.aggregation.arithmetic import mean
from learning.aggregation.rule import Aggregate
from learning.kernels.arrays import Reals

__all__ = ["middle"]


def middle(thetas: Reals, cut: int) -> Aggregate:
    """In each coordinate of [n, d] the mean without the `cut` smallest and the `cut` largest; ties in client order."""
    order = np.argsort(thetas, axis=0, kind="stable")[cut : len(thetas) - cut]
    kept = np.take_along_axis(thetas, order, axis=0)
    shares = np.bincount(order.ravel(), minlength=len(thetas)) / thetas.shape[1]
    return Aggregate(mean(kept), shares > 0, shares)
