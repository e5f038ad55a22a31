"""Users who search: a cohort and the queries that it draws from, checked once and kept as arrays for compiled loops."""

import numpy as np

from learning.data.dataset import Queries
from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals, Words, read_only
from learning.learners.cohort import Cohort
from learning.metrics import discounts, gains, ideal_dcg
from learning.rankers.ranker import Ranker
from learning.streams import WORD

__all__ = ["Searching"]


class Searching:
    """What every learner's loop is given of its clients, users and documents.

    keys, interactions, user      uint64[m], int64[m], int64[m]: each client's key, how many, and its row of the tables
    click, stop, examination      float64[models, levels] twice, float64[models, at]: the users' tables
    features, labels, offsets     the queries' arrays
    inverse_ideal, gain, discount float64[queries] (0 where nothing is relevant), 2^r − 1, 1/log2(rank + 1) [at]
    longest                       documents of the longest query
    """

    def __init__(self, ranker: Ranker, queries: Queries, cohort: Cohort, *, seed: int, at: int) -> None:
        if not 0 <= seed < WORD:
            raise LearningError(f"the seed must be from 0 to 2^64 - 1; got {seed}")
        if len(queries) == 0:
            raise LearningError("training needs at least 1 query; got 0")
        if queries.features.shape[1] != ranker.features:
            raise LearningError(f"documents must have {ranker.features} features; got {queries.features.shape[1]}")
        levels = cohort.clicks[0].levels
        if queries.documents and queries.labels.max() >= levels:
            raise LearningError(
                f"the users know the relevance grades 0 to {levels - 1}; got {queries.labels.max()} in the data"
            )
        ideal = ideal_dcg(queries, at)
        models = list(dict.fromkeys(cohort.clicks))
        place = {model: index for index, model in enumerate(models)}
        self._dimension = ranker.dimension
        self.seed = np.uint64(seed)
        self.keys = np.array(cohort.keys, dtype=np.uint64)
        self.interactions = np.array(cohort.interactions, dtype=np.int64)
        self.user = np.array([place[model] for model in cohort.clicks], dtype=np.int64)
        self.click = np.array([model.click for model in models])
        self.stop = np.array([model.stop for model in models])
        self.examination = np.array([[(1.0 / rank) ** model.eta for rank in range(1, at + 1)] for model in models])
        self.features = read_only(queries.features)
        self.labels = read_only(queries.labels)
        self.offsets = read_only(queries.offsets)
        self.inverse_ideal = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0.0)
        self.gain = gains()
        self.discount = discounts(at)
        self.longest = int(np.diff(queries.offsets).max())

    def chosen(self, theta: Reals, round: int, members: Integers | None) -> tuple[Words, Integers, Integers]:  # noqa: A002 (the domain's word)
        """Keys, interactions and users of the members (all if None), after a look at what a round is asked with."""
        if theta.shape != (self._dimension,):
            raise LearningError(f"the model must have the shape ({self._dimension},); got {theta.shape}")
        if not 0 <= round < WORD:
            raise LearningError(f"the round must be from 0 to 2^64 - 1; got {round}")
        if members is None:
            return self.keys, self.interactions, self.user
        chosen, size = np.ascontiguousarray(members, dtype=np.int64), len(self.keys)
        if len(chosen) and not (chosen.min() >= 0 and chosen.max() < size):
            raise LearningError(f"members must be from 0 to {size - 1}; got {chosen.min()} to {chosen.max()}")
        return self.keys[chosen], self.interactions[chosen], self.user[chosen]
