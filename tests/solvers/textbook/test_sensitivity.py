"""Spans are distances, their count predicts leave-one-out errors, derivatives are differences."""

import numpy as np
import pytest

from maxmargin import solve
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian
from maxmargin.solvers.textbook import (
    derivative_in_C,
    derivative_in_parameter,
    derivative_of_values,
    span_count,
    spans,
)


def fitted(gamma=0.4, C=1.5, seed=3, n=40):
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = random.normal(size=(n, 2)) + 0.6 * y[:, None]
    problem = hinge(y, C).problem
    K = Gaussian(gamma)(X)
    return X, y, problem, K, solve(problem, K, tol=1e-13)


def test_span_of_a_free_vector_is_its_distance_from_the_affine_hull_of_the_others():
    _, _, problem, K, solution = fitted()
    found = spans(problem, K, solution.alpha)
    free = np.flatnonzero(problem.free(solution.alpha))
    n, rest = free[0], free[1:]
    # ‖Φ_n − Σλ_pΦ_p‖² with Σλ = 1, by Lagrange.
    m = rest.size
    A = np.ones((m + 1, m + 1))
    A[:m, :m], A[m, m] = K[np.ix_(rest, rest)], 0.0
    weights = np.linalg.solve(A, np.append(K[rest, n], 1.0))[:m]
    square = K[n, n] - 2 * weights @ K[rest, n] + weights @ K[np.ix_(rest, rest)] @ weights
    assert found[n] ** 2 == pytest.approx(square, rel=1e-6)
    assert np.isnan(found[solution.alpha == 0]).all()


def test_margin_lost_by_a_leaving_sample_is_alpha_times_the_squared_span():
    """Where the sets stay as they are: a machine that keeps its margins free."""
    _, y, problem, K, solution = fitted()
    found = spans(problem, K, solution.alpha)
    u = np.flatnonzero(problem.free(solution.alpha))
    f = K @ solution.alpha + solution.bias[0]
    n, rest = u[0], u[1:]
    H = np.ones((rest.size + 1, rest.size + 1))
    H[:-1, :-1], H[-1, -1] = K[np.ix_(rest, rest)], 0.0
    bounded = np.flatnonzero(~problem.free(solution.alpha) & (solution.alpha != 0))
    fixed = solution.alpha[bounded]
    right = np.append(y[rest] - K[np.ix_(rest, bounded)] @ fixed, -fixed.sum())
    without = np.linalg.solve(H, right)
    value = K[n, rest] @ without[:-1] + K[n, bounded] @ fixed + without[-1]
    loss = y[n] * (f[n] - value)
    assert loss == pytest.approx(abs(solution.alpha[n]) * found[n] ** 2, rel=1e-6)


def test_count_is_near_the_leave_one_out_errors():
    _, y, problem, K, solution = fitted()
    errors = 0
    for i in range(y.size):
        rest = np.arange(y.size) != i
        sub = hinge(y[rest], 1.5).problem
        left = solve(sub, K[np.ix_(rest, rest)], tol=1e-9)
        errors += y[i] * (K[i, rest] @ left.alpha + left.bias[0]) <= 0
    count = span_count(problem, K, solution.alpha, solution.bias[0])
    assert abs(count - errors) <= 2


def test_derivatives_in_the_kernel_parameter_are_differences():
    X, _y, problem, K, solution = fitted()
    step, new = 1e-6, np.random.default_rng(0).normal(size=(5, 2))
    squares = ((X[:, None] - X) ** 2).sum(-1)
    found = derivative_in_parameter(problem, K, solution.alpha, -squares * K)
    above, below = fitted(0.4 + step)[-1], fitted(0.4 - step)[-1]
    np.testing.assert_allclose(found.alpha, (above.alpha - below.alpha) / (2 * step), atol=1e-3)
    assert found.bias == pytest.approx((above.bias[0] - below.bias[0]) / (2 * step), abs=1e-3)
    block = Gaussian(0.4)(new, X)
    slope = derivative_of_values(
        block, solution.alpha, found, -((new[:, None] - X) ** 2).sum(-1) * block
    )
    values = [
        Gaussian(0.4 + s)(new, X) @ one.alpha + one.bias[0]
        for s, one in ((step, above), (-step, below))
    ]
    np.testing.assert_allclose(slope, (values[0] - values[1]) / (2 * step), atol=1e-3)


def test_derivatives_in_C_are_differences():
    _X, _y, problem, K, solution = fitted()
    step = 1e-6
    found = derivative_in_C(problem, K, solution.alpha)
    above, below = fitted(C=1.5 + step)[-1], fitted(C=1.5 - step)[-1]
    np.testing.assert_allclose(found.alpha, (above.alpha - below.alpha) / (2 * step), atol=1e-3)
    assert found.bias == pytest.approx((above.bias[0] - below.bias[0]) / (2 * step), abs=1e-3)
    slope = derivative_of_values(K, solution.alpha, found)
    assert np.abs(slope[problem.free(solution.alpha)]).max() < 1e-8  # free ones stay on the margin


def test_machine_without_free_vector_has_no_spans():
    x = np.array([-1.0, 1.0])
    problem = hinge(x, 0.1).problem
    with pytest.raises(ValueError, match="no support vector is free"):
        spans(problem, np.outer(x, x), np.array([-0.1, 0.1]))
