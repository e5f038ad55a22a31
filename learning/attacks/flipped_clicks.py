"""Flipped clicks: the users take the relevance grades the wrong way round."""

from dataclasses import KW_ONLY, dataclass, replace

from learning.attacks.attack import ClickAttack, check_number
from learning.clicks.mixture import mixed
from learning.clicks.model import ClickModel

__all__ = ["FlippedClicks"]


@dataclass(frozen=True, slots=True)
class FlippedClicks(ClickAttack):
    """The users see grade R − r for r with probability `strength`, R the top grade, else what is there.

    P(click|r) = (1 − strength)·own(r) + strength·own(R − r), and P(stop|r) likewise. Of perfect users, strength 1 makes
    the `poison` model.
    """

    _: KW_ONLY
    strength: float = 1.0

    def __post_init__(self) -> None:
        check_number("flipped_clicks", "strength", self.strength, least=0.0, most=1.0)

    def __call__(self, own: ClickModel) -> ClickModel:
        """The mixture of the client's own users with those who take grades the wrong way round."""
        return mixed(own, replace(own, click=own.click[::-1], stop=own.stop[::-1]), self.strength)
