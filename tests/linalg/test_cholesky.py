"""Factors and triangular solves in several threads are those of LAPACK in one."""

import numpy as np
import pytest
from scipy.linalg import cholesky as one_thread
from scipy.linalg import solve_triangular

from maxmargin.linalg import cholesky as triangles
from maxmargin.linalg.cholesky import LEAF, cholesky, triangular
from maxmargin.runtime.parallel import single_threaded_blas

FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture
def threads(monkeypatch):
    monkeypatch.setattr("maxmargin.runtime.parallel.WORTH_A_THREAD", 2)
    monkeypatch.setattr(triangles, "FEWEST_ROWS", 2)
    monkeypatch.setattr(triangles, "SOLVED_PART", 2)
    with single_threaded_blas(own=2):
        yield monkeypatch


def positive(n, dtype):
    B = np.random.default_rng(n).normal(size=(n, n))
    return np.asfortranarray(B @ B.T / n + np.eye(n), dtype=dtype)


@FLOATS
@pytest.mark.parametrize("leaf", [8, 64, LEAF])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 130, 401])
def test_a_factor_in_threads_is_that_of_lapack(threads, dtype, leaf, n):
    threads.setattr(triangles, "LEAF", leaf)
    threads.setattr(triangles, "ROUND", 8)
    A = positive(n, dtype)
    expected = one_thread(A, lower=True)
    assert cholesky(A)
    assert not np.triu(A, 1).any()
    np.testing.assert_allclose(A, expected, atol=100 * np.finfo(dtype).eps)


@FLOATS
@pytest.mark.usefixtures("threads")
def test_only_the_lower_triangle_counts(dtype):
    A = positive(900, dtype)
    expected = one_thread(A, lower=True)
    A[np.triu_indices(900, 1)] = np.nan
    assert cholesky(A)
    np.testing.assert_allclose(A, expected, atol=100 * np.finfo(dtype).eps)


@FLOATS
@pytest.mark.parametrize("place", [0, 300, 500, 899])
@pytest.mark.usefixtures("threads")
def test_what_is_not_positive_has_no_factor(dtype, place):
    A = positive(900, dtype)
    A[place, place] = -1.0
    assert not cholesky(A)


@FLOATS
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("shape", [(90,), (90, 1), (90, 7), (90, 8), (90, 33), (90, 0)])
@pytest.mark.usefixtures("threads")
def test_triangular_systems_are_solved(dtype, transposed, shape):
    L = np.asfortranarray(np.tril(np.random.default_rng(0).normal(size=(90, 90)) / 9), dtype=dtype)
    L += np.eye(90, dtype=dtype)
    b = np.random.default_rng(1).normal(size=shape).astype(dtype)
    given = b.copy()
    x = triangular(L, b, transposed)
    expected = solve_triangular(L.astype(float), b, lower=True, trans=int(transposed))
    np.testing.assert_allclose(x, expected, rtol=0, atol=2e4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(b, given)
