"""Rankers: what turns θ and a document's features into a score. Only a ranker knows the shape of θ."""

from collections.abc import Callable, Mapping
from typing import Any

from learning.errors import LearningError
from learning.rankers.linear import Linear
from learning.rankers.neural import Neural
from learning.rankers.ranker import Ranker
from learning.registry import make

__all__ = ["RANKERS", "Ranker", "make_ranker"]

RANKERS: Mapping[str, Callable[..., Ranker]] = {
    "linear": Linear,
    "neural": Neural,
}


def make_ranker(kind: str, features: int, **options: Any) -> Ranker:
    """The ranker of that kind for documents with that many features."""
    if features < 1:
        raise LearningError(f"a ranker needs documents with at least 1 feature; got {features}")
    return make("ranker", RANKERS, kind, features, **options)
