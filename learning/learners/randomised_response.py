"""Randomised response: what a client says of a number that can take n values (Kharitonov, WSDM 2019; thesis §3.1.1).

The true value is said with probability p, else one of the other n − 1, each with the same probability. No answer is
then more than e^ε times as likely for one truth as for another:

    ε = ln(p·(n − 1)/(1 − p)) for one answer
"""

import math

from learning.errors import LearningError
from learning.kernels.arrays import Words
from learning.kernels.compiling import compiled
from learning.kernels.philox import uniform

__all__ = ["answer", "epsilon"]


def epsilon(p: float, values: int) -> float:
    """The local ε of one answer out of so many values; infinite if it is always true."""
    if values < 2 or not 1.0 / values < p <= 1.0:
        raise LearningError(f"p must be above 1/{values}, where an answer says nothing, and at most 1; got {p}")
    return math.inf if p == 1.0 else math.log(p * (values - 1) / (1.0 - p))


@compiled
def answer(generator: Words, truth: int, values: int, p: float) -> int:
    """What is said, 0 … values − 1, when the truth is one of these.

    Draws: one number, the truth is told if it is below p; else one more for which of the others, ⌊u·(values − 1)⌋.
    """
    if uniform(generator) < p:
        return truth
    other = int(uniform(generator) * (values - 1))
    return other + 1 if other >= truth else other
