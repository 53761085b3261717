"""What the tests of solvers assert of a solution."""

import naive
import numpy as np
import pytest


def assert_optimal(solution, case, face=True):
    """Optimal to 1e-6 of the dual value, or the dual is unbounded and it says so."""
    if not separable(case):
        assert solution.status in ("unbounded", "step_limit") or solution.dual > 1e7
        return
    # Without face steps an ill-conditioned problem may crawl below 1e-7 of violation, at a dual
    # value that is long right.
    assert solution.status == "converged" or not face
    optimum = naive.solve_dual(case.problem, case.K)
    assert solution.dual == pytest.approx(optimum.value, rel=1e-6, abs=1e-7)


def separable(case):
    """Whether float64 can tell a hard margin: one of at least a 1e-4 of the data's radius."""
    if case.machine.name != "hard_margin":
        return True
    try:
        optimum = naive.solve_dual(case.problem, case.K).value
    except ArithmeticError:
        return False
    return 2.0 * optimum * np.diagonal(case.K).max() < 1e8


def assert_feasible(alpha, problem):
    assert (alpha >= problem.lower).all()
    assert (alpha <= problem.upper).all()
    sums = np.bincount(problem.group, alpha, minlength=problem.totals.size)
    assert sums == pytest.approx(problem.totals, abs=1e-11 * max(1.0, np.abs(alpha).sum()))
