"""A bound kernel serves the rows of one Gram matrix, whatever batch they are asked for in."""

import numpy as np
import pytest
from kernels.naive_kernels import FEATURES, PAIRS, block
from scipy import sparse

from maxmargin.kernels import FromFunction, Gaussian, Gram, Linear, Precomputed, Scaled
from maxmargin.kernels.base import STRIPE

RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(60, FEATURES)) + 2.0
SPARSE = sparse.csr_array(np.pad(X * (RANDOM.random(X.shape) < 0.5) + 0.01, ((0, 0), (0, 90))))
each_kernel = pytest.mark.parametrize("name", PAIRS)
# Entries of the same pair from batches of different shape may round differently.
CLOSE = {np.float64: 1e-13, np.float32: 1e-5}
# So many copies of the features are too many for sums of squared differences.
MANY = 4


def inputs_of(name, form):
    narrow = name in ("diagonal", "sum", "product")
    return {"dense": X, "csr": SPARSE[:, :FEATURES] if narrow else SPARSE}[form]


@each_kernel
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_blocks_of_the_kernel(name, form, dtype):
    kernel, inputs = PAIRS[name][0], inputs_of(name, form)
    indices, columns = np.array([5, 3, 17]), np.array([17, 2, 5, 40, 41])
    gram = kernel.bind(inputs, dtype)
    expected = kernel(inputs[indices], inputs)
    close = {"rtol": CLOSE[dtype], "atol": CLOSE[dtype]}
    found = gram.rows(indices)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, **close)
    np.testing.assert_allclose(gram.rows(indices, columns), expected[:, columns], **close)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("indices", [[0, 2, 1, 3], [7, 8, 9], [4, 4, 6, 7], [3, 2, 1], [5]])
def test_rows_and_columns_come_in_the_order_asked_for(form, indices):
    gram, columns = Gaussian(0.3).bind(inputs_of("radial", form)), np.array(indices) + 10
    matrix = gram.matrix()
    np.testing.assert_allclose(gram.rows(np.array(indices)), matrix[indices], rtol=1e-13)
    found = gram.rows(np.array(indices), columns)
    np.testing.assert_allclose(found, matrix[indices][:, columns], rtol=1e-13)


@each_kernel
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_successive_ones_of_columns_prepared_before_are_the_right_ones(name, form):
    gram = PAIRS[name][0].bind(inputs_of(name, form))
    matrix, order = gram.matrix(), np.random.default_rng(0).permutation(60)
    indices = np.array([5, 3, 17])
    assert gram.rows(indices[:0], order).shape == (0, 60)
    for columns in (order[:20], order[20:41], order[:41], order[7:9], order[3:30:2], order):
        found = gram.rows(indices, columns)
        np.testing.assert_allclose(found, matrix[indices][:, columns], rtol=1e-12, atol=1e-12)


@each_kernel
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_rows_are_written_where_they_are_wanted(name, form):
    kernel, inputs = PAIRS[name][0], inputs_of(name, form)
    gram = kernel.bind(inputs)
    indices, columns = np.array([5, 3]), np.array([17, 2, 5])
    cache = np.full((4, 70), np.nan)
    out = cache[1:3, :60]
    assert gram.rows(indices, out=out) is out
    np.testing.assert_array_equal(out, gram.rows(indices))
    assert np.isnan(cache[:, 60:]).all()
    assert np.isnan(cache[[0, 3]]).all()
    transposed = np.empty((3, 2)).T
    gram.rows(indices, columns, out=transposed)
    np.testing.assert_array_equal(transposed, gram.rows(indices, columns))


@each_kernel
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrix_is_exactly_symmetric_with_the_exact_diagonal(name, form, dtype):
    kernel, inputs = PAIRS[name][0], inputs_of(name, form)
    gram = kernel.bind(inputs, dtype)
    matrix = gram.matrix()
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(matrix.diagonal(), gram.diagonal().astype(dtype))
    np.testing.assert_allclose(matrix, kernel(inputs), rtol=CLOSE[dtype], atol=CLOSE[dtype])


@pytest.mark.parametrize("n", [1, 255, 257, STRIPE, STRIPE + 1, 2 * STRIPE + 300])
def test_matrix_is_seamless_and_symmetric_at_every_size(n):
    Z = RANDOM.normal(size=(n, 3))
    matrix = Gaussian(0.4).bind(Z).matrix()
    expected = np.exp(-0.4 * ((Z[:, None] - Z) ** 2).sum(axis=2))
    np.testing.assert_allclose(matrix, expected, rtol=1e-13)
    np.testing.assert_array_equal(matrix, matrix.T)


@each_kernel
def test_diagonal_is_the_same_number_in_every_batch(name):
    gram = PAIRS[name][0].bind(X, np.float32)
    exact = gram.diagonal().astype(np.float32)
    indices = np.array([9, 4])
    np.testing.assert_array_equal(gram.rows(indices)[[0, 1], [9, 4]], exact[[9, 4]])
    found = gram.rows(indices, np.array([4, 30, 9]))
    np.testing.assert_array_equal(found[[0, 1], [2, 0]], exact[[9, 4]])


def test_gaussian_of_a_point_and_itself_is_one():
    for dtype in (np.float32, np.float64):
        assert (Gaussian(3.0).bind(1e3 * X, dtype).matrix().diagonal() == 1.0).all()


@each_kernel
def test_block_with_equal_rows_and_columns_is_exactly_symmetric(name):
    gram = PAIRS[name][0].bind(X, np.float32)
    chosen = RANDOM.permutation(60)[:33]
    found = gram.rows(chosen, chosen.copy())
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found.diagonal(), gram.diagonal()[chosen].astype(np.float32))


def test_columns_are_prepared_once_for_the_same_array():
    gram = Gaussian(0.5).bind(X)
    columns, selections = np.array([4, 8, 1]), []
    select = gram._select
    gram._select = lambda points, indices: selections.append(indices) or select(points, indices)
    for row in (2, 3, 5):
        gram.rows(np.array([row]), columns)
    assert sum(chosen is columns for chosen in selections) == 1
    other = np.array([0, 1, 2])
    np.testing.assert_allclose(gram.rows(np.array([3]), other), Gaussian(0.5)(X[[3]], X[other]))


def test_duplicate_points_have_equal_rows_to_rounding():
    Z = np.repeat(RANDOM.normal(size=(100, 20)), 3, axis=0)
    matrix = Gaussian(0.05).bind(Z).matrix()
    np.testing.assert_allclose(matrix[::3], matrix[1::3], rtol=4e-15)


def test_binding_in_float32_keeps_what_float64_inputs_say_far_from_the_origin():
    expected = Gaussian(0.5)(X)
    found = Gaussian(0.5).bind(X + 1e6, np.float32).matrix()
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_rounding_grows_with_the_distance_of_clusters():
    Z = np.tile(np.vstack([X, X + 1000.0]), (1, MANY))
    gamma = 0.1 / MANY
    gram = Gaussian(gamma).bind(Z, np.float32)
    error = np.abs(gram.matrix() - Gaussian(gamma)(Z)).max()
    assert 1e-3 < error <= gram.rounding
    assert Gaussian(gamma).bind(Z).rounding < 1e-8


def test_few_features_are_free_of_cancellation():
    Z = np.vstack([X, X + 1000.0])
    gram = Gaussian(0.1).bind(Z, np.float32)
    np.testing.assert_allclose(gram.matrix(), Gaussian(0.1)(Z), atol=2e-5)


def test_inputs_are_not_changed():
    before = X.copy()
    for kernel in (Gaussian(0.5), Scaled(Linear(), 2.0), Linear()):
        gram = kernel.bind(X)
        gram.matrix()
        gram.rows(np.arange(60))[:] = 0.0
    np.testing.assert_array_equal(X, before)


def test_pause_is_called_between_blocks_and_may_end_the_work():
    calls = []
    Linear().bind(np.zeros((2 * STRIPE + 1, 1))).matrix(pause=lambda: calls.append(1))
    assert len(calls) >= 3

    def stop():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Linear().bind(np.zeros((2 * STRIPE, 1))).matrix(pause=stop)


def test_default_gram_serves_any_kernel_and_any_container():
    words = ["cat", "cart", "dog", "god"]

    def common(A, B):
        return np.array([[float(len(set(a) & set(b))) for b in B] for a in A])

    gram = FromFunction(common).bind(words)
    assert type(gram) is Gram
    expected = block(lambda a, b: len(set(a) & set(b)), words, words)
    np.testing.assert_array_equal(gram.matrix(), expected)
    np.testing.assert_array_equal(gram.rows(np.array([2]), np.array([3, 0])), [[3.0, 0.0]])


def test_function_that_rounds_unevenly_gives_a_symmetric_matrix():
    def uneven(A, B):
        return A @ B.T + 1e-12 * np.arange(len(A))[:, None]

    kernel = FromFunction(uneven)
    for matrix in (kernel(X), kernel.bind(X).matrix()):
        np.testing.assert_array_equal(matrix, matrix.T)


def test_function_gets_the_inputs_as_they_are():
    seen = set()

    def spy(A, B):
        seen.update([type(A), type(B)])
        return (A @ B.T).toarray()

    gram = FromFunction(spy).bind(SPARSE)
    np.testing.assert_allclose(gram.rows(np.array([1])), (SPARSE[[1]] @ SPARSE.T).toarray())
    assert seen == {sparse.csr_array}


def test_precomputed_rows_come_from_the_matrix():
    K = Gaussian(0.5)(X)
    gram = Precomputed().bind(K)
    np.testing.assert_array_equal(gram.rows(np.array([4, 2])), K[[4, 2]])
    np.testing.assert_array_equal(gram.rows(np.array([4]), np.array([9, 4])), K[[4]][:, [9, 4]])
    np.testing.assert_array_equal(gram.diagonal(), np.ones(60))
    np.testing.assert_array_equal(gram.matrix(), K)
    assert gram.matrix() is not K
    assert gram.whole is K
    assert Precomputed().bind(K, np.float32).whole is None


@pytest.mark.parametrize("dtype", [np.float16, np.int64, complex])
def test_blocks_are_float32_or_float64(dtype):
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        Linear().bind(X, dtype)


def test_out_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"out must have shape \(1, 60\), got \(2, 60\)"):
        Linear().bind(X).rows(np.array([1]), out=np.empty((2, 60)))


def test_a_call_from_another_thread_in_the_middle_of_one_does_no_harm():
    """`_select` is where a thread may lose its turn: there the other one asks for its columns."""
    mine, other = np.array([1, 2, 3]), np.array([7, 8, 9])

    class Shared(Gram):
        turn_lost = False

        def _select(self, points, indices):
            if indices is mine and not self.turn_lost:
                self.turn_lost = True
                self.rows(np.array([0]), other)
            return super()._select(points, indices)

    kernel = Gaussian(0.3)
    gram = Shared(kernel, X)
    for columns in (mine, other, mine):
        found = gram.rows(np.array([0]), columns)
        np.testing.assert_allclose(found, kernel(X[:1], X[columns]), rtol=1e-13)


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear(), Precomputed()], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_matrix_among_some_inputs_is_that_part_of_the_whole(kernel, dtype):
    gram = kernel.bind(Gaussian(0.5)(X) if kernel == Precomputed() else X, dtype)
    some = np.array([40, 3, 17])
    part = gram.among(some)
    assert part.dtype == dtype
    np.testing.assert_allclose(part.matrix(), gram.rows(some, some), rtol=1e-5)
    among = gram.matrix_among(some)
    assert among.dtype == dtype
    np.testing.assert_array_equal(among, among.T)
    np.testing.assert_array_equal(among.diagonal(), gram.diagonal()[some].astype(dtype))
    np.testing.assert_allclose(among, part.matrix(), rtol=1e-5)


@pytest.mark.parametrize("features", [12, 13, 64, 65])
@pytest.mark.parametrize("columns", [1, 127, 128, 263])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_any_number_of_features_and_columns_are_those_of_the_formula(
    features, columns, dtype
):
    Z = np.random.default_rng(features).normal(size=(columns + 5, features))
    gram, indices = Gaussian(0.5 / features).bind(Z, dtype), np.array([columns, 0, 4])
    expected = np.exp(-0.5 / features * ((Z[indices, None] - Z) ** 2).sum(axis=2))
    close = {"rtol": 10 * CLOSE[dtype], "atol": 0.0}
    np.testing.assert_allclose(gram.rows(indices), expected, **close)
    some = np.arange(5, columns + 5)
    wider = np.full((3, columns + 9), np.nan, dtype)
    gram.rows(indices, some, wider[:, 2 : columns + 2])
    np.testing.assert_allclose(wider[:, 2 : columns + 2], expected[:, some], **close)
    assert np.isnan(wider[:, :2]).all()
    assert np.isnan(wider[:, columns + 2 :]).all()
