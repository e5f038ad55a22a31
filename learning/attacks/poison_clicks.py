"""Poisoned clicks: the users want what is not relevant (Wang & Zuccon, ICTIR 2023, §4.2 and Table 1)."""

from dataclasses import KW_ONLY, dataclass

from learning.attacks.attack import ClickAttack, check_number
from learning.clicks.cascade import CASCADES
from learning.clicks.mixture import mixed
from learning.clicks.model import ClickModel

__all__ = ["PoisonClicks"]


@dataclass(frozen=True, slots=True)
class PoisonClicks(ClickAttack):
    """The users click as the `poison` model does with probability `strength`, else as they always did.

    P(click|r) = (1 − strength)·own(r) + strength·poison(r), and P(stop|r) likewise; the paper has strength 1.
    """

    _: KW_ONLY
    strength: float = 1.0

    def __post_init__(self) -> None:
        check_number("poison_clicks", "strength", self.strength, least=0.0, most=1.0)

    def __call__(self, own: ClickModel) -> ClickModel:
        """The mixture of the client's own users with the poison model."""
        return mixed(own, CASCADES["poison"](own.levels), self.strength)
