"""Features that are the same in all samples are left out of products, and still count in norms."""

import naive
import numpy as np
import pytest

from maxmargin.kernels import Gaussian, Linear, Polynomial

WIDE = 80
KERNELS = {
    "linear": (Linear(), naive.linear),
    "polynomial": (Polynomial(2, 0.1, 1.0), naive.polynomial(0.1, 1.0, 2)),
    "gaussian": (Gaussian(0.02), naive.gaussian(0.02)),
}
each_kernel = pytest.mark.parametrize("name", KERNELS)


def samples(n, seed):
    return np.random.default_rng(seed).normal(size=(n, WIDE))


def with_constants(n, seed):
    """Zeros in features 5 to 19, and 0.3, whose mean is no longer 0.3, in 30 to 39."""
    X = samples(n, seed)
    X[:, 5:20], X[:, 30:40] = 0.0, 0.3
    return X


@each_kernel
def test_new_inputs_that_differ_in_these_features_are_told_apart(name):
    kernel, function = KERNELS[name]
    A, B = samples(6, 0), with_constants(9, 1)
    expected = naive.gram(function, A, B)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(B, A), expected.T, rtol=1e-12)
    block = np.empty((6, 9))
    kernel.facing(B, np.float64)(A, block)
    np.testing.assert_allclose(block, expected, rtol=1e-12)


@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_matrix_of_all_samples_is_right(name, dtype):
    kernel, function = KERNELS[name]
    X = with_constants(40, 2).astype(dtype)
    expected = naive.gram(function, X.astype(np.float64))
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(kernel(X), expected, rtol=tolerance, atol=tolerance)
    rows = kernel.bind(X).rows(np.array([3, 11]), np.arange(20))
    np.testing.assert_allclose(rows, expected[[3, 11], :20], rtol=tolerance, atol=tolerance)


@each_kernel
def test_products_are_as_narrow_as_they_can_be(name):
    kernel, _ = KERNELS[name]
    left_out = 25 if name == "gaussian" else 15
    assert kernel.bind(with_constants(40, 2)).points.features == WIDE - left_out
    assert kernel.bind(samples(40, 2)).points.features == WIDE


def test_a_metric_that_ignores_features_is_unchanged():
    gammas = np.where(np.arange(WIDE) < 40, 0.0, 0.05)
    A, B = samples(6, 0), with_constants(9, 1)
    expected = np.exp(-((A[:, None] - B) ** 2 @ gammas))
    np.testing.assert_allclose(Gaussian(gammas)(A, B), expected, rtol=1e-12)
