"""Per-query min-max scaling of features."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["scale_queries"]


def scale_queries(features: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """(x − min) / (max − min) for each feature over the documents of its query.

    features float64 [documents, dimension], offsets int64 [queries + 1]. A feature that is constant in a query becomes
    0; a query with one document is left as it is.
    """
    counts = np.diff(offsets)
    halves = features / 2  # so that max − min cannot overflow; halving is exact
    low = np.minimum.reduceat(halves, offsets[:-1], axis=0)
    span = np.maximum.reduceat(halves, offsets[:-1], axis=0) - low
    span[span == 0] = 1
    alone = counts == 1
    low[alone], span[alone] = 0, 0.5
    halves -= np.repeat(low, counts, axis=0)
    halves /= np.repeat(span, counts, axis=0)
    return halves
