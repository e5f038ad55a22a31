"""What the tests of the mathematics share."""

import sys
from pathlib import Path

import numpy as np
import pytest

from learning.data.dataset import Queries

sys.path.insert(0, str(Path(__file__).parent))  # where slow_twin.py is


@pytest.fixture
def make_queries():
    """A maker of small random splits: ragged lists, features around 0, grades below `levels`."""

    def make(sizes, features=5, levels=3, seed=0, dtype=np.float64):
        generator = np.random.default_rng(seed)
        documents = sum(sizes)
        return Queries(
            features=generator.normal(size=(documents, features)).astype(dtype),
            labels=generator.integers(0, levels, size=documents).astype(np.int8),
            offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        )

    return make
