"""Centred clipping: changes are clipped around the last round's aggregated change (Karimireddy et al., ICML 2021, §4).

    v ← v + mean of (Δ_c − v)·min(1, τ/‖Δ_c − v‖)        θ' = θ_t + v        Δ_c = θ_c − θ_t, v = 0 before round 1

τ is a setting, or the median of the round's ‖Δ_c − v‖. The paper's clients send momenta; ours send what they learned,
so only v is remembered. Unweighted.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from learning.aggregation.arithmetic import mean
from learning.aggregation.norm_clipping import check_radius, clipped
from learning.aggregation.rule import Aggregate, Updates
from learning.kernels.arrays import Reals

__all__ = ["CentredClipping"]


@dataclass(slots=True, kw_only=True)
class CentredClipping:
    """The mean of changes of bounded distance from the change before; radius 0 is the median of the distances."""

    radius: float = 0.0
    remembers: ClassVar[bool] = True
    score: ClassVar[str] = "what the client's distance from the last change was multiplied with, at most 1"
    _last: Reals | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        check_radius(self.radius)

    def check(self, clients: int) -> None:
        """Serve any number of clients."""

    def __call__(self, updates: Updates) -> Aggregate:
        """Everybody is used, cut to size; info has the radius."""
        last = self._last if self._last is not None else updates.before * 0.0
        off, factors, radius = clipped(updates.thetas - updates.before - last, self.radius)
        self._last = last + mean(off)
        return Aggregate(updates.before + self._last, scores=factors, info={"radius": radius})
