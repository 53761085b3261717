"""The Gaussian kernel with a full metric."""

import pickle
from itertools import chain, combinations

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import Gaussian, MetricGaussian

PARTS = ("size", "shape", "orientation")
FREEZES = list(chain.from_iterable(combinations(PARTS, k) for k in range(4)))


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def metric(rng, n):
    A = rng.standard_normal((n, n))
    return A @ A.T / n + 0.2 * np.eye(n)


def log_eigenvalues(kernel):
    return np.log(np.linalg.eigvalsh(kernel.metric))


def by_loops(B, X, Z):
    return np.array([[np.exp(-0.5 * np.sum((B @ (x - z)) ** 2)) for z in Z] for x in X])


def test_block_is_the_formula(rng):
    B, X, Z = metric(rng, 3), rng.standard_normal((7, 3)), rng.standard_normal((5, 3)) + 10.0
    np.testing.assert_allclose(MetricGaussian(B)(X, Z), by_loops(B, X, Z), rtol=1e-10, atol=1e-15)


def test_float32_inputs_give_a_float32_block(rng):
    B, X = metric(rng, 3), rng.standard_normal((7, 3)).astype(np.float32)
    block = MetricGaussian(B)(X)
    assert block.dtype == np.float32
    np.testing.assert_allclose(block, by_loops(B, X, X), atol=2e-6)


def test_sparse_inputs_equal_dense_ones(rng):
    kernel, X = MetricGaussian(metric(rng, 4)), rng.integers(0, 2, (9, 4)).astype(float)
    np.testing.assert_allclose(kernel(sparse.csr_array(X), X[:3]), kernel(X, X[:3]), rtol=1e-14)


def test_isotropic_metric_is_the_radial_gaussian(rng):
    X = rng.standard_normal((8, 3))
    np.testing.assert_allclose(
        MetricGaussian.isotropic(0.7, 3)(X), Gaussian(0.7)(X), rtol=1e-12, atol=1e-15
    )


def test_bound_rows_equal_the_block(rng):
    kernel, X = MetricGaussian(metric(rng, 3)), rng.standard_normal((20, 3))
    rows = kernel.bind(X).rows(np.array([3, 11]), np.arange(5, 15))
    np.testing.assert_allclose(rows, kernel(X)[[3, 11], 5:15], rtol=1e-13)


def test_whole_matrix_is_exactly_symmetric_with_ones_on_the_diagonal(rng):
    K = MetricGaussian(metric(rng, 3))(rng.standard_normal((30, 3)))
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diagonal(K), np.ones(30))


@pytest.mark.parametrize("freeze", FREEZES, ids="+".join)
@pytest.mark.parametrize("start", ["general", "diagonal"])
def test_gradient_is_the_central_difference_of_a_move(rng, freeze, start):
    B = metric(rng, 3) if start == "general" else np.diag([0.5, 1.0, 2.0])
    kernel = MetricGaussian(B, freeze)
    X, Z, W = rng.standard_normal((6, 3)), rng.standard_normal((5, 3)), rng.standard_normal((6, 5))
    steps = 1e-5 * np.eye(len(kernel.parameter_names))
    differences = [
        np.sum(W * (kernel.moved(step)(X, Z) - kernel.moved(-step)(X, Z))) / 2e-5 for step in steps
    ]
    np.testing.assert_allclose(kernel.gradient(X, Z, W), differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("freeze", FREEZES, ids="+".join)
def test_number_of_coordinates_is_that_of_what_is_free(rng, freeze):
    sizes = {"size": 1, "shape": 3, "orientation": 6}
    kernel = MetricGaussian(metric(rng, 4), freeze)
    assert len(kernel.theta) == sum(sizes[part] for part in PARTS if part not in freeze)
    assert len(set(kernel.parameter_names)) == len(kernel.theta)


def test_frozen_size_keeps_the_determinant(rng):
    kernel = MetricGaussian(metric(rng, 3), ["size"])
    moved = kernel.moved(rng.standard_normal(5))
    np.testing.assert_allclose(log_eigenvalues(moved).sum(), log_eigenvalues(kernel).sum())


def test_frozen_shape_keeps_the_ratios_of_the_eigenvalues(rng):
    kernel = MetricGaussian(metric(rng, 3), ["shape"])
    moved = kernel.moved(rng.standard_normal(4))
    np.testing.assert_allclose(np.diff(log_eigenvalues(moved)), np.diff(log_eigenvalues(kernel)))


def test_frozen_orientation_keeps_the_eigenvectors(rng):
    kernel = MetricGaussian(metric(rng, 3), ["orientation"])
    moved = kernel.moved(rng.standard_normal(3))
    np.testing.assert_allclose(
        kernel.metric @ moved.metric, moved.metric @ kernel.metric, atol=1e-12
    )


def test_diagonal_metric_stays_diagonal_while_its_orientation_is_frozen(rng):
    moved = MetricGaussian(np.diag([0.5, 1.0, 2.0]), ["orientation"]).moved(rng.standard_normal(3))
    assert np.count_nonzero(moved.metric) == 3


def test_free_move_is_the_exponential_of_a_symmetric_matrix():
    B = np.array([[2.0, 0.5], [0.5, 1.0]])
    moved = MetricGaussian(B).moved([0.0, 0.0, 0.3])
    E = np.array([[np.cosh(0.3), np.sinh(0.3)], [np.sinh(0.3), np.cosh(0.3)]])
    np.testing.assert_allclose(moved.metric, E @ B @ E, rtol=1e-14)


def test_metric_stays_definite_however_far_it_moves(rng):
    kernel = MetricGaussian(np.eye(4))
    for _ in range(6):
        kernel = kernel.moved(4.0 * rng.standard_normal(kernel.theta.size))
        values = np.linalg.eigvalsh(kernel.metric)
        assert 0 < values[0] <= values[-1] < np.inf


@pytest.mark.parametrize("freeze", [(), ("size",), ("orientation",), ("shape", "orientation")])
def test_theta_adds_up_along_the_eigenvectors(rng, freeze):
    kernel = MetricGaussian(np.diag([0.5, 1.0, 2.0]), freeze)
    delta = rng.standard_normal(len(kernel.theta))
    delta[[name[0] == "m" and name[-4] != name[-2] for name in kernel.parameter_names]] = 0.0
    np.testing.assert_allclose(kernel.moved(delta).theta, kernel.theta + delta, atol=1e-12)


def test_linear_map_of_the_inputs_is_undone_by_the_metric(rng):
    """k_B(x, z) = k_B'(Tx, Tz) where B'² = T⁻ᵀB²T⁻¹."""
    B, T, X = metric(rng, 3), rng.standard_normal((3, 3)), rng.standard_normal((10, 3))
    inverse = np.linalg.inv(T)
    values, vectors = np.linalg.eigh(inverse.T @ B @ B @ inverse)
    mapped = MetricGaussian(vectors * np.sqrt(values) @ vectors.T)
    np.testing.assert_allclose(mapped(X @ T.T), MetricGaussian(B)(X), rtol=1e-9, atol=1e-15)


def test_kernel_is_a_value(rng):
    kernel = MetricGaussian(metric(rng, 2), ["size"])
    twin = pickle.loads(pickle.dumps(kernel))
    assert twin == kernel
    assert hash(twin) == hash(kernel)
    assert eval(repr(kernel)) == kernel
    assert kernel != MetricGaussian(kernel.metric)


def test_metric_cannot_be_changed_in_place(rng):
    kernel = MetricGaussian(metric(rng, 2))
    with pytest.raises(ValueError, match="read-only"):
        kernel.metric[0, 0] = 5.0


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        ([[1.0, 0.0]], "square"),
        ([[1.0, 2.0], [0.0, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "positive definite, got an eigenvalue of -1"),
        ([[np.nan]], "NaN"),
    ],
)
def test_unfit_metric_is_refused(matrix, complaint):
    with pytest.raises(ValueError, match=complaint):
        MetricGaussian(matrix)


def test_unknown_part_is_refused():
    with pytest.raises(ValueError, match=r"freeze must name some of .*'sise'"):
        MetricGaussian(np.eye(2), ["sise"])


def test_inputs_with_other_features_are_refused():
    with pytest.raises(ValueError, match="A must have 2 features"):
        MetricGaussian(np.eye(2))(np.zeros((3, 5)))
