"""The slow truth is true: two unrelated solvers and problems solved by hand agree with it."""

from dataclasses import replace

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import KINDS, case_of, samples

from maxmargin.dual import DualProblem, hard_margin


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(max_examples=25)
def test_interior_points_and_active_sets_find_the_same_value(kind, data):
    sample = data.draw(samples())
    case = definite(case_of(kind, sample._replace(nu=min(sample.nu, 0.9))))
    optimum = naive.solve_dual(case.problem, case.K)
    alpha = naive.solve_by_quadprog(case.problem, case.K)
    assert naive.dual_value(case.problem, case.K, alpha) == pytest.approx(
        optimum.value, rel=1e-9, abs=1e-11 * case.magnitude(alpha)
    )


def definite(case):
    problem = replace(case.problem, ridge=case.problem.ridge + 0.1)
    return case._replace(machine=replace(case.machine, problem=problem))


def test_a_parabola_in_a_box_peaks_where_the_formula_says():
    problem = one_sum(linear=[3.0, 1.0], lower=[0.0, -5.0], upper=[5.0, 0.0], total=0.0)
    optimum = naive.solve_dual(problem, np.eye(2))
    np.testing.assert_allclose(optimum.alpha, [1.0, -1.0], rtol=1e-12)
    assert optimum.value == pytest.approx(1.0, rel=1e-12)


def test_a_linear_program_ends_in_its_corner():
    problem = one_sum(linear=[3.0, 2.0, 1.0], lower=[0.0] * 3, upper=[1.0] * 3, total=1.5)
    optimum = naive.solve_dual(problem, np.zeros((3, 3)))
    np.testing.assert_allclose(optimum.alpha, [1.0, 0.5, 0.0], rtol=1e-15, atol=0)


def test_an_unbounded_problem_is_refused():
    x, y = np.array([-1.0, 0.0, 1.0]), np.array([1.0, -1.0, 1.0])
    with pytest.raises(ArithmeticError, match="gap"):
        naive.solve_dual(hard_margin(y).problem, np.outer(x, x))


def one_sum(linear, lower, upper, total):
    n = len(linear)
    return DualProblem(
        np.array(linear),
        np.array(lower),
        np.array(upper),
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        np.array([total]),
        n,
    )
