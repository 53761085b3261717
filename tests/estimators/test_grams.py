"""The Gram matrices of a fit: what stays in memory, and for how long."""

import numpy as np
import pytest

from maxmargin.data import chess_board
from maxmargin.dual import hinge
from maxmargin.estimators.grams import Grams
from maxmargin.kernels import Gaussian
from maxmargin.solvers import solve


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_rows_of_blocks_are_held_until_released(dtype, rounding):
    X, y = chess_board(700, random_state=0)
    gram = Grams(Gaussian(2.0), X, dtype).whole()
    alpha = solve(hinge(y, 10.0).problem, gram, driver="blocks", shrinking=False).alpha
    rows, slot = gram.held
    for sample in np.flatnonzero(alpha)[:20]:
        assert slot[sample] >= 0
        expected = Gaussian(2.0)(X[[sample]], X)[0]
        np.testing.assert_allclose(rows[slot[sample]], expected, rtol=0, atol=rounding)
    gram.release()
    assert gram.held is None


def test_a_whole_matrix_is_not_released():
    X, _ = chess_board(50, random_state=0)
    gram = Grams(Gaussian(2.0), X, np.float64).whole()
    matrix = gram.matrix()
    gram.release()
    assert gram.held.values is matrix
    assert gram.matrix() is matrix
