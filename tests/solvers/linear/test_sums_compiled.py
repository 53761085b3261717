"""Compiled sums over dense rows equal products of matrices."""

import numpy as np
import pytest

from maxmargin.solvers.linear.sums.compiled import outputs, weigh


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=[np.float32, np.float64])
def X(request, rng):
    return rng.normal(size=(50, 7)).astype(request.param)


def test_outputs_are_products_in_float64(X, rng):
    w, z = rng.normal(size=7), np.empty(50)
    outputs(X, w, 0.25, z)
    np.testing.assert_allclose(z, X.astype(np.float64) @ w + 0.25, rtol=0, atol=1e-14)


def test_sums_are_added_and_weighted_rows_listed(X, rng):
    beta, h = rng.normal(size=50), rng.uniform(0.5, 3.0, size=50)
    beta[::3] = h[::4] = 0.0
    combined, border = np.ones(7), np.full(7, 2.0)
    weighted = np.full((50, 7), np.nan, X.dtype)
    count = weigh(X, beta, h, 3.0, combined, border, weighted)
    exact = X.astype(np.float64)
    np.testing.assert_allclose(combined, 1.0 + beta @ exact, rtol=0, atol=1e-13)
    np.testing.assert_allclose(border, 2.0 + h @ exact, rtol=0, atol=1e-13)
    free = h > 0
    assert count == free.sum()
    rounding = 4 * np.finfo(X.dtype).eps
    expected = np.sqrt(h[free] / 3.0)[:, None] * exact[free]
    np.testing.assert_allclose(weighted[:count], expected, rtol=rounding)
    assert np.isnan(weighted[count:]).all()


def test_read_only_inputs_are_accepted(X):
    X.flags.writeable = False
    z = np.empty(50)
    outputs(X, np.ones(7), 0.0, z)
    assert np.isfinite(z).all()
