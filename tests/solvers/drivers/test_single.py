"""A single small problem, solved in one compiled call."""

import numpy as np
import pytest

from maxmargin.data import chess_board
from maxmargin.dual import certify_expansion, hinge, squared_hinge
from maxmargin.kernels import Gaussian, Linear
from maxmargin.kernels.vector.exp import COMPILED
from maxmargin.solvers import plan, solve
from maxmargin.solvers.drivers import single
from maxmargin.solvers.drivers.single import solve_single
from maxmargin.solvers.smo import state as r

X, y = chess_board(120, random_state=0)
gram = Gaussian(2.0).bind(X, np.float64)
K = gram.matrix()


def sources():
    known = {"matrix": (None, K)}
    if COMPILED:
        known["points"] = gram.transposed_points(), None
    return known


@pytest.mark.parametrize("source", sources())
@pytest.mark.parametrize("machine", [hinge, squared_hinge])
def test_the_solution_is_that_of_the_usual_drivers_and_certified(machine, source):
    problem = machine(y, 10.0).problem
    chosen = plan.single(problem, gram.kernel, X)
    solution, certificate = solve_single(problem, *sources()[source], chosen, 1e-3)
    assert solution.status == "converged"
    assert solution.plan is chosen
    np.testing.assert_allclose(solution.alpha, solve(problem, K).alpha, atol=1e-7)
    expected = certify_expansion(problem, solution.alpha, K @ solution.alpha)
    np.testing.assert_allclose(certificate.primal, expected.primal, rtol=1e-12)
    gradient = problem.gradient(solution.alpha, K @ solution.alpha)
    np.testing.assert_allclose(solution.gradient, gradient, atol=1e-12)


def test_rows_on_demand_are_counted_and_a_matrix_as_a_whole():
    problem = hinge(y, 10.0).problem
    chosen = plan.single(problem, gram.kernel, X)
    for points, matrix in sources().values():
        solution, _ = solve_single(problem, points, matrix, chosen, 1e-3)
        rows = solution.row_misses if matrix is None else 120
        assert solution.kernel_evaluations == 120 * rows
        assert matrix is None or solution.row_misses == 0


def test_the_tolerance_falls_until_the_gap_is_small_enough(monkeypatch):
    usual = single.usual_control  # polishing would end at the optimum in any case
    monkeypatch.setattr(single, "usual_control", lambda *a: usual(*a)._replace(ending=r.RETURN))
    problem = hinge(y, 10.0).problem
    chosen = plan.single(problem, gram.kernel, X)
    short, rough = solve_single(problem, None, K, chosen, 1.0)
    found, fine = solve_single(problem, None, K, chosen, 1.0, gap=1e-6)
    assert rough.gap > 1e-3 * rough.dual
    assert fine.gap <= 1e-6 * fine.dual
    assert short.status == found.status == "converged"
    assert found.steps > short.steps


def test_large_problems_and_kernels_of_low_rank_have_other_drivers():
    many = np.resize(y, 1001)
    assert plan.single(hinge(y, 1.0).problem, Gaussian(2.0), X) is not None
    assert plan.single(hinge(many, 1.0).problem, Gaussian(2.0), np.resize(X, (1001, 2))) is None
    assert plan.single(hinge(y, 1.0).problem, Linear(), X) is None
    assert plan.single(hinge(y, np.inf).problem, Gaussian(2.0), X) is None


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_a_multiple_of_the_matrix_with_as_much_less_C_takes_the_same_steps(factor):
    found, scaled = (
        solve_single(problem, None, s * K, plan.single(problem, gram.kernel, X), 1e-3)[0]
        for s, problem in ((1.0, hinge(y, 10.0).problem), (factor, hinge(y, 10.0 / factor).problem))
    )
    assert scaled.status == "converged"
    assert scaled.steps == found.steps
    np.testing.assert_allclose(factor * scaled.alpha, found.alpha, rtol=1e-12)
