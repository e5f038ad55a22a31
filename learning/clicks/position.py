"""Position-based users (PBM): rank i is examined with probability (1/i)^eta, each rank by itself.

P(click at rank i) = P(click|r)·(1/i)^eta. Source: the thesis' §2.2.1; eta is one of 0, 0.5, 1, 1.5 and 2 there.
"""

import math

from learning.clicks.cascade import CASCADES
from learning.clicks.model import ClickModel, probabilities
from learning.errors import LearningError
from learning.registry import make

__all__ = ["position_based"]


def position_based(levels: int, *, eta: float = 1.0, base: str | None = None, click: object = None) -> ClickModel:
    """A PBM user whose P(click|r) is that of the cascade user `base` (by default "perfect") or the list `click`."""
    if isinstance(eta, bool) or not isinstance(eta, int | float) or not (math.isfinite(eta) and eta >= 0):
        raise LearningError(f"eta must be a finite number from 0 on; got {eta!r}")
    if click is None:
        attraction = make("base", CASCADES, "perfect" if base is None else base, levels).click
    elif base is None:
        attraction = probabilities("click", click, levels)
    else:
        raise LearningError(f"a pbm takes its P(click|r) from base or from click, not from both; got base = {base!r}")
    return ClickModel(click=attraction, stop=(0.0,) * levels, eta=float(eta))
