"""Cascade users: click with P(click|r), after a click stop with P(stop|r).

Source: Wang et al., ICTIR 2023, Table 1 (CCM/SDBN instantiations). Binary labels take the lowest and the top grade of
the table for three.
"""

from functools import partial

from learning.clicks.model import ClickModel, probabilities
from learning.errors import LearningError

__all__ = ["CASCADES", "cascade", "standard"]

_Table = tuple[tuple[float, ...], tuple[float, ...]]

# name -> levels -> (P(click|r), P(stop|r)) for r = 0, 1, …
_TABLES: dict[str, dict[int, _Table]] = {
    "perfect": {
        3: ((0.0, 0.5, 1.0), (0.0, 0.0, 0.0)),
        5: ((0.0, 0.2, 0.4, 0.8, 1.0), (0.0, 0.0, 0.0, 0.0, 0.0)),
    },
    "navigational": {
        3: ((0.05, 0.5, 0.95), (0.2, 0.5, 0.9)),
        5: ((0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
    },
    "informational": {
        3: ((0.4, 0.7, 0.9), (0.1, 0.3, 0.5)),
        5: ((0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
    },
    "poison": {
        3: ((1.0, 0.5, 0.0), (0.0, 0.0, 0.0)),
        5: ((1.0, 0.8, 0.4, 0.2, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0)),
    },
}


def standard(name: str, levels: int) -> ClickModel:
    """The user of that name in the papers' table, for data of 2, 3 or 5 relevance grades."""
    if levels not in (2, 3, 5):
        raise LearningError(f"the click tables are for 2, 3 or 5 relevance grades; got {levels}")
    click, stop = _TABLES[name][5 if levels == 5 else 3]
    grades = (0, 2) if levels == 2 else range(levels)
    return ClickModel(click=tuple(click[r] for r in grades), stop=tuple(stop[r] for r in grades))


def cascade(levels: int, *, click: object, stop: object) -> ClickModel:
    """A cascade user with a table of one's own."""
    return ClickModel(click=probabilities("click", click, levels), stop=probabilities("stop", stop, levels))


CASCADES = {name: partial(standard, name) for name in _TABLES}
