"""FLTrust-style: changes count by their cosine with a direction that the coordinator trusts (Cao et al., NDSS 2021).

    t_c = max(0, cos(Δ_c, g))        θ' = θ_t + Σ_c t_c·Δ_c·(r/‖Δ_c‖) / Σ_c t_c        Δ_c = θ_c − θ_t

g is the pairwise gradient on a few judged queries of the coordinator's own (`learning.aggregation.judged`). Departure:
r is the median of the ‖Δ_c‖ where the paper has ‖g‖, because a gradient from judgements has no length that clicks would
give it. If nobody is trusted the model stays. Unweighted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learning.aggregation.arithmetic import lengths, row_products
from learning.aggregation.fedavg import weighted_sum
from learning.aggregation.rule import Aggregate, Updates
from learning.errors import LearningError
from learning.kernels.arrays import Reals

__all__ = ["FLTrust", "Judge"]

Judge = Callable[[Reals], Reals]
"""The direction [d] in which a model [d] gets better, as far as the coordinator's judgements go."""


@dataclass(frozen=True, slots=True)
class FLTrust:
    """The mean of changes of one length, each weighted by how much it goes the trusted way."""

    judge: Judge
    remembers: ClassVar[bool] = False
    score: ClassVar[str] = "trust: the cosine with the judged direction, 0 where it is negative"

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """Those are used who are trusted at all; info has the length of the judged gradient."""
        direction = self.judge(updates.before)
        if direction.shape != updates.before.shape:
            raise LearningError(f"the judged direction must be {updates.before.shape}; got {direction.shape}")
        changes = updates.thetas - updates.before
        sizes, long = lengths(changes), float(lengths(direction[np.newaxis])[0])
        scale = sizes * long
        cosines = np.divide(row_products(changes, direction), scale, out=np.zeros_like(scale), where=scale > 0.0)
        trust = np.maximum(0.0, cosines)
        total = float(trust.cumsum()[-1])
        factors = np.divide(trust * np.median(sizes), sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
        step = weighted_sum(changes, factors / total) if total > 0.0 else np.zeros_like(updates.before)
        return Aggregate(updates.before + step, trust > 0.0, trust, {"judged_gradient": long})
