"""Gaussian blocks of few features are what a loop over pairs says, and exact where they can be."""

import numpy as np
import pytest

from maxmargin.kernels import Gaussian
from maxmargin.kernels.vector.gaussian_blocks import STRIPE, gaussian_block
from maxmargin.runtime.costs import DIRECT_FEATURES, WORTH_A_THREAD
from maxmargin.runtime.parallel import single_threaded_blas

FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def table(points):
    """Rows (φ, o, 1) of an embedding."""
    norms = np.vecdot(points, points)
    return np.column_stack([points, -0.5 * norms, np.ones(len(points))]).astype(points.dtype)


def naive(A, B):
    difference = A.astype(np.float64)[:, None] - B.astype(np.float64)
    return np.exp(-0.5 * np.square(difference).sum(axis=-1))


@FLOATS
@pytest.mark.parametrize("features", range(1, DIRECT_FEATURES + 1))
@pytest.mark.parametrize("rows", [1, 2, 11])
@pytest.mark.parametrize("columns", [1, 5, STRIPE, STRIPE + 9])
def test_blocks_are_those_of_a_loop(dtype, features, rows, columns):
    rng = np.random.default_rng(features)
    A, B = (rng.normal(size=(n, features)).astype(dtype) for n in (rows, columns))
    buffer = np.full((rows, columns + 4), np.nan, dtype)
    assert gaussian_block(table(A), table(B), buffer[:, 2 : columns + 2])
    expected = naive(A, B)
    # An exponent that is large has a large rounding error.
    error = np.abs(buffer[:, 2 : columns + 2] - expected) / (expected * (1.0 - np.log(expected)))
    assert error.max() < 4 * np.finfo(dtype).eps
    assert np.isnan(buffer[:, :2]).all()
    assert np.isnan(buffer[:, columns + 2 :]).all()


@FLOATS
def test_what_suits_gemm_better_is_left_to_it(dtype):
    def taken(features, out_dtype=dtype):
        A = table(np.ones((9, features), dtype))
        return gaussian_block(A, A, np.empty((9, 9), out_dtype))

    assert taken(DIRECT_FEATURES)
    assert not taken(DIRECT_FEATURES + 1)
    assert not taken(2, np.float32 if dtype == np.float64 else np.float64)


@FLOATS
def test_threads_change_nothing(dtype, monkeypatch):
    X = np.random.default_rng(0).normal(size=(401, 3)).astype(dtype)
    alone = np.empty((401, 401), dtype)
    gaussian_block(table(X), table(X), alone)
    assert alone.size < WORTH_A_THREAD
    monkeypatch.setattr("maxmargin.runtime.parallel.WORTH_A_THREAD", 2)
    shared = np.empty((401, 401), dtype)
    with single_threaded_blas(own=3):
        gaussian_block(table(X), table(X), shared)
    np.testing.assert_array_equal(shared, alone)


@FLOATS
def test_matrices_are_symmetric_and_copies_equal_to_the_last_bit(dtype):
    X = np.random.default_rng(1).normal(size=(50, 4)).astype(dtype) + 100.0
    X = np.repeat(X, 2, axis=0)
    K = Gaussian(0.3).bind(X, dtype).rows(np.arange(100))
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K[::2], K[1::2])
    assert (K[::2, 1::2].diagonal() == 1.0).all()


@FLOATS
def test_values_do_not_depend_on_the_batch_they_come_in(dtype):
    X = np.random.default_rng(2).normal(size=(3 * STRIPE + 5, 5)).astype(dtype)
    gram = Gaussian(0.2).bind(X, dtype)
    K = gram.matrix()
    for rows, columns in (([7], np.arange(40, 61)), (np.arange(100, 131), np.array([3, 700, 2]))):
        np.testing.assert_array_equal(gram.rows(np.array(rows), columns), K[np.ix_(rows, columns)])
    swapped = np.empty((20, 4), dtype).T
    gram.rows(np.arange(4), np.arange(20), swapped)
    np.testing.assert_array_equal(swapped, K[:4, :20])
