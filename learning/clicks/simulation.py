"""A user's clicks on one list, in compiled code."""

from learning.kernels.arrays import Bits, Integers, Labels, Reals, Words
from learning.kernels.compiling import compiled
from learning.kernels.philox import uniform

__all__ = ["click_list"]


@compiled
def click_list(
    generator: Words, labels: Labels, shown: Integers, click: Reals, stop: Reals, examination: Reals, clicked: Bits
) -> int:
    """Fill `clicked` for the list `shown`; the rank of the last click, 0 if there is none.

    labels int8[documents of the query], shown int64[k] rows of it from the top, click and stop float64[levels],
    examination float64[≥ k] = (1/i)^eta, clicked bool[k].
    Draws: from the top, one number for each rank that is looked at (a click if it is below click·examination) and after
    a click one more (the user goes away if it is below stop).
    """
    last = 0
    ranks = len(shown)
    for rank in range(ranks):
        clicked[rank] = False
    for rank in range(ranks):
        grade = labels[shown[rank]]
        if uniform(generator) < click[grade] * examination[rank]:
            clicked[rank] = True
            last = rank + 1
            if uniform(generator) < stop[grade]:
                break
    return last
