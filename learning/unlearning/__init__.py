"""Unlearning: how a federation forgets clients that leave."""

from collections.abc import Callable, Mapping
from typing import Any

from learning.registry import make
from learning.unlearning.accumulate import Accumulate
from learning.unlearning.calibration import calibrate
from learning.unlearning.fedavg_retrain import FedAvgRetrain
from learning.unlearning.federaser import FedEraser
from learning.unlearning.lineage import lineage
from learning.unlearning.method import Made, Method, Steps, Story
from learning.unlearning.retrain import Retrain
from learning.unlearning.rollback import Rollback
from learning.unlearning.subtract import Subtract

__all__ = ["METHODS", "Made", "Method", "Steps", "Story", "calibrate", "lineage", "make_method"]

METHODS: Mapping[str, Callable[..., Method]] = {
    "federaser": FedEraser,
    "retrain": Retrain,
    "fedavg-retrain": FedAvgRetrain,
    "accumulate": Accumulate,
    "subtract": Subtract,
    "rollback": Rollback,
}


def make_method(settings: Mapping[str, Any]) -> Method:
    """The method of a table such as { method = "federaser", every = 10, interactions = 3 }."""
    options = dict(settings)
    return make("unlearning method", METHODS, options.pop("method", None), **options)
