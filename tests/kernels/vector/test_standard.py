"""Kernels of vectors and their compositions are what double loops say, in every format."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from kernels import naive_kernels as naive
from scipy import sparse

from maxmargin.kernels import Gaussian, Linear, Polynomial, Sigmoid
from maxmargin.kernels.vector.embedding import dense_is_faster

RANDOM = np.random.default_rng(7)
A = RANDOM.normal(size=(5, naive.FEATURES))
B = RANDOM.normal(size=(8, naive.FEATURES)) + 0.5
each_kernel = pytest.mark.parametrize("name", naive.PAIRS)
of_vectors = pytest.mark.parametrize("name", ["polynomial", "sigmoid", "radial", "diagonal"])


def sparse_samples(n, features=naive.FEATURES, share=0.3, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, features)) * (random.random((n, features)) < share)


@each_kernel
def test_block_equals_the_double_loop(name):
    kernel, function = naive.PAIRS[name]
    expected = naive.block(function, A, B)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-13, atol=1e-14)


@each_kernel
def test_block_of_one_set_equals_the_double_loop_and_is_symmetric(name):
    kernel, function = naive.PAIRS[name]
    for K in (kernel(A), kernel(A, A)):
        np.testing.assert_allclose(K, naive.block(function, A, A), rtol=1e-13, atol=1e-14)
        np.testing.assert_array_equal(K, K.T)


@each_kernel
def test_diagonal_equals_the_loop(name):
    kernel, function = naive.PAIRS[name]
    found = kernel.diagonal(A.astype(np.float32))
    assert found.dtype == np.float64
    expected = [function(x, x) for x in A.astype(np.float32).astype(np.float64)]
    tolerance = 1e-6 if name == "function" else 1e-13
    np.testing.assert_allclose(found, expected, rtol=tolerance)


@each_kernel
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_inputs_give_the_block_of_dense_ones(name, form):
    kernel, _ = naive.PAIRS[name]
    left, right = sparse_samples(70, seed=1) + np.eye(1, naive.FEATURES), sparse_samples(40, seed=2)
    right[:, 1] += 1.0
    expected = kernel(left, right)
    np.testing.assert_allclose(kernel(form(left), form(right)), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("rows", [1, 17, 70])
@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(3, 0.5, 1.0), Sigmoid(0.3, 0.1), Gaussian(0.3)], ids=repr
)
def test_compiled_sparse_product_equals_the_dense_one(kernel, rows, index, dtype):
    left = sparse_samples(rows, 200, 0.02, seed=3).astype(dtype)
    right = sparse_samples(90, 200, 0.02, seed=4).astype(dtype)
    X, Z = sparse.csr_array(left), sparse.csr_array(right)
    for matrix in (X, Z):
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    assert not dense_is_faster(Z)
    found = kernel(X, Z)
    assert found.dtype == dtype
    expected = kernel(left.astype(np.float64), right.astype(np.float64))
    allowed = kernel.bind(sparse.vstack([X, Z])).rounding
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed)


@of_vectors
def test_dense_and_sparse_inputs_may_meet(name):
    kernel, _ = naive.PAIRS[name]
    left, right = sparse_samples(9, share=0.05), sparse_samples(11, share=0.05, seed=1)
    expected = kernel(left, right)
    for pair in ((sparse.csr_array(left), right), (left, sparse.csr_array(right))):
        np.testing.assert_allclose(kernel(*pair), expected, rtol=1e-13, atol=1e-14)


def test_gaussian_of_a_metric_on_sparse_inputs_weighs_each_feature():
    gammas = np.linspace(0.1, 2.0, 200)
    left, right = sparse_samples(9, 200, 0.02), sparse_samples(11, 200, 0.02, seed=1)
    found = Gaussian(gammas)(sparse.csr_array(left), sparse.csr_array(right))
    np.testing.assert_allclose(found, Gaussian(gammas)(left, right), rtol=1e-13)


def test_repeated_and_unsorted_entries_of_a_sparse_matrix_add_up():
    data, indices = np.array([1.0, 2.0, 3.0]), np.array([50, 7, 50])
    X = sparse.csr_array((data, indices, np.array([0, 3, 3])), shape=(2, 100))
    np.testing.assert_allclose(Linear()(X, X.copy()), [[20.0, 0.0], [0.0, 0.0]])
    assert not X.has_canonical_format


@pytest.mark.parametrize("name", [name for name in naive.PAIRS if name != "function"])
def test_float32_stays_and_other_numbers_become_float64(name):
    kernel, _ = naive.PAIRS[name]
    integers = np.round(A).astype(np.int8)
    single = A.astype(np.float32)
    assert kernel(single, B.astype(np.float32)).dtype == np.float32
    assert kernel(single).dtype == np.float32
    assert kernel(single, B).dtype == np.float64
    assert kernel(integers, B.astype(np.float32)).dtype == np.float64
    np.testing.assert_allclose(kernel(integers), kernel(integers.astype(float)), rtol=1e-14)


@of_vectors
def test_booleans_and_lists_are_numbers(name):
    kernel, _ = naive.PAIRS[name]
    expected = kernel((A > 0).astype(np.float64), B)
    np.testing.assert_allclose(kernel(A > 0, B.tolist()), expected, rtol=1e-14)


@each_kernel
def test_float32_block_is_as_exact_as_its_gram_matrix_says(name):
    kernel, _ = naive.PAIRS[name]
    X = RANDOM.normal(size=(200, naive.FEATURES)).astype(np.float32)
    allowed = kernel.bind(X).rounding
    error = np.abs(kernel(X) - kernel(X.astype(np.float64))).max()
    assert 0 < error <= allowed


@of_vectors
def test_inputs_may_be_read_only_and_strided(name):
    kernel, _ = naive.PAIRS[name]
    wide = np.repeat(np.repeat(A, 2, axis=0), 3, axis=1)
    strided = wide[::2, ::3]
    strided.flags.writeable = False
    assert not strided.flags.c_contiguous
    np.testing.assert_array_equal(kernel(strided, B), kernel(A, B))
    np.testing.assert_allclose(kernel(np.asfortranarray(A), B), kernel(A, B), rtol=1e-14)
    frozen = sparse.csr_array(sparse_samples(5, 100, 0.05))
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    kernel = Gaussian(0.3)
    np.testing.assert_allclose(kernel(frozen), kernel(frozen.toarray()), rtol=1e-13)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_an_empty_side_gives_an_empty_block(shape):
    left, right = (np.zeros((n, 2)) for n in shape)
    for kernel in (Linear(), Polynomial(2, 1.0, 1.0), Sigmoid(), Gaussian(0.5)):
        assert kernel(left, right).shape == shape
        assert kernel(sparse.csr_array(left), sparse.csr_array(right)).shape == shape


vectors = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.just(3)),
    elements=st.floats(-50.0, 50.0, allow_subnormal=False),
)


@given(A=vectors, B=vectors, gamma=st.floats(0.0, 100.0), shift=st.sampled_from([0.0, 1e3, 1e8]))
def test_gaussian_is_exact_to_rounding_of_the_exponent(A, B, gamma, shift):
    A, B = A + shift, B + shift
    exponents = gamma * ((A[:, None] - B) ** 2).sum(axis=2)
    scale = 1.0 + gamma * max(((X - B.mean(axis=0)) ** 2).sum(axis=1).max() for X in (A, B))
    error = np.abs(Gaussian(gamma)(A, B) - np.exp(-exponents))
    assert error.max() <= 4e-15 * scale


def test_gaussian_in_float32_is_exact_to_rounding_of_the_exponent_far_from_the_origin():
    X = (RANDOM.normal(size=(300, 5)) + 1000.0).astype(np.float32)
    found = Gaussian(0.5)(X, X[:100])
    expected = Gaussian(0.5)(X.astype(np.float64), X[:100].astype(np.float64))
    assert np.abs(found - expected).max() <= 1e-6 * 0.5 * 30.0


def test_gaussian_never_exceeds_one():
    X = np.repeat(RANDOM.normal(size=(40, 7)) * 30, 3, axis=0)
    for dtype in (np.float32, np.float64):
        K = Gaussian(0.9)(X.astype(dtype), X[::-1].astype(dtype))
        assert K.max() <= 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaussian_of_distant_points_is_zero_and_of_nan_is_nan(dtype):
    found = Gaussian(1.0)(np.array([[0.0], [np.nan]], dtype), np.array([[0.0], [1e4]], dtype))
    np.testing.assert_array_equal(found, [[1.0, 0.0], [np.nan, np.nan]])


def test_gamma_zero_makes_everything_alike():
    np.testing.assert_array_equal(Gaussian(0.0)(A, B), np.ones((5, 8)))


@pytest.mark.parametrize("degree", range(10))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_polynomial_of_any_degree_is_a_power(degree, dtype):
    x = np.linspace(-1.5, 1.5, 7, dtype=dtype)[:, None]
    found = Polynomial(degree)(x, np.ones((1, 1), dtype))
    np.testing.assert_allclose(found, x.astype(np.float64) ** degree, rtol=np.finfo(dtype).eps * 8)


@pytest.mark.parametrize("name", [name for name in naive.PAIRS if name not in naive.INDEFINITE])
def test_gram_matrix_is_positive_semi_definite(name):
    kernel, _ = naive.PAIRS[name]
    X = RANDOM.normal(size=(40, naive.FEATURES))
    X[20:] = X[:20]
    values = np.linalg.eigvalsh(kernel(X))
    assert values[0] >= -1e-13 * values[-1]


@of_vectors
def test_blocks_larger_than_one_pass_are_seamless(name, monkeypatch):
    from maxmargin.kernels.vector import base as inner_product

    kernel, _ = naive.PAIRS[name]
    W = RANDOM.normal(size=(5, 8))
    whole, derivative = kernel(A, B), kernel.gradient(A, B, W)
    names = ("embedded_size", "embedded_size_for_few", "gradient_size")
    small = inner_product.SIZES._replace(**dict.fromkeys(names, 2 * naive.FEATURES))
    monkeypatch.setattr(inner_product, "SIZES", small)
    monkeypatch.setattr(inner_product, "LANES", 1)
    np.testing.assert_allclose(kernel(A, B), whole, rtol=1e-14)
    np.testing.assert_allclose(kernel.gradient(A, B, W), derivative, rtol=1e-12)
