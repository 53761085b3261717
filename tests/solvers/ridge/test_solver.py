"""Kernel ridge regression: every way of solving against the bordered system; certificates."""

import numpy as np
import pytest

from maxmargin.dual import certify, certify_least_squares, least_squares
from maxmargin.kernels import Gaussian, Linear, Polynomial, Precomputed
from maxmargin.solvers import solve
from maxmargin.solvers.ridge import RidgeSystem, leave_one_out, solve_ridge
from maxmargin.solvers.ridge.preconditioner import FullFactor, PartialFactor
from maxmargin.solvers.ridge.solver import Run, planned
from maxmargin.solvers.ridge.system import blockwise_product, product


def bordered(K, t, weight, penalty, intercept):
    """The slow truth: (β, b) from the system with one more row and column."""
    n = len(K)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K + penalty * np.diag(1 / weight)
    A[:n, n] = A[n, :n] = intercept
    A[n, n] = not intercept
    solved = np.linalg.solve(A, np.vstack([t, np.zeros(t.shape[1])]))
    return solved[:n], solved[n]


def problem(seed, n=120, targets=2, features=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, features))
    t = np.sin(X @ random.normal(size=(features, targets))) + 0.1
    return X, t, random.uniform(0.2, 3.0, n)


def system_of(seed, kernel, penalty=0.3, intercept=True, **sizes):
    X, t, weight = problem(seed, **sizes)
    return RidgeSystem(kernel.bind(X, np.float64), t, weight, penalty, intercept)


def certified(system, solution):
    values = product(system.gram, solution.coef)
    return [
        certify_least_squares(
            system.targets[:, k],
            system.weight,
            system.penalty,
            solution.coef[:, k],
            float(solution.intercept[k]) if system.intercept else None,
            values[:, k],
        )
        for k in range(system.targets.shape[1])
    ]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2, 0.5, 1.0), Linear()])
@pytest.mark.parametrize("memory", [np.inf, 0.0])
def test_solution_is_that_of_the_bordered_system(kernel, intercept, memory):
    system = system_of(1, kernel, intercept=intercept)
    solution = solve_ridge(system, gap=1e-20, memory=memory)
    coef, bias = bordered(
        kernel(system.gram.X), system.targets, system.weight, system.penalty, intercept
    )
    np.testing.assert_allclose(solution.coef, coef, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(solution.intercept, bias, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("method", ["mixed", "iterative"])
def test_float32_matrix_and_no_matrix_reach_the_gap_asked_for(method):
    kernel = Gaussian(0.2)
    system = system_of(2, kernel, penalty=1e-3, n=700)
    low_precision = kernel.bind(system.gram.X, np.float32)
    plan = planned(system, np.inf, 0.0, True)._replace(method=method, rank=60)
    solution = Run(system, 1e-12, plan, 0.0, low_precision, _watch()).by_iteration()
    assert solution.status == "converged"
    assert solution.iterations > 0
    for shown in certified(system, solution):
        assert 0 <= shown.gap <= 1e-12 * shown.primal


def _watch():
    from maxmargin.solvers.ridge.solver import Watch

    return Watch()


def test_hard_system_falls_back_to_the_factor_of_the_matrix():
    kernel = Gaussian(30.0)
    system = system_of(3, kernel, penalty=1e-6, n=400)
    low_precision = kernel.bind(system.gram.X, np.float32)
    plan = planned(system, np.inf, np.inf, True)._replace(method="mixed", rank=1)
    solution = Run(system, 1e-12, plan, np.inf, low_precision, _watch()).by_iteration()
    assert solution.status == "converged"
    for shown in certified(system, solution):
        assert shown.gap <= 1e-12 * shown.primal


def test_general_solver_and_general_certificate_agree_with_the_direct_solution():
    kernel, penalty = Gaussian(0.3), 0.3
    system = system_of(4, kernel, penalty, targets=1)
    solution = solve_ridge(system)
    (shown,) = certified(system, solution)
    machine = least_squares(system.targets[:, 0], system.weight / penalty)
    other = solve(machine.problem, kernel(system.gram.X), tol=1e-9)
    np.testing.assert_allclose(other.alpha, solution.coef[:, 0], atol=1e-7)
    assert other.dual * penalty == pytest.approx(shown.dual, rel=1e-9)
    general = certify(machine.problem, solution.coef[:, 0], system.gram, solution.intercept.copy())
    assert general.primal * penalty == pytest.approx(shown.primal, rel=1e-12)
    assert general.violation == pytest.approx(shown.violation, abs=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_gap_of_any_function_is_primal_minus_dual(intercept):
    system = system_of(5, Gaussian(0.3), intercept=intercept, targets=1)
    K = Gaussian(0.3)(system.gram.X)
    random = np.random.default_rng(0)
    coef = random.normal(size=system.size)
    if intercept:
        coef -= coef.mean()
    t, w, bias = system.targets[:, 0], system.weight, 0.7 if intercept else 0.0
    shown = certify_least_squares(t, w, 0.3, coef, bias if intercept else None, K @ coef)
    u = 0.3 * coef
    dual = t @ u - 0.5 * (u * u / w).sum() - u @ K @ u / 0.6
    primal = 0.5 * w @ (t - K @ coef - bias) ** 2 + 0.15 * coef @ K @ coef
    assert shown.primal == pytest.approx(primal)
    assert shown.dual == pytest.approx(dual)
    assert shown.gap == pytest.approx(primal - dual)
    assert shown.gap > 0


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("features", [2, 40])
def test_no_penalty_is_the_limit_of_small_ones(intercept, features):
    """Of a singular matrix (two features) and of a regular one."""
    X, t, weight = problem(6, n=30, features=features)
    kernel = Linear() if features == 2 else Gaussian(0.05)
    gram = kernel.bind(X, np.float64)
    limit = solve_ridge(RidgeSystem(gram, t, weight, 0.0, intercept))
    K = kernel(X)
    coef, bias = bordered(K, t, weight, 1e-7, intercept)
    np.testing.assert_allclose(
        K @ limit.coef + limit.intercept, K @ coef + bias, rtol=1e-4, atol=1e-5
    )


def test_no_penalty_is_least_squares_in_the_primal():
    X, t, weight = problem(7, n=50, features=3)
    limit = solve_ridge(RidgeSystem(Linear().bind(X, np.float64), t, weight, 0.0, True))
    design = np.column_stack([X, np.ones(50)]) * np.sqrt(weight)[:, None]
    expected = np.linalg.lstsq(design, t * np.sqrt(weight)[:, None], rcond=None)[0]
    np.testing.assert_allclose(X.T @ limit.coef, expected[:-1], atol=1e-10)
    np.testing.assert_allclose(limit.intercept, expected[-1], atol=1e-10)


def test_partial_factor_of_full_rank_is_the_inverse():
    system = system_of(8, Polynomial(2, 1.0, 1.0), n=200)
    partial = PartialFactor.of(system.gram, system.ridge, 40)
    assert partial.rank <= 40
    A = system.gram.matrix() + np.diag(system.ridge)
    right = system.right_sides()
    np.testing.assert_allclose(
        partial.solve(right), np.linalg.solve(A, right), rtol=1e-6, atol=1e-8
    )


def test_full_factor_says_when_a_matrix_is_not_positive():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert FullFactor.of(K.copy(), np.full(2, 0.5)) is None
    assert FullFactor.of(K.copy(), np.full(2, 1.5)) is not None


@pytest.mark.parametrize("n", [1, 511, 1200])
def test_blocks_of_a_product_add_up(n):
    X = np.random.default_rng(9).normal(size=(n, 2))
    B = np.random.default_rng(10).normal(size=(n, 3))
    gram = Gaussian(0.5).bind(X, np.float64)
    np.testing.assert_allclose(blockwise_product(gram, B), Gaussian(0.5)(X) @ B, atol=1e-10)


def test_leaving_out_part_of_a_weight_is_a_refit():
    system = system_of(11, Gaussian(0.3), n=25)
    solution = solve_ridge(system, leave_one_out=True)
    left_out = system.weight * np.linspace(0.0, 1.0, 25)
    residuals = leave_one_out(system, solution.coef, solution.inverse, left_out)
    K = Gaussian(0.3)(system.gram.X)
    for i in (1, 12, 24):
        weight = system.weight.copy()
        weight[i] = max(weight[i] - left_out[i], 1e-12)
        coef, bias = bordered(K, system.targets, weight, system.penalty, True)
        expected = system.targets[i] - K[i] @ coef - bias
        np.testing.assert_allclose(residuals[i], expected, rtol=1e-6, atol=1e-9)


def test_indefinite_matrix_gives_a_stationary_point():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    gram = Precomputed().bind(K)
    solution = solve_ridge(RidgeSystem(gram, np.ones((2, 1)), np.ones(2), 0.5, False))
    assert solution.status == "stationary"
    np.testing.assert_allclose((K + 0.5 * np.eye(2)) @ solution.coef, 1.0)


def test_plan_says_what_will_run():
    system = system_of(12, Gaussian(0.3))
    assert "float64 Cholesky" in str(planned(system, np.inf, np.inf, True))
    assert "no matrix" in str(planned(system, np.inf, 0.0, True))
    assert "eigenvalues" in str(planned(system._replace(penalty=0.0), np.inf, np.inf, True))
