"""Every derivative is that of differences, for two sets and for one, dense and CSR."""

import numpy as np
import pytest
from kernels import naive_kernels as naive
from scipy import sparse

from maxmargin.kernels import Gaussian, Kernel, Linear, Normalised, Polynomial, Scaled, Sigmoid

RANDOM = np.random.default_rng(3)
A = RANDOM.normal(size=(7, naive.FEATURES))
B = RANDOM.normal(size=(9, naive.FEATURES)) + 0.3
W = RANDOM.normal(size=(7, 9))
SQUARE = RANDOM.normal(size=(7, 7))
each_kernel = pytest.mark.parametrize("name", naive.PAIRS)


def assert_close(found, expected, scale):
    assert found.dtype == np.float64
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * scale)


@each_kernel
def test_gradient_of_two_sets_is_that_of_differences(name):
    kernel, _ = naive.PAIRS[name]
    scale = 1.0 + np.abs(W * kernel(A, B)).sum()
    assert_close(kernel.gradient(A, B, W), naive.differences(kernel, A, B, W), scale)


@each_kernel
def test_gradient_of_one_set_is_that_of_differences(name):
    kernel, _ = naive.PAIRS[name]
    scale = 1.0 + np.abs(SQUARE * kernel(A)).sum()
    expected = naive.differences(kernel, A, None, SQUARE)
    assert_close(kernel.gradient(A, None, SQUARE), expected, scale)
    assert_close(kernel.gradient(A, A, SQUARE), expected, scale)


@each_kernel
def test_gradient_of_sparse_inputs_is_that_of_dense_ones(name):
    kernel, _ = naive.PAIRS[name]
    left = A * (RANDOM.random(A.shape) < 0.4) + 0.1 * np.eye(7, naive.FEATURES)
    scale = 1.0 + np.abs(W * kernel(left, B)).sum()
    found = kernel.gradient(sparse.csr_array(left), sparse.csr_array(B), W)
    assert_close(found, kernel.gradient(left, B, W), scale)


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(3, 0.4, 1.5),
        Sigmoid(0.2, -0.3),
        Gaussian(0.3),
        Gaussian(np.linspace(0.1, 1.0, 300)),
    ],
    ids=lambda kernel: f"{type(kernel).__name__}{len(kernel.parameter_names)}",
)
def test_gradient_by_compiled_sparse_products_is_that_of_dense_ones(kernel):
    left, right = np.zeros((7, 300)), np.zeros((9, 300))
    left[:, 10:16], right[:, 12:18] = A, B
    found = kernel.gradient(sparse.csr_array(left), sparse.csr_array(right), W)
    scale = 1.0 + np.abs(W * kernel(left, right)).sum()
    assert_close(found, kernel.gradient(left, right, W), scale)


@each_kernel
def test_gradient_of_float32_inputs_is_computed_in_float64(name):
    kernel, _ = naive.PAIRS[name]
    left, right = A.astype(np.float32), B.astype(np.float32)
    expected = kernel.gradient(left.astype(np.float64), right.astype(np.float64), W)
    found = kernel.gradient(left, right, W.astype(np.float64))
    assert_close(found, expected, 1e-3 * (1.0 + np.abs(expected).max(initial=0.0)))


@each_kernel
def test_gradient_of_the_diagonal_is_that_of_differences(name):
    kernel, _ = naive.PAIRS[name]
    w = SQUARE[0]
    scale = 1.0 + np.abs(w * kernel.diagonal(A)).sum()
    expected = naive.differences(kernel, A, None, np.diag(w))
    assert_close(kernel.diagonal_gradient(A, w), expected, scale)
    assert_close(Kernel.diagonal_gradient(kernel, A, w), expected, scale)


def test_gradient_of_the_diagonal_by_default_goes_through_all_batches():
    X, w = RANDOM.normal(size=(70, 3)), RANDOM.normal(size=70)
    kernel = Polynomial(2, 0.5, 1.0)
    expected = kernel.diagonal_gradient(X, w)
    np.testing.assert_allclose(Kernel.diagonal_gradient(kernel, X, w), expected, rtol=1e-12)


def test_gradient_with_polynomial_of_degree_zero_vanishes():
    np.testing.assert_array_equal(Polynomial(0, 0.5, 1.0).gradient(A, B, W), [0.0, 0.0])


def test_gradient_of_normalised_ignores_the_zero_of_feature_space():
    kernel = Normalised(Scaled(Linear(), 2.0) + Polynomial(2, 0.5, 0.0))
    X = np.vstack([A, np.zeros(naive.FEATURES)])
    padded = np.pad(SQUARE, (0, 1), constant_values=5.0)
    expected = kernel.gradient(A, None, SQUARE)
    np.testing.assert_allclose(kernel.gradient(X, None, padded), expected, rtol=1e-12)


@each_kernel
def test_weights_of_the_wrong_shape_are_refused(name):
    kernel, _ = naive.PAIRS[name]
    with pytest.raises(ValueError, match=r"W must have shape \(7, 9\).* got \(9, 7\)"):
        kernel.gradient(A, B, W.T)
