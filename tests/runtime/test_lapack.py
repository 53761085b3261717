"""LAPACK's factor from compiled code is the one that NumPy gives."""

import numpy as np
import pytest
from faces import positive

from maxmargin.runtime.jit import from_python
from maxmargin.runtime.lapack import POTRF, _factor_by_scipy
from maxmargin.runtime.lapack import lapack_factor as compiled_factor


@pytest.fixture(params=[from_python(compiled_factor), _factor_by_scipy], ids=["LAPACK", "SciPy"])
def lapack_factor(request):
    """The factor of compiled code, and the one in its place without compilation."""
    return request.param


@pytest.mark.parametrize("size", [1, 2, 65, 300])
def test_the_factor_is_that_of_numpy(lapack_factor, size):
    Q = positive(np.random.default_rng(size), size)
    R = Q.copy()
    assert lapack_factor(POTRF, R)
    np.testing.assert_allclose(np.triu(R), np.linalg.cholesky(Q).T, rtol=1e-10, atol=1e-12)


def test_what_lies_left_of_the_diagonal_is_neither_read_nor_written(lapack_factor):
    Q = positive(np.random.default_rng(0), 20)
    R = np.triu(Q) + np.tril(np.full((20, 20), np.nan), -1)
    assert lapack_factor(POTRF, R)
    assert np.isnan(R[np.tril_indices(20, -1)]).all()
    np.testing.assert_allclose(np.triu(R), np.linalg.cholesky(Q).T, rtol=1e-10)


def test_an_indefinite_matrix_has_none(lapack_factor):
    assert not lapack_factor(POTRF, np.array([[1.0, 2.0], [2.0, 1.0]]))
