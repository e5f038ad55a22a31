"""Two users in one: each look at a document is by the other one with some probability."""

from learning.clicks.model import ClickModel

__all__ = ["mixed"]


def mixed(own: ClickModel, other: ClickModel, share: float) -> ClickModel:
    """P(·|r) = (1 − share)·own + share·other for clicks and stops; ranks are examined as the own user does."""
    if share == 1.0:  # exactly the other's numbers
        return ClickModel(click=other.click, stop=other.stop, eta=own.eta)
    click = tuple((1 - share) * mine + share * theirs for mine, theirs in zip(own.click, other.click, strict=True))
    stop = tuple((1 - share) * mine + share * theirs for mine, theirs in zip(own.stop, other.stop, strict=True))
    return ClickModel(click=click, stop=stop, eta=own.eta)
