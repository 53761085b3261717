"""Small exact machines against an independent quadratic program."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tuning.problems import blobs, board

from maxmargin.dual import DualProblem, enclosing_ball, hard_margin, hinge
from maxmargin.kernels import Gaussian, Linear
from maxmargin.tuning.machines.optimum import (
    hinge_fit,
    left_out_fit,
    optimum,
    position,
    repaired,
    shift_pair,
)


def fitted(problem, K, alpha=None):
    total = float(problem.totals[0])
    return optimum(K, problem.linear, problem.lower, problem.upper, total, alpha)


def dual(problem, fit):
    return problem.value(fit.alpha, fit.gradient)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 25),
    log_C=st.floats(-7, 9),
    log_gamma=st.floats(-5, 4),
    copies=st.booleans(),
)
def test_hinge_machine_is_optimal(seed, n, log_C, log_gamma, copies):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 2))
    if copies:
        X[random.integers(n, size=n // 2)] = X[0]
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    C, K = float(np.exp(log_C)), Gaussian(float(np.exp(log_gamma)))(X)
    problem = hinge(y, C).problem
    fit = hinge_fit(K, y, C)
    best = naive.solve_dual(problem, K)
    assert dual(problem, fit) == pytest.approx(best.value, rel=1e-9)
    assert fit.violation <= 1e-9 * max(1.0, C)
    assert fit.alpha.sum() == pytest.approx(0.0, abs=1e-10 * C * n)
    np.testing.assert_allclose(fit.gradient, y - K @ fit.alpha, atol=1e-9 * max(1.0, C))


@pytest.mark.parametrize("seed", range(5))
def test_hard_margin_machine_is_optimal(seed):
    X, y = board(seed=seed, noise=0.0)
    K, problem = Gaussian(3.0)(X), hard_margin(y).problem
    fit = fitted(problem, K)
    assert fit.bounded
    assert dual(problem, fit) == pytest.approx(naive.solve_dual(problem, K).value, rel=1e-9)


def test_classes_that_nothing_separates_are_reported():
    K = Linear()(np.array([[0.0], [1.0], [2.0]]))
    assert not fitted(hard_margin(np.array([1.0, -1.0, 1.0])).problem, K).bounded


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
def test_enclosing_ball_is_optimal(gamma):
    X, _ = blobs(60)
    K = Gaussian(gamma)(X)
    problem = enclosing_ball(np.diagonal(K)).problem
    fit = fitted(problem, K)
    assert dual(problem, fit) == pytest.approx(naive.solve_dual(problem, K).value, rel=1e-10)


def test_any_start_leads_to_the_same_machine():
    X, y = board()
    K = Gaussian(2.0)(X)
    starts = [None, np.random.default_rng(0).standard_normal(len(y)), 100.0 * y]
    fits = [hinge_fit(K, y.astype(float), 5.0, start) for start in starts]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.alpha, fits[0].alpha, atol=1e-10)


def test_bias_is_the_middle_where_no_vector_is_free():
    X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    fit = hinge_fit(Linear()(X), y, C=0.1)
    assert fit.free.size == 0
    assert sorted(fit.meeting) == [0, 1]
    assert fit.bias == 0.0


def test_more_free_vectors_than_features_are_no_obstacle():
    """A linear kernel on d features has d + 1 free vectors, whose Gram matrix is singular."""
    X, y = blobs(40, seed=1)
    K, problem = Linear()(X), hinge(y, 1.0).problem
    fit = fitted(problem, K)
    assert fit.free.size == 3
    assert dual(problem, fit) == pytest.approx(naive.solve_dual(problem, K).value, rel=1e-10)
    assert fit.violation < 1e-11


def test_large_machines_are_left_to_the_solver(monkeypatch):
    X, y = board(120)
    K = Gaussian(2.0)(X)
    small = hinge_fit(K, y.astype(float), 5.0)
    monkeypatch.setattr("maxmargin.tuning.costs.LARGEST_MACHINE", 10)
    large = hinge_fit(K, y.astype(float), 5.0)
    np.testing.assert_allclose(large.alpha, small.alpha, atol=1e-5)
    assert large.bias == pytest.approx(small.bias, abs=1e-6)


def test_machine_without_a_sample_is_the_machine_of_the_others():
    X, y = blobs(30)
    K, y = Gaussian(0.5)(X), y.astype(float)
    fit = hinge_fit(K, y, 2.0)
    others = np.arange(30) != 7
    without = left_out_fit(K, y, 2.0, fit.alpha, 7)
    again = hinge_fit(np.ascontiguousarray(K[np.ix_(others, others)]), y[others], 2.0)
    np.testing.assert_allclose(without.alpha[others], again.alpha, atol=1e-10)
    assert without.alpha[7] == 0.0
    output = K[7, others] @ again.alpha + again.bias
    assert y[7] - without.gradient[7] + without.bias == pytest.approx(output, abs=1e-10)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 12))
def test_repair_is_feasible(seed, n):
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    box = random.uniform(0, 3, n) * y
    lower, upper = np.minimum(box, 0.0), np.maximum(box, 0.0)
    alpha = 5 * random.standard_normal(n)
    repaired(alpha, lower, upper, 0.0)
    assert (lower <= alpha).all()
    assert (alpha <= upper).all()
    assert abs(alpha.sum()) < 1e-12


def test_repair_leaves_a_feasible_point_alone():
    problem = hinge(np.array([1.0, -1.0, 1.0, -1.0]), 0.1).problem
    alpha = np.array([0.1, -0.1, 0.05, -0.05])
    kept = alpha.copy()
    repaired(alpha, problem.lower, problem.upper, 0.0)
    assert np.array_equal(alpha, kept)
    assert isinstance(problem, DualProblem)


def test_small_coefficients_survive_a_huge_C():
    X, y = board(60, noise=0.0)
    K = Gaussian(20.0)(X)
    hard = fitted(hard_margin(y).problem, K)
    soft = hinge_fit(K, y.astype(float), 1e13)
    np.testing.assert_allclose(soft.alpha, hard.alpha, rtol=1e-7, atol=1e-10)


def test_position_is_that_of_the_first_entry_as_large_as_a_value():
    assert position(np.array([3.0, 1.0, 5.0, 4.0]), 4.0) == 2


@pytest.mark.parametrize("values", [[5.0, 5.0, 1.0], [5.0, 1.0, 5.0]])
def test_position_is_that_of_the_first_largest_entry_if_none_is_as_large(values):
    assert position(np.array(values), 6.0) == 0


@pytest.mark.parametrize("rising", [0, 1])
def test_a_bound_that_rounding_keeps_a_step_from_is_reached_all_the_same(rising):
    falling, end = 1 - rising, np.nextafter(0.3, 1.0)
    alpha, lower, upper = np.zeros((3, 2))
    alpha[falling], upper[rising], upper[falling] = end, 0.3, 1.0
    shift_pair(alpha, lower, upper, rising, falling, 0.3)
    assert alpha[rising] == 0.3
    assert alpha[falling] == 0.0
