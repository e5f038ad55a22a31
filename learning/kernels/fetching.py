"""Asking for memory before it is needed."""

from learning.data.dataset import Features
from learning.kernels.compiling import compiled
from learning.kernels.lanes import fetch_line

__all__ = ["fetch"]

_LINE = 64  # bytes of a cache line


@compiled
def fetch(rows: Features, first: int, last: int) -> None:
    """Ask for rows[first … last − 1] of a matrix, which will be read soon, while something else is computed."""
    flat = rows.reshape(rows.size)
    for element in range(first * rows.shape[1], last * rows.shape[1], _LINE // rows.itemsize):
        fetch_line(flat, element)
