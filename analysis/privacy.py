"""What a run with a privacy mechanism gives away: each figure with whom it protects against."""

from dataclasses import dataclass
from math import inf
from typing import Any, Final

from analysis.log import sql_text
from analysis.runs import Run

__all__ = ["Figure", "figure_rows", "figures_of", "remarks_of"]

MODELS: Final = "who sees only the models, which are sums"
MESSAGES: Final = "who sees single messages: the coordinator, and readers of this log"


@dataclass(frozen=True, slots=True)
class Figure:
    """One ε: the worst round's, all rounds' by basic and by advanced composition; infinite where no finite one holds.

    against  whom it protects against
    """

    name: str
    worst: float
    basic: float
    advanced: float
    against: str


def figures_of(run: Run) -> tuple[Figure, ...]:
    """The figures of a run's closed rounds; none without a mechanism."""
    told = _told(run)
    if told is None:
        return ()
    rounds = told["round"]
    message = told["message"]
    return (
        Figure(
            "nominal, as papers tell it", told["nominal"], told["nominal_basic"], told["nominal_advanced"],
            f"{MODELS}; of one coordinate, if all noise were there",
        ),
        Figure("a coordinate", told["epsilon"], told["epsilon_basic"], told["epsilon_advanced"], MODELS),
        Figure("all coordinates", told["joint"], told["joint_basic"], told["joint_advanced"], MODELS),
        Figure("a message", message, message * rounds, message * rounds, MESSAGES),
    )  # fmt: skip


def remarks_of(run: Run) -> tuple[str, ...]:
    """What must be known beside the figures, a sentence each; none without a mechanism."""
    told = _told(run)
    if told is None:
        return ()
    basic, advanced = told["delta_basic"], told["delta_advanced"]
    found = [f"the sums hold but for a probability of {basic:g}, advanced composition but for {advanced:g}"]
    if told["short"]:
        found.append(
            f"noise shares were missing in {told['short']:,} of {told['round']:,} rounds: "
            f"{told['topped_up']:,} topped up, {told['discarded']:,} discarded"
        )
    if not told["equal_weights"]:
        found.append("clients have unequal weights in the mean, for which the ε of shares is an upper bound")
    return tuple(found)


def figure_rows(figures: tuple[Figure, ...]) -> list[dict[str, str]]:
    """The figures as a table's rows."""
    return [
        {
            "ε of": one.name,
            "worst round": _number(one.worst),
            "all rounds": _number(one.basic),
            "all, advanced": _number(one.advanced),
            "protects against": one.against,
        }
        for one in figures
    ]


def _told(run: Run) -> dict[str, Any] | None:
    (row,) = run.rows(sql_text("privacy"))
    return None if row["round"] is None else row


def _number(epsilon: float) -> str:
    return "no finite ε" if epsilon == inf else f"{epsilon:,.4g}"
