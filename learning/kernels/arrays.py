"""The names of the arrays that loops take."""

from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bits", "Integers", "Labels", "Reals", "Words", "read_only"]

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Labels = NDArray[np.int8]
Bits = NDArray[np.bool_]

Array = TypeVar("Array", bound=NDArray[np.generic])


def read_only(array: Array) -> Array:
    """The array as one compiled loop takes it, wherever it comes from: contiguous, aligned, not to be written to."""
    view = np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"]).view(np.ndarray)
    view.flags.writeable = False
    return cast("Array", view)
