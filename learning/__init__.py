"""The mathematics: numbers in, numbers out.

The loops of a run are compiled once for each machine and kept on disk; `warm` does it ahead of time. numba is imported
inside the functions, because a command that only prints its help should not wait half a second for it.
"""

from numpy.typing import DTypeLike

__all__ = ["is_cold", "warm"]


def warm(dtype: DTypeLike = "float32", learner: str = "pdgd") -> None:
    """Compile, or load from disk, every loop of a run of that learner on features of this dtype.

    Processes forked later share them.
    """
    from learning.kernels import warming

    warming.warm(dtype, learner)


def is_cold(learner: str = "pdgd") -> bool:
    """Whether `warm` will have to compile, which takes some seconds, and not only to load."""
    from learning.kernels import warming

    return warming.is_cold(learner)
