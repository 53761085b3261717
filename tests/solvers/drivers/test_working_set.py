"""The gap that a run tells of is that of the certificate at the same threshold."""

import numpy as np
import pytest

from maxmargin import solve
from maxmargin.data import chess_board
from maxmargin.dual import certify, hinge, squared_hinge
from maxmargin.kernels import Gaussian
from maxmargin.solvers.drivers.working_set import Active
from maxmargin.solvers.rows.lru import FullRows


@pytest.mark.parametrize("machine", [hinge, squared_hinge])
@pytest.mark.parametrize("steps", [30, 200])
def test_estimated_gap_is_that_of_the_certificate(machine, steps):
    X, y = chess_board(80, noise=0.1, random_state=0)
    problem, gram = machine(y, 3.0).problem, Gaussian(2.0).bind(X, np.float64)
    K = gram.matrix()
    alpha = solve(problem, gram, tol=1e-9, max_steps=steps).alpha
    gradient = problem.linear - K @ alpha - problem.ridge * alpha
    active = Active.of(problem, FullRows(K), np.diagonal(K).copy(), alpha.copy(), gradient.copy())
    free = active.inside()
    assert free.any()
    np.testing.assert_array_equal(free, problem.free(alpha))
    bias = np.array([gradient[free].mean()])
    expected = certify(problem, alpha, gram, bias).gap
    assert active.estimated_gap() == pytest.approx(expected, rel=1e-9)
