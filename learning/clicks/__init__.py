"""Simulated users. A scenario's `clicks = …` is a name of `CLICK_MODELS` or a table with its `kind` and options."""

from collections.abc import Callable, Mapping

from learning.clicks.cascade import CASCADES, cascade
from learning.clicks.model import ClickModel
from learning.clicks.position import position_based
from learning.errors import LearningError
from learning.registry import make

__all__ = ["CLICK_MODELS", "ClickModel", "click_model"]

CLICK_MODELS: Mapping[str, Callable[..., ClickModel]] = {
    "perfect": CASCADES["perfect"],
    "navigational": CASCADES["navigational"],
    "informational": CASCADES["informational"],
    "poison": CASCADES["poison"],
    "cascade": cascade,
    "pbm": position_based,
}


def click_model(spec: object, levels: int) -> ClickModel:
    """The user that `spec` describes, for data with that many relevance grades.

    "navigational" · {"kind": "pbm", "eta": 1.0, "base": "perfect"} · {"kind": "cascade", "click": […], "stop": […]}
    """
    if not isinstance(spec, Mapping):
        return make("clicks", CLICK_MODELS, spec, levels)
    if "kind" not in spec:
        raise LearningError(f"clicks must have a kind, one of {', '.join(sorted(CLICK_MODELS))}; got {dict(spec)!r}")
    options = {str(name): value for name, value in spec.items() if name != "kind"}
    return make("clicks", CLICK_MODELS, spec["kind"], levels, **options)
