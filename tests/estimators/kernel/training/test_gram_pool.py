"""The Gram matrices of a fit: what stays in memory, and for how long."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.estimators.kernel.training.gram_pool import Grams
from maxmargin.kernels import Gaussian, Linear, Precomputed
from maxmargin.runtime.parallel import single_threaded_blas
from maxmargin.solvers import solve


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_rows_of_blocks_are_held_until_released(dtype, rounding):
    X, y = chess_board(700, random_state=0)
    gram = Grams(Gaussian(2.0), X, dtype).whole()
    alpha = solve(hinge(y, 10.0).problem, gram, driver="blocks", shrinking=False).alpha
    rows, slot = gram.stored_rows
    for sample in np.flatnonzero(alpha)[:20]:
        assert slot[sample] >= 0
        expected = Gaussian(2.0)(X[[sample]], X)[0]
        np.testing.assert_allclose(rows[slot[sample]], expected, rtol=0, atol=rounding)
    gram.release()
    assert gram.stored_rows is None


def test_a_whole_matrix_is_not_released():
    X, _ = chess_board(50, random_state=0)
    gram = Grams(Gaussian(2.0), X, np.float64).whole()
    matrix = gram.matrix()
    gram.release()
    assert gram.whole is matrix
    assert gram.matrix() is matrix


@pytest.mark.parametrize(
    ("budget", "shared"),
    [(np.inf, "all"), (np.inf, "points"), (140_000, "classes"), (20_000, "nothing")],
)
def test_the_matrix_of_a_pair_is_the_same_whatever_is_shared(budget, shared):
    X = np.random.default_rng(0).normal(size=(110, 3 if shared == "points" else 14))
    order = np.random.default_rng(1).permutation(110)
    classes = [order[:50], order[50:80], order[80:]]
    grams = Grams(Gaussian(0.1), X, np.float64)
    grams.share(classes, budget)
    kept = grams.shared
    assert (kept is not None and kept.matrix.size > 0) == (shared == "all")
    assert (kept is not None and kept.points.size > 0) == (shared == "points")
    assert (kept is None) == (shared in ("classes", "nothing"))
    assert bool(grams._blocks) == (shared == "classes")
    K = Gaussian(0.1)(X)
    for places in ((0, 1), (0, 2), (1, 2)):
        samples = tuple(classes[place] for place in places)
        both = np.concatenate(samples)
        matrix = grams.of_pair(places, samples, lambda: None).matrix()
        np.testing.assert_allclose(matrix, K[np.ix_(both, both)], rtol=1e-13)


def test_a_matrix_computed_by_several_threads_is_symmetric_and_right():
    X = np.random.default_rng(0).normal(size=(900, 5))
    with single_threaded_blas(1):
        expected = Gaussian(0.5).bind(X).matrix()
    with single_threaded_blas(3):
        matrix = Gaussian(0.5).bind(X).matrix()
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, expected, rtol=1e-13)


def test_a_pause_ends_a_matrix_computed_by_several_threads():
    def pause():
        raise TimeoutError

    X = np.random.default_rng(0).normal(size=(900, 5))
    with single_threaded_blas(2), pytest.raises(TimeoutError):
        Gaussian(0.5).bind(X).matrix(pause)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_distance_of_equal_inputs_is_not_known_where_it_is_rounding(form, seed):
    rng = np.random.default_rng(seed)
    X = 1e22 * rng.normal(size=(6, 30))
    X[4] = X[2]
    grams = Grams(Gaussian(0.016), form(X), np.float64)
    coef = np.array([0.0, 0.0, 3.0, 0.0, -4.0, 0.0])
    # k(x_2, x_4) = 1, whatever is computed; all others are 0 beyond doubt.
    assert grams.rounding_of_arguments(None, coef) == 4.0
    assert grams.rounding_of_arguments(np.array([0, 1, 2, 3]), coef[:4]) == 0.0


def test_largest_entry_is_that_of_the_samples_asked_for():
    X = np.array([[1.0], [2.0], [5.0]])
    assert Grams(Linear(), X, np.float64).largest_entry_of(None) == 25.0
    assert Grams(Linear(), X, np.float64).largest_entry_of(np.array([0, 1])) == 4.0
    assert Grams(Precomputed(), X @ X.T, np.float64).largest_entry_of(np.array([0, 1])) == 4.0
