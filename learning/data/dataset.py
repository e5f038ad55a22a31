"""A learning-to-rank data set: ragged lists of documents, one list a query."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset", "Features", "Queries"]

Features = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Queries:
    """One split: the documents of query q are the rows offsets[q] … offsets[q + 1] − 1.

    features  float32 or float64 [documents, dimension], C-contiguous, often memory-mapped and read-only
    labels    int8 [documents], graded relevance, 0 = not relevant
    offsets   int64 [queries + 1], rising, offsets[0] = 0
    """

    features: Features
    labels: NDArray[np.int8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def documents(self) -> int:
        """The number of documents of all queries."""
        return int(self.offsets[-1])


@dataclass(frozen=True, slots=True)
class Dataset:
    """The three splits of one fold; `vali` may be empty (0 queries).

    levels: how many relevance grades the data has, 2, 3 or 5; it selects the rows of the click tables.
    """

    name: str
    levels: int
    train: Queries
    vali: Queries
    test: Queries

    @property
    def dimension(self) -> int:
        """The number of features of a document."""
        return int(self.train.features.shape[1])
