"""Products of a matrix of features with a vector and with a matrix, each cell with bits that depend on its row alone.

Rows are taken four at a time so that what they share is read once; a row gives the same bits alone.
"""

from learning.data.dataset import Features
from learning.kernels.arrays import Reals
from learning.kernels.compiling import compiled
from learning.kernels.lanes import LANES, add_product, load, load_first, spread, store_first, total

__all__ = ["dot_rows", "multiply"]


@compiled
def dot_rows(rows: Features, vector: Reals, out: Reals) -> None:
    """Set out[i] = rows[i]·vector: rows [n, f], vector [f], out [≥ n].

    Eight interleaved sums of fused products, the elements j, j + 8, j + 16, … in one, are added up by `total`.
    """
    count, length = rows.shape
    flat = rows.reshape(count * length)
    whole = length // LANES * LANES
    rest = length - whole
    fours = count // 4 * 4
    for row in range(0, fours, 4):
        r0 = row * length
        r1, r2, r3 = r0 + length, r0 + 2 * length, r0 + 3 * length
        s0 = s1 = s2 = s3 = spread(0.0)
        for j in range(0, whole, LANES):
            y = load(vector, j)
            s0 = add_product(load(flat, r0 + j), y, s0)
            s1 = add_product(load(flat, r1 + j), y, s1)
            s2 = add_product(load(flat, r2 + j), y, s2)
            s3 = add_product(load(flat, r3 + j), y, s3)
        y = load_first(vector, whole, rest)
        out[row] = total(add_product(load_first(flat, r0 + whole, rest), y, s0))
        out[row + 1] = total(add_product(load_first(flat, r1 + whole, rest), y, s1))
        out[row + 2] = total(add_product(load_first(flat, r2 + whole, rest), y, s2))
        out[row + 3] = total(add_product(load_first(flat, r3 + whole, rest), y, s3))
    for row in range(fours, count):
        r0 = row * length
        s0 = spread(0.0)
        for j in range(0, whole, LANES):
            s0 = add_product(load(flat, r0 + j), load(vector, j), s0)
        y = load_first(vector, whole, rest)
        out[row] = total(add_product(load_first(flat, r0 + whole, rest), y, s0))


@compiled
def multiply(rows: Features, matrix: Reals, out: Reals) -> None:
    """Add rows·matrix to out: rows [n, f], matrix [f, w], out [≥ n, w].

    Each cell is out = fma(row[j], matrix[j], out) for j = 0, 1, … in turn.
    """
    count, width = rows.shape[0], matrix.shape[1]
    fours = count // 4 * 4
    for column in range(0, width, 2 * LANES):
        for row in range(0, fours, 4):
            _multiply_four(rows, row, matrix, column, out)
        for row in range(fours, count):
            _multiply_one(rows, row, matrix, column, out)


@compiled
def _multiply_four(rows: Features, row: int, matrix: Reals, column: int, out: Reals) -> None:
    """Four rows by sixteen columns, or by as many as there are."""
    length, width = matrix.shape
    flat, cells = matrix.reshape(length * width), out.reshape(out.size)
    left, right = min(LANES, width - column), min(LANES, width - column - LANES)
    c0 = row * width + column
    c1, c2, c3 = c0 + width, c0 + 2 * width, c0 + 3 * width
    a0, b0 = load_first(cells, c0, left), load_first(cells, c0 + LANES, right)
    a1, b1 = load_first(cells, c1, left), load_first(cells, c1 + LANES, right)
    a2, b2 = load_first(cells, c2, left), load_first(cells, c2 + LANES, right)
    a3, b3 = load_first(cells, c3, left), load_first(cells, c3 + LANES, right)
    for j in range(length):
        a, b = load_first(flat, j * width + column, left), load_first(flat, j * width + column + LANES, right)
        x = spread(rows[row, j])
        a0, b0 = add_product(x, a, a0), add_product(x, b, b0)
        x = spread(rows[row + 1, j])
        a1, b1 = add_product(x, a, a1), add_product(x, b, b1)
        x = spread(rows[row + 2, j])
        a2, b2 = add_product(x, a, a2), add_product(x, b, b2)
        x = spread(rows[row + 3, j])
        a3, b3 = add_product(x, a, a3), add_product(x, b, b3)
    store_first(cells, c0, left, a0)
    store_first(cells, c0 + LANES, right, b0)
    store_first(cells, c1, left, a1)
    store_first(cells, c1 + LANES, right, b1)
    store_first(cells, c2, left, a2)
    store_first(cells, c2 + LANES, right, b2)
    store_first(cells, c3, left, a3)
    store_first(cells, c3 + LANES, right, b3)


@compiled
def _multiply_one(rows: Features, row: int, matrix: Reals, column: int, out: Reals) -> None:
    """One row by sixteen columns, or by as many as there are."""
    length, width = matrix.shape
    flat, cells = matrix.reshape(length * width), out.reshape(out.size)
    left, right = min(LANES, width - column), min(LANES, width - column - LANES)
    cell = row * width + column
    a0, b0 = load_first(cells, cell, left), load_first(cells, cell + LANES, right)
    for j in range(length):
        x = spread(rows[row, j])
        a0 = add_product(x, load_first(flat, j * width + column, left), a0)
        b0 = add_product(x, load_first(flat, j * width + column + LANES, right), b0)
    store_first(cells, cell, left, a0)
    store_first(cells, cell + LANES, right, b0)
