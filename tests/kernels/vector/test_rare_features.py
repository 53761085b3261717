"""Features in which almost all samples agree are kept out of GEMM, and count as before."""

import naive
import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import Gaussian, Linear, MetricGaussian, Polynomial
from maxmargin.kernels.vector.rare_features import RareEntries, differing, rare_features
from maxmargin.runtime.costs import RARE32
from maxmargin.runtime.parallel import single_threaded_blas

WIDE = 100
KERNELS = {
    "linear": (Linear(), naive.linear),
    "polynomial": (Polynomial(2, 0.1, 1.0), naive.polynomial(0.1, 1.0, 2)),
    "gaussian": (Gaussian(0.02), naive.gaussian(0.02)),
}
each_kernel = pytest.mark.parametrize("name", KERNELS)


def samples(n, seed):
    return np.random.default_rng(seed).normal(size=(n, WIDE))


def with_constants(n, seed):
    """Zeros in features 5 to 24, and 0.3, whose mean is no longer 0.3, in 30 to 39."""
    X = samples(n, seed)
    X[:, 5:25], X[:, 30:40] = 0.0, 0.3
    return X


def with_rare(n, seed):
    """The same, but one in twenty samples differs in each of these features."""
    X = with_constants(n, seed)
    for f in (*range(5, 25), *range(30, 40)):
        some = np.random.default_rng([seed, f]).permutation(n)[: n // 20]
        X[some, f] = np.random.default_rng(f).normal(size=some.size)
    return X


make = pytest.mark.parametrize("make", [with_constants, with_rare])


@each_kernel
@make
def test_new_inputs_that_differ_in_these_features_are_told_apart(name, make):
    kernel, function = KERNELS[name]
    A, B = samples(6, 0), make(90, 1)
    expected = naive.gram(function, A, B)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel(B, A), expected.T, rtol=1e-12, atol=1e-13)
    block = np.empty((6, 90))
    kernel.evaluator(B, np.float64)(A, block)
    np.testing.assert_allclose(block, expected, rtol=1e-12, atol=1e-13)


@each_kernel
@make
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_matrix_of_all_samples_is_right(name, make, dtype):
    kernel, function = KERNELS[name]
    X = make(100, 2).astype(dtype)
    expected = naive.gram(function, X.astype(np.float64))
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    near = {"rtol": tolerance, "atol": tolerance}
    np.testing.assert_allclose(kernel(X), expected, **near)
    gram, some = kernel.bind(X), np.array([50, 3, 11, 77])
    np.testing.assert_allclose(gram.rows(some), expected[some], **near)
    np.testing.assert_allclose(gram.rows(some, np.arange(20, 60)), expected[some, 20:60], **near)
    np.testing.assert_allclose(gram.rows(some, some[:2]), expected[some][:, some[:2]], **near)
    spaced = np.empty((4, 200), dtype=dtype)[:, ::2]
    np.testing.assert_allclose(gram.rows(some, out=spaced), expected[some], **near)
    assert gram.rounding == pytest.approx(
        np.finfo(dtype).eps * kernel._sensitivity(largest_image(kernel, X)), rel=0.2
    )


def largest_image(kernel, X):
    scaled = X.astype(np.float64) * kernel._scale()
    centre = scaled.mean(axis=0) if isinstance(kernel, Gaussian) else 0.0
    return ((scaled - centre) ** 2).sum(axis=1).max()


@each_kernel
@make
def test_products_are_as_narrow_as_they_can_be(name, make):
    kernel, _ = KERNELS[name]
    left_out = 30 if name == "gaussian" else 20
    assert kernel.bind(make(100, 2)).points.features == WIDE - left_out
    assert kernel.bind(samples(100, 2)).points.features == WIDE


@each_kernel
def test_all_features_may_be_rare(name):
    kernel, function = KERNELS[name]
    X = np.where(np.random.default_rng(0).random((200, WIDE)) < 0.03, samples(200, 0), 0.0)
    gram = kernel.bind(X)
    assert gram.points.features == 0
    np.testing.assert_allclose(gram.matrix(), naive.gram(function, X), rtol=1e-12, atol=1e-13)


@each_kernel
def test_sparse_inputs_that_are_multiplied_as_dense_ones(name):
    kernel, function = KERNELS[name]
    X = with_rare(100, 3)
    X[:, 30:40] = 0.0
    gram = kernel.bind(sparse.csr_array(X))
    assert gram.points.features == WIDE - 30
    np.testing.assert_allclose(gram.matrix(), naive.gram(function, X), rtol=1e-12, atol=1e-13)


@each_kernel
def test_no_new_inputs_at_all(name):
    kernel, _ = KERNELS[name]
    B, none = with_rare(100, 1), np.empty((0, WIDE))
    assert kernel(none, B).shape == (0, 100)
    block = np.empty((0, 100))
    kernel.evaluator(B, np.float64)(none, block)


def test_whole_numbers_and_truth_values():
    X = np.random.default_rng(0).random((100, WIDE)) < np.linspace(0.01, 0.5, WIDE)
    expected = naive.gram(KERNELS["gaussian"][1], X.astype(np.float64))
    for kind in (bool, np.uint8, np.int64):
        np.testing.assert_allclose(Gaussian(0.02)(X.astype(kind)), expected, rtol=1e-12)


def test_many_samples_are_shared_among_threads():
    X = with_rare(2500, 4).astype(np.float32)
    gram, some = Gaussian(0.02).bind(X), np.arange(0, 2500, 5)
    assert gram.points.features == WIDE - 30
    expected = np.exp(-0.02 * ((X[some, None] - X[None, ::50].astype(np.float64)) ** 2).sum(-1))
    np.testing.assert_allclose(gram.rows(some)[:, ::50], expected, rtol=2e-5, atol=1e-7)


def test_a_metric_that_ignores_features_is_unchanged():
    gammas = np.where(np.arange(WIDE) < 40, 0.0, 0.05)
    A, B = samples(6, 0), with_constants(9, 1)
    expected = np.exp(-((A[:, None] - B) ** 2 @ gammas))
    np.testing.assert_allclose(Gaussian(gammas)(A, B), expected, rtol=1e-12)


def test_images_under_a_metric_matrix():
    X = with_rare(60, 5)
    metric = np.diag(np.linspace(0.1, 0.2, WIDE))
    expected = naive.gram(naive.gaussian(0.5), X @ metric)
    np.testing.assert_allclose(MetricGaussian(metric)(X), expected, rtol=1e-10)


@pytest.mark.parametrize("common", [0.0, -0.37])
def test_the_common_value_is_found(common):
    X = np.full((300, WIDE), common)
    X[:60, 0] = 1.0  # more than is rare
    X[:20, 1] = 1.0
    rare, values = rare_features(X, RARE32, zero=False)
    assert (values == common).all()
    assert not rare[0]
    assert rare[1:].all()
    rare, values = rare_features(X, RARE32, zero=True)
    assert rare.any() == (common == 0.0)
    assert not values.any()


def test_it_is_the_share_of_pairs_that_makes_a_feature_rare_towards_others():
    X, others = np.zeros((2, 300, WIDE))
    X[:60] = 1.0  # one in five
    others[:12] = 1.0  # one in 25
    others[:120, 0] = 1.0  # two in five
    others[:, 1] = 0.0
    X[:200, 1] = 1.0  # two in three: too many entries, though they meet nothing
    rare, _ = rare_features(X, 0.1, zero=True, others=others)
    assert not rare[:2].any()
    assert rare[2:].all()
    assert not rare_features(X, 0.1, zero=True)[0].any()


def test_nothing_is_rare_where_it_would_not_pay():
    X = np.zeros((300, WIDE))
    assert not rare_features(X[:, :20], RARE32, zero=False)[0].any()
    assert not rare_features(X[:1], RARE32, zero=False)[0].any()
    X[:] = samples(300, 0)
    X[:, 7] = 0.0
    assert not rare_features(X, RARE32, zero=False)[0].any()


def test_those_that_differ_are_counted():
    X = with_rare(3000, 6)
    common = X[0].copy()
    np.testing.assert_array_equal(differing(X, common), (common != X).sum(axis=0))
    np.testing.assert_array_equal(
        differing(sparse.csr_array(X), np.zeros(WIDE)), (X != 0.0).sum(axis=0)
    )


def test_products_of_another_precision():
    entries = RareEntries(sparse.random_array((30, 50), density=0.1, random_state=0, format="csr"))
    out = np.ones((30, 30), dtype=np.float32)
    entries.add_products(entries, out)
    dense = entries.matrix.toarray()
    np.testing.assert_allclose(out, 1.0 + dense @ dense.T, rtol=1e-6)


@pytest.mark.parametrize(("rows", "columns"), [(40, 7000), (7000, 40)])
def test_products_divided_among_threads_are_the_same(rows, columns):
    X = with_rare(7000, 0)
    gram, left, right = Gaussian(0.02).bind(X), np.arange(rows)[::-1], np.arange(columns)
    with single_threaded_blas(1):
        expected = gram.rows(left, right)
    with single_threaded_blas(3):
        found = gram.rows(left, right)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
