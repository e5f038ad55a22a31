"""Which rounds made a model."""

from collections.abc import Iterable

__all__ = ["lineage"]


def lineage(last: int, restarts: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """The rounds whose updates are in model `last`, in order.

    A restart (first, origin) is a round in which the model went back: what came after round `origin` is forgotten, and
    the rounds after `first` follow.
    """
    rounds: list[int] = []
    done = 0
    for first, origin in sorted(restarts):
        if first > last:
            break
        rounds += range(done + 1, first)
        rounds = [one for one in rounds if one <= origin]
        done = first
    return (*rounds, *range(done + 1, last + 1))
