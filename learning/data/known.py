"""The public data sets this laboratory knows by their shape, and what their shape implies."""

from dataclasses import dataclass

from learning.errors import DataError

__all__ = ["KNOWN", "KnownSet", "levels_of", "recognise"]

TOLERANCE = 0.25  # of the number of queries: releases differ a little, and validation queries may be missing


@dataclass(frozen=True, slots=True)
class KnownSet:
    """What tells a public data set from others, and whether its features want per-query scaling."""

    name: str
    features: range
    top_label: int
    queries: int
    scaled: bool


KNOWN = (
    KnownSet("MQ2007", range(46, 47), 2, 1_692, scaled=False),
    KnownSet("MQ2008", range(46, 47), 2, 784, scaled=False),
    KnownSet("MSLR-WEB10K", range(136, 137), 4, 10_000, scaled=True),
    KnownSet("MSLR-WEB30K", range(136, 137), 4, 31_531, scaled=True),
    KnownSet("Yahoo C14B set 1", range(699, 701), 4, 29_921, scaled=False),  # the last feature is rarely given
    KnownSet("Istella-S", range(220, 221), 4, 33_018, scaled=True),
)


def recognise(features: int, top_label: int, queries: int) -> KnownSet | None:
    """The known set of this shape, if there is one; queries are those of all splits."""
    for known in KNOWN:
        close = abs(queries - known.queries) <= TOLERANCE * known.queries
        if features in known.features and top_label == known.top_label and close:
            return known
    return None


def levels_of(top_label: int, where: object) -> int:
    """How many relevance grades data with this largest label has: 2, 3 or 5, as the click tables do."""
    for levels in (2, 3, 5):
        if top_label < levels:
            return levels
    raise DataError(f"{where}: the largest label must be at most 4, as in the click tables, got {top_label}")
