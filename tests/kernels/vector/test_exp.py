"""exp of what is not positive, in place: exact to the last bit or two, of any block."""

import numpy as np
import pytest

from maxmargin.kernels.vector.exp import DOUBLE, SINGLE, exponential

FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@FLOATS
def test_values_are_those_of_numpy_to_two_units_in_the_last_place(dtype):
    lowest = float((SINGLE if dtype == np.float32 else DOUBLE).lowest)
    x = np.linspace(lowest, 0.0, 200_003).astype(dtype)[1:].reshape(2, -1)
    expected = np.exp(x.astype(np.longdouble))
    exponential(x)
    error = np.abs(x - expected) / expected
    assert error.max() < 2 * np.finfo(dtype).eps


@FLOATS
def test_what_is_positive_by_rounding_counts_as_zero(dtype):
    x = np.array([[0.0, 1e-9, 3.0, -0.0]], dtype=dtype)
    exponential(x)
    assert (x == 1.0).all()


@FLOATS
def test_what_is_too_small_is_nothing_and_what_is_no_number_stays_none(dtype):
    x = np.array([[-800.0, -np.inf, np.nan, -1e30]], dtype=dtype)
    exponential(x)
    np.testing.assert_array_equal(x, [[0.0, 0.0, np.nan, 0.0]])


@FLOATS
@pytest.mark.parametrize("cut", [np.s_[:, :7], np.s_[1:, 2:], np.s_[::2, :], np.s_[:, ::-1]])
def test_blocks_of_a_matrix_change_alone(dtype, cut):
    matrix = -np.random.default_rng(0).random((6, 11)).astype(dtype)
    expected = matrix.copy()
    expected[cut] = np.exp(matrix[cut].astype(np.float64))
    exponential(matrix[cut])
    np.testing.assert_allclose(matrix, expected, rtol=4 * np.finfo(dtype).eps)


def test_an_empty_block_is_left_alone():
    exponential(np.zeros((0, 3)))
