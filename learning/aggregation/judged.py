"""A few judged queries at the coordinator, and the direction in which they would have a model go.

    g = Σ_q mean over the pairs of q with label_i > label_j of σ(f(d_j) − f(d_i))·(f'(d_i) − f'(d_j))

the negative gradient of RankNet's loss (Burges et al., 2005): full information, no clicks, nothing drawn by chance but
the queries.
"""

import numpy as np

from learning.data.dataset import Dataset, Features
from learning.errors import LearningError
from learning.kernels.arrays import Integers, Labels, Reals, read_only
from learning.kernels.compiling import compiled
from learning.kernels.exponential import exponential
from learning.rankers.ranker import Ranker
from learning.rankers.scoring import add_gradient, score
from learning.streams import Purpose, client_key, stream

__all__ = ["JudgedQueries"]

FAR = 700.0  # beyond it σ is 0 or 1


class JudgedQueries:
    """`count` queries of the validation split, or of the training split where there is none; each has a preference."""

    def __init__(self, ranker: Ranker, data: Dataset, count: int, seed: int) -> None:
        if ranker.rectified:
            raise LearningError(
                "judged queries need a ranker with a gradient, linear or of sigmoids; got rectified units"
            )
        split = data.vali if len(data.vali) else data.train
        bounds = zip(split.offsets.tolist(), split.offsets[1:].tolist(), strict=False)
        mixed = [query for query, (a, b) in enumerate(bounds) if len(set(split.labels[a:b].tolist())) > 1]
        if len(mixed) < count:
            raise LearningError(f"judged must be at most the {len(mixed)} queries with different labels; got {count}")
        random = stream(seed, Purpose.PARTITION, client_key("coordinator"))
        self._chosen = np.sort(random.choice(np.array(mixed, dtype=np.int64), count, replace=False))
        self._ranker, self._split = ranker, split
        longest = int(np.diff(split.offsets).max())
        self._space = (np.empty((longest + 1, ranker.hidden)), np.empty((2, longest + 8)), np.arange(longest))

    def __call__(self, theta: Reals) -> Reals:
        """The direction g at a model [d]."""
        target = np.zeros(self._ranker.dimension)
        split = self._split
        _add_preferences(
            np.array(theta, dtype=np.float64),
            self._chosen,
            read_only(split.features),
            read_only(split.labels),
            read_only(split.offsets),
            self._ranker.hidden,
            *self._space,
            target,
        )
        return target


@compiled
def _add_preferences(
    theta: Reals,
    chosen: Integers,
    features: Features,
    labels: Labels,
    offsets: Integers,
    hidden: int,
    activations: Reals,
    space: Reals,
    places: Integers,
    target: Reals,
) -> None:
    """Add g to `target`; activations, space [2, ≥ longest] and places 0, 1, … are work space."""
    scores, factors = space[0], space[1]
    for query in chosen:
        first, last = offsets[query], offsets[query + 1]
        rows, grades, count = features[first:last], labels[first:last], last - first
        score(theta, rows, hidden, False, activations, scores)
        pairs = 0
        for i in range(count):
            factors[i] = 0.0
        for i in range(count):
            for j in range(count):
                if grades[i] > grades[j]:
                    weight = 1.0 / (1.0 + exponential(min(max(scores[i] - scores[j], -FAR), FAR)))
                    factors[i] += weight
                    factors[j] -= weight
                    pairs += 1
        for i in range(count):
            factors[i] /= pairs
        add_gradient(theta, rows, hidden, activations, places[:count], factors[:count], target)
