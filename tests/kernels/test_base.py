"""What every kernel has without writing it: rows on demand, the diagonal, sums and products."""

import numpy as np
import pytest

from maxmargin.kernels import Gaussian, Gram, Kernel, base
from maxmargin.kernels.base import as_slice, checked_weights, count, finite_number, take

X = np.random.default_rng(0).normal(size=(70, 3))


class Cubic(Kernel):
    """(s + a·b)³ with s = exp θ, from the contract's two methods and one derivative."""

    def __init__(self, s=1.0):
        self.s, self.blocks = s, 0

    parameter_names = ("s",)

    def __call__(self, A, B=None):
        self.blocks += 1
        return (self.s + A @ (A if B is None else B).T) ** 3

    def diagonal(self, A):
        return (self.s + (A * A).sum(axis=1)) ** 3

    def gradient(self, A, B, W):
        return np.array([(W * 3 * self.s * (self.s + A @ (A if B is None else B).T) ** 2).sum()])


K = (1.0 + X @ X.T) ** 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_any_columns_are_blocks_of_the_kernel(dtype):
    gram = Cubic().bind(X, dtype)
    assert type(gram) is Gram
    rtol = {np.float32: 2e-6, np.float64: 1e-13}[dtype]
    chosen, others = np.array([5, 60, 3, 17]), np.array([3, 9, 60])
    # What a new array happens to hold must not show.
    for columns in (None, others, chosen.copy(), chosen):
        out = np.full((4, 70 if columns is None else columns.size), np.nan, dtype)
        assert gram.rows(chosen, columns, out=out) is out
        expected = K[chosen] if columns is None else K[np.ix_(chosen, columns)]
        np.testing.assert_allclose(out, expected, rtol=rtol, atol=1e-5 if rtol > 1e-9 else 1e-12)
        again = gram.rows(chosen, columns)
        assert again.dtype == dtype
        np.testing.assert_array_equal(again, out)
    assert gram.rows(chosen[:0]).shape == (0, 70)
    with pytest.raises(ValueError, match=r"out must have shape \(4, 70\), got \(4, 69\)"):
        gram.rows(chosen, out=np.empty((4, 69)))


def test_the_diagonal_is_exact_whatever_the_rounding_of_a_block():
    class Rounded(Cubic):
        def __call__(self, A, B=None):
            return super().__call__(A, B) * (1.0 + 1e-9)

    gram, chosen = Rounded().bind(X), np.array([5, 60, 3])
    exact = gram.diagonal()
    assert (gram.rows(chosen)[[0, 1, 2], chosen] == exact[chosen]).all()
    assert (gram.rows(chosen, np.array([60, 3, 8]))[[1, 2], [0, 1]] == exact[[60, 3]]).all()
    assert (gram.rows(chosen, chosen).diagonal() == exact[chosen]).all()
    assert (gram.matrix().diagonal() == exact).all()
    assert gram.rows(chosen)[0, 6] == K[5, 6] * (1.0 + 1e-9)


def test_equal_rows_and_columns_give_an_exactly_symmetric_block():
    class Lopsided(Cubic):
        def __call__(self, A, B=None):
            block = super().__call__(A, B)
            return block * (1.0 + 1e-9 * np.arange(block.shape[1]))

    gram, chosen = Lopsided().bind(X), np.array([5, 60, 3, 17])
    for columns in (chosen, chosen.copy()):
        found = gram.rows(chosen, columns)
        np.testing.assert_array_equal(found, found.T)
    matrix = gram.matrix()
    np.testing.assert_array_equal(matrix, matrix.T)


def test_columns_are_prepared_again_only_when_others_came_in_between():
    gram = Cubic().bind(X)
    sets = [np.array([k, k + 2, k + 40]) for k in range(base.MOST_PREPARED)]
    for columns in sets:
        gram.rows(np.array([8]), columns)
    prepared = [known.points for known in gram._prepared_columns]
    gram.rows(np.array([9]), sets[0])
    assert any(known is gram._prepared(sets[0]).points for known in prepared)
    gram.rows(np.array([9]), np.array([1, 30, 20]))
    assert len(gram._prepared_columns) == base.MOST_PREPARED
    assert not any(known.columns is sets[1] for known in gram._prepared_columns)


def test_the_matrix_is_seamless_and_pauses_between_stripes(monkeypatch):
    monkeypatch.setattr(base, "STRIPE", 16)
    pauses = []
    found = Cubic().bind(X).matrix(lambda: pauses.append(None))
    np.testing.assert_allclose(found, K, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    assert len(pauses) == 5
    some = np.array([9, 2, 30])
    gram = Cubic().bind(X)
    np.testing.assert_allclose(gram.matrix_among(some), K[np.ix_(some, some)], rtol=1e-12)
    np.testing.assert_allclose(gram.among(some).rows(np.array([1])), K[[2]][:, some], rtol=1e-12)


def test_rounding_is_that_of_the_largest_entry():
    expected = np.finfo(np.float32).eps * np.diagonal(K).max()
    assert Cubic().bind(X, np.float32).rounding == pytest.approx(expected)


def test_precision_is_that_of_the_inputs_unless_another_is_asked_for():
    assert Cubic().bind(X.astype(np.float32)).dtype == np.float32
    assert Cubic().bind(X).dtype == np.float64
    assert Cubic().bind([[1.0]]).dtype == np.float64
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got int64"):
        Cubic().bind(X, np.int64)


def test_the_gradient_of_the_diagonal_is_a_difference_quotient():
    w = np.random.default_rng(1).normal(size=70)
    h = 1e-6
    above, below = (w @ Cubic(np.exp(t)).diagonal(X) for t in (h, -h))
    found = Cubic().diagonal_gradient(X, w)
    assert found == pytest.approx([(above - below) / (2 * h)], rel=1e-6)


def test_kernels_add_and_multiply():
    one, two = Cubic(), Gaussian(0.3)
    A, B = X[:4], X[4:9]
    np.testing.assert_allclose((one + two)(A, B), one(A, B) + two(A, B))
    np.testing.assert_allclose((one * two)(A, B), one(A, B) * two(A, B))
    for scaled in (one * 2.5, 2.5 * one, np.float64(2.5) * one):
        np.testing.assert_allclose(scaled(A, B), 2.5 * one(A, B))
    with pytest.raises(TypeError):
        one + 1.0
    with pytest.raises(TypeError):
        one * "2"


def test_a_kernel_without_parameters_stays_where_it_is():
    class Constant(Kernel):
        def __call__(self, A, B=None):
            return np.ones((len(A), len(A if B is None else B)))

        def diagonal(self, A):
            return np.ones(len(A))

    kernel = Constant()
    assert kernel.moved([]) is kernel
    assert kernel.theta.size == kernel.theta_limits[0].size == 0
    assert kernel.gradient(X[:2], X[:3], np.ones((2, 3))).size == 0
    assert kernel.gradient(X[:2], None, np.ones((2, 2))).size == 0
    assert kernel.rank(X) == np.inf
    with pytest.raises(ValueError, match=r"W must have shape \(2, 3\)"):
        kernel.gradient(X[:2], X[:3], np.ones((3, 2)))
    with pytest.raises(ValueError, match="delta must have one entry for each"):
        kernel.moved([1.0])
    low, high = Cubic().theta_limits
    assert (low.tolist(), high.tolist()) == ([-np.inf], [np.inf])


def test_inputs_are_counted_and_taken_in_their_own_container():
    words = ["a", "b", "c"]
    assert (count(words), count(X)) == (3, 70)
    assert take(words, np.array([2, 0])) == ["c", "a"]
    assert take(words, slice(1, 3)) == ["b", "c"]
    np.testing.assert_array_equal(take(X, np.array([2, 0])), X[[2, 0]])


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([3, 4, 5], slice(3, 6)),
        ([0, 1], slice(0, 2)),
        ([3], None),
        ([], None),
        ([3, 5], None),
        ([5, 4, 3], None),
        ([0, 2, 1, 3], None),
        ([-1, 0, 1], None),
    ],
)
def test_only_consecutive_indices_become_a_slice(indices, expected):
    given = np.array(indices, dtype=int)
    found = as_slice(given)
    assert found is given if expected is None else found == expected


@pytest.mark.parametrize("value", [True, "1", None, np.bool_(False)])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(TypeError, match="s must be a number"):
        finite_number("s", value)


def test_parameters_are_finite():
    assert finite_number("s", np.float32(0.5)) == 0.5
    for value in (np.inf, np.nan):
        with pytest.raises(ValueError, match="s must be finite"):
            finite_number("s", value)
    assert checked_weights([[1, 2]], 1, 2).dtype == np.float64
