"""Compiling ahead of time: before processes are forked, and with a word to the user if it takes a while."""

import numpy as np
from numpy.typing import DTypeLike

from learning.aggregation import Updates, make_rule
from learning.aggregation.adam import Adam
from learning.clicks import click_model
from learning.data.dataset import Queries
from learning.kernels.compiling import code_directory
from learning.learners import LEARNERS, Cohort
from learning.metrics import OfflineEvaluator
from learning.rankers import make_ranker
from learning.unlearning import calibrate

__all__ = ["is_cold", "warm"]

_CALLED = {  # by Python in a run of the learner
    "pdgd": (
        "pdgd._train",
        "metrics._add_measures",
        "metrics._fill_ideal",
        "fedavg._add_weighted",
        "calibration._calibrate",
    ),
    "es": ("es._try", "metrics._add_measures", "metrics._fill_ideal", "adam._add_directions"),
}


def is_cold(learner: str) -> bool:
    """Whether a loop that Python calls has no machine code on disk."""
    return not all(any(code_directory().rglob(f"{name}-*.nbi")) for name in _CALLED[learner])


def warm(dtype: DTypeLike, learner: str) -> None:
    """Run every loop of the learner once, on two documents with two features."""
    documents = np.array([[0.0, 1.0], [1.0, 0.0]], dtype=dtype)
    queries = Queries(documents, np.array([0, 1], dtype=np.int8), np.array([0, 2], dtype=np.int64))
    cohort = Cohort(np.zeros(1, np.uint64), np.full(1, 2), [click_model("perfect", 2)])
    ranker = make_ranker("linear", 2)
    theta = ranker.initial(0)
    update = LEARNERS[learner](ranker, queries, cohort, seed=0).train(theta, 0)
    rule = Adam(sigma=1.0, learning_rate=1.0) if learner == "es" else make_rule("fedavg")
    model = rule(Updates(update.thetas, update.interactions, np.zeros(1, np.int64), theta, 1)).theta
    if learner == "pdgd":
        calibrate(update.thetas, theta, np.ones(1))
    OfflineEvaluator(queries, ranker).ndcg(model[np.newaxis])
