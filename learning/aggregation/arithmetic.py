"""Sums over rows and over clients in a fixed order, for the rules: the bits depend on the numbers alone."""

import numpy as np

from learning.aggregation.fedavg import weighted_sum
from learning.errors import LearningError
from learning.kernels.arrays import Integers, Reals, read_only
from learning.kernels.compiling import compiled
from learning.kernels.lanes import LANES, add_product, load, load_first, spread, total

__all__ = ["check_majority", "distances", "lengths", "mean", "nearest", "row_products"]


def mean(rows: Reals) -> Reals:
    """The unweighted mean [d] of the rows [n, d]."""
    return weighted_sum(rows, np.ones(len(rows))) / len(rows)


def row_products(rows: Reals, others: Reals) -> Reals:
    """rows[i]·others[i] for every i; with one vector [d] in the place of `others`, rows[i]·others."""
    out = np.empty(len(rows))
    _row_products(read_only(rows), read_only(np.atleast_2d(others)), out)
    return out


def lengths(rows: Reals) -> Reals:
    """The Euclidean norm of each row."""
    return np.sqrt(row_products(rows, rows))


def distances(rows: Reals) -> Reals:
    """The Euclidean distances [n, n] between the rows [n, d]."""
    out = np.zeros((len(rows), len(rows)))
    _fill_distances(read_only(rows), out)
    return out


def nearest(apart: Reals, count: int) -> Integers:
    """The `count` clients nearest to each, itself first: int64[n, count]; of equally near ones the first clients."""
    ranked = apart.copy()
    np.fill_diagonal(ranked, -1.0)
    return np.argsort(ranked, axis=1, kind="stable")[:, :count]


def check_majority(rule: str, clients: int, tolerate: int) -> None:
    """Refuse n clients with m to tolerate unless n > 2m."""
    if clients <= 2 * tolerate:
        raise LearningError(f"{rule} needs n > 2m, a majority of honest clients; got n = {clients}, m = {tolerate}")


@compiled
def _row_products(rows: Reals, others: Reals, out: Reals) -> None:
    """Eight interleaved sums of fused products a row, as in `learning.kernels.products`."""
    count, length = rows.shape
    flat, other = rows.reshape(count * length), others.reshape(others.size)
    whole = length // LANES * LANES
    rest = length - whole
    step = length if len(others) > 1 else 0
    for row in range(count):
        at, to = row * length, row * step
        s = spread(0.0)
        for j in range(0, whole, LANES):
            s = add_product(load(flat, at + j), load(other, to + j), s)
        s = add_product(load_first(flat, at + whole, rest), load_first(other, to + whole, rest), s)
        out[row] = total(s)


@compiled
def _fill_distances(rows: Reals, out: Reals) -> None:
    for i in range(len(rows)):
        for j in range(i):
            square = 0.0
            for k in range(rows.shape[1]):
                square += (rows[i, k] - rows[j, k]) * (rows[i, k] - rows[j, k])
            out[i, j] = out[j, i] = square**0.5
