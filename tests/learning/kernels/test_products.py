"""Products whose cells have the same bits in any block."""

import numpy as np
import pytest

from learning.kernels.products import dot_rows, multiply

LENGTHS = [1, 2, 7, 8, 9, 15, 16, 46, 136]


def matrix_of(rows, columns, dtype=np.float64):
    """Some numbers."""
    return np.random.default_rng(rows).normal(size=(rows, columns)).astype(dtype)


@pytest.mark.parametrize("length", LENGTHS)
def test_whole_numbers_are_added_up_exactly(length):
    """Every element counts once, whatever the length and the number of rows; nothing behind the end is written."""
    rows = np.arange(7.0 * length).reshape(7, length)
    vector = np.arange(1.0, length + 1)
    out = np.full(8, -1.0)
    dot_rows(rows, vector, out)
    assert out.tolist() == [*(rows @ vector).tolist(), -1.0]
    cells = np.zeros((7, length))
    square = np.arange(float(length * length)).reshape(length, length)
    multiply(rows, square, cells)
    assert cells.tolist() == (rows @ square).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_rows_bits_do_not_depend_on_its_neighbours(dtype):
    """A row gives the same dot product alone, among others, and wherever it starts in memory."""
    rows, vector = matrix_of(11, 46, dtype), np.random.default_rng(1).normal(size=46)
    whole = np.empty(11)
    dot_rows(rows, vector, whole)
    np.testing.assert_allclose(whole, rows.astype(float) @ vector, rtol=1e-13)
    moved = np.empty(rows.size + 1, dtype)[1:].reshape(rows.shape)
    moved[:] = rows
    for first, last in ((0, 1), (3, 8), (10, 11)):
        part = np.empty(last - first)
        dot_rows(moved[first:last], vector, part)
        assert part.tobytes() == whole[first:last].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cells_bits_do_not_depend_on_the_block(dtype):
    """A cell of a product is the chain of fused products along its row and column, in any block."""
    rows, matrix = matrix_of(13, 11, dtype), matrix_of(11, 70)
    whole = np.zeros((13, 70))
    multiply(rows, matrix, whole)
    np.testing.assert_allclose(whole, rows.astype(float) @ matrix, rtol=1e-12, atol=1e-12)
    for first, last in ((0, 1), (3, 20), (64, 70)):
        part = np.zeros((6, last - first))
        multiply(rows[5:11], np.ascontiguousarray(matrix[:, first:last]), part)
        assert part.tobytes() == whole[5:11, first:last].tobytes()


def test_a_product_is_added_to_what_is_there():
    """The biases of a layer are what `multiply` starts from."""
    out = np.ones((5, 3))
    multiply(np.full((5, 2), 2.0), np.full((2, 3), 3.0), out)
    assert out.tolist() == [[13.0] * 3] * 5
