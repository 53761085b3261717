"""Tiles of a symmetric matrix go to both of their places, whatever their size."""

import numpy as np
import pytest

from maxmargin.kernels import Gaussian, Linear
from maxmargin.kernels.vector.base import SIZES
from maxmargin.kernels.vector.strides import CACHE_LINE, place_tile, uneven_step


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 5, 64, 130])
def test_tiles_make_up_the_matrix(dtype, n):
    A = np.random.default_rng(n).normal(size=(n, n)).astype(dtype)
    A += A.T
    matrix = np.full((n, n), np.nan, dtype)
    for start in range(0, n, 50):
        part = A[start : start + 50, start:]
        rows, columns = part.shape
        step = uneven_step(columns, A.itemsize)
        tile = np.full(rows * step, np.nan, dtype)
        tile.reshape(rows, step)[:, :columns] = part
        place_tile(tile, step, rows, columns, matrix.reshape(-1), n, start)
    np.testing.assert_array_equal(matrix, A)


@pytest.mark.parametrize("itemsize", [4, 8])
def test_rows_of_a_tile_are_an_odd_number_of_cache_lines_apart(itemsize):
    for columns in (1, 7, 8, 63, 64, 512, 1000, 1024):
        step = uneven_step(columns, itemsize)
        lines, rest = divmod(step * itemsize, CACHE_LINE)
        assert columns <= step <= columns + 2 * CACHE_LINE // itemsize
        assert (lines % 2, rest) == (1, 0)


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Linear()])
@pytest.mark.parametrize("n", [3, SIZES.tile_rows, SIZES.tile_rows + 1, 3 * SIZES.tile_rows - 5])
@pytest.mark.parametrize("features", [2, 30])
def test_a_matrix_of_tiles_is_symmetric_and_holds_the_values_of_the_kernel(kernel, n, features):
    X = np.random.default_rng(n).normal(size=(n, features))
    matrix = kernel.bind(X).matrix()
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, kernel(X, X.copy()), rtol=1e-12, atol=1e-12)
