"""Learners: what a client does with the global model in a round."""

from collections.abc import Callable, Mapping

from learning.learners.cohort import Cohort, Learner, LocalUpdates
from learning.learners.es import Es
from learning.learners.pdgd import Pdgd
from learning.learners.poisoned import Poisoned

__all__ = ["LEARNERS", "Cohort", "Es", "Learner", "LocalUpdates", "Pdgd", "Poisoned"]

LEARNERS: Mapping[str, Callable[..., Learner]] = {
    "pdgd": Pdgd,
    "es": Es,
}
