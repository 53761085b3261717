"""Problems without a bias: against bounded quasi-Newton steps, and against what they come from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from maxmargin import solve
from maxmargin.dual import certify_expansion, epsilon_svr, hinge, nu_svc, nu_svr, squared_hinge
from maxmargin.kernels import Gaussian
from maxmargin.solvers.no_bias import MappedGram, largest_sum, padded


def problems(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    labels = np.where(X[:, 0] + rng.normal(size=n) > 0.5, 1.0, -1.0)
    targets, C = 3.0 + np.sin(X[:, 1]), rng.choice([0.0, 0.3, 1.0, 30.0], n)
    C[:4], labels[:4] = 1.0, [1, -1, 1, -1]
    return X, {
        "hinge": hinge(labels, C, intercept=False).problem,
        "squared hinge": squared_hinge(labels, C, intercept=False).problem,
        "regression": epsilon_svr(targets, C, 0.1, intercept=False).problem,
    }


def bounded_optimum(problem, K):
    """The dual value by L-BFGS-B."""
    Q = np.tile(K, (problem.copies, problem.copies)) + np.diag(problem.ridge)

    def loss(alpha):
        pull = Q @ alpha
        return 0.5 * alpha @ pull - problem.linear @ alpha, pull - problem.linear

    bounds = list(zip(problem.lower, problem.upper))
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 50_000, "maxfun": 200_000}
    start = np.zeros(problem.size)
    return -minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "regression"])
@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_the_box_alone(name, driver, seed):
    X, made = problems(seed)
    problem, gram = made[name], Gaussian(0.5).bind(X)
    found = solve(problem, gram, driver=driver, tol=1e-9)
    assert found.status == "converged"
    assert found.alpha.shape == (problem.size,)
    np.testing.assert_array_equal(found.bias, [0.0])
    K = gram.matrix()
    assert found.dual == pytest.approx(bounded_optimum(problem, K), rel=1e-7)
    proof = certify_expansion(problem, found.alpha, K @ problem.per_sample(found.alpha))
    assert proof.gap <= 1e-7 * proof.dual
    assert proof.violation == pytest.approx(found.violation, abs=1e-9)
    assert proof.infeasibility <= 1e-15


def test_the_sum_of_alpha_is_not_0():
    X, made = problems(0)
    alpha = solve(made["hinge"], Gaussian(0.5).bind(X)).alpha
    assert abs(alpha.sum()) > 0.1


def test_a_violation_is_that_of_single_variables():
    _, made = problems(1)
    problem = made["hinge"]
    gradient = np.zeros(problem.size)
    falling = int(np.flatnonzero(problem.upper > 0)[0])
    gradient[falling] = 0.25
    assert problem.violation(np.zeros(problem.size), gradient) == 0.25
    gradient[falling] = -0.25  # it cannot fall
    assert problem.violation(np.zeros(problem.size), gradient) == 0.0
    alpha = np.zeros(problem.size)
    alpha[falling] = 0.5 * problem.upper[falling]
    assert problem.violation(alpha, gradient) == 0.25


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "regression"])
def test_a_solution_is_a_start_that_stays(name):
    X, made = problems(2)
    gram = Gaussian(0.5).bind(X)
    first = solve(made[name], gram, tol=1e-6)
    again = solve(made[name], gram, tol=1e-5, alpha=first.alpha)
    assert again.steps == 0
    np.testing.assert_allclose(again.alpha, first.alpha, atol=1e-12)


def test_a_start_is_clipped_to_the_box_and_no_further():
    _, made = problems(2)
    problem = made["hinge"]
    alpha = np.full(problem.size, 0.2)
    np.testing.assert_array_equal(
        problem.feasible(alpha), np.clip(alpha, problem.lower, problem.upper)
    )


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "regression"])
def test_the_additional_variable_never_meets_its_bound(name):
    X, made = problems(3)
    problem = made[name]
    alpha = solve(problem, Gaussian(0.5).bind(X), tol=1e-9).alpha
    assert 2.0 * abs(alpha.sum()) <= largest_sum(problem) < np.inf
    assert padded(problem, None).samples == problem.samples + 1


def test_unlimited_boxes_leave_the_sum_unlimited():
    _, made = problems(0)
    hard = hinge(np.array([1.0, -1.0]), np.inf, intercept=False).problem
    assert largest_sum(hard) == np.inf
    assert (
        largest_sum(made["hinge"]) == 2.0 * np.abs(made["hinge"].upper - made["hinge"].lower).sum()
    )


def test_the_padded_matrix_has_zeros_where_the_additional_sample_is():
    X = np.random.default_rng(0).normal(size=(9, 2))
    places = np.append(np.arange(9), -1)
    gram = MappedGram(Gaussian(0.7).bind(X), places, np.ones(10))
    K = np.zeros((10, 10))
    K[:9, :9] = Gaussian(0.7)(X)
    np.testing.assert_allclose(gram.matrix(), K, atol=1e-15)
    np.testing.assert_array_equal(gram.diagonal(), K.diagonal())
    np.testing.assert_allclose(gram.rows(np.array([9, 2])), K[[9, 2]], atol=1e-15)
    columns = np.array([3, 9, 1])
    for _ in range(2):  # the second time from what is remembered
        block = gram.rows(np.array([1, 9, 4]), columns)
        np.testing.assert_allclose(block, K[np.ix_([1, 9, 4], columns)], atol=1e-15)
    part = gram.among(np.array([9, 5, 0]))
    np.testing.assert_allclose(part.matrix(), K[np.ix_([9, 5, 0], [9, 5, 0])], atol=1e-15)
    np.testing.assert_allclose(
        gram.matrix_among(np.array([2, 9])), K[np.ix_([2, 9], [2, 9])], atol=1e-15
    )


def test_a_mapped_matrix_repeats_samples_with_signs():
    X = np.random.default_rng(0).normal(size=(5, 2))
    places, signs = np.array([3, 0, 3, 4]), np.array([1.0, -1.0, -1.0, 1.0])
    K = Gaussian(0.7)(X)[np.ix_(places, places)] * np.outer(signs, signs)
    gram = MappedGram(Gaussian(0.7).bind(X), places, signs)
    np.testing.assert_allclose(gram.matrix(), K, atol=1e-15)
    np.testing.assert_array_equal(gram.diagonal(), np.ones(4))
    np.testing.assert_allclose(gram.rows(np.array([2, 0])), K[[2, 0]], atol=1e-15)
    part = gram.among(np.array([2, 1]))
    np.testing.assert_allclose(part.matrix(), K[np.ix_([2, 1], [2, 1])], atol=1e-15)


def nu_problems(seed, n=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    labels = np.where(X[:, 0] + rng.normal(size=n) > 0.8, 1.0, -1.0)
    labels[:2] = [1, -1]
    weight = rng.choice([0.5, 1.0, 3.0], n)
    return X, {
        "classes": nu_svc(labels, 0.4, weight, intercept=False).problem,
        "regression": nu_svr(3.0 + np.sin(X[:, 1]), 0.4, weight, intercept=False).problem,
    }


def summed_optimum(problem, K):
    """The dual value with the sum of |α| by SciPy's trust-region method."""
    signs = np.where(problem.group == 0, 1.0, -1.0)
    Q = np.tile(K, (problem.copies, problem.copies)) * np.outer(signs, signs)
    linear, total = signs * problem.linear, problem.totals[0] - problem.totals[1]
    size = np.maximum(np.abs(problem.lower), np.abs(problem.upper))
    found = minimize(
        lambda b: (0.5 * b @ Q @ b - linear @ b, Q @ b - linear),
        np.minimum(size, total / size.sum() * size),
        jac=True,
        bounds=list(zip(np.zeros(size.size), size)),
        constraints={"type": "eq", "fun": lambda b: b.sum() - total, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return -found.fun


@pytest.mark.parametrize("name", ["classes", "regression"])
@pytest.mark.parametrize("driver", ["full", "rows", "blocks"])
def test_nu_machines_demand_the_sum_of_sizes_alone(name, driver):
    X, made = nu_problems(0)
    problem, gram = made[name], Gaussian(0.5).bind(X)
    found = solve(problem, gram, driver=driver, tol=1e-9)
    assert found.status == "converged"
    K = gram.matrix()
    assert found.dual == pytest.approx(summed_optimum(problem, K), rel=1e-6)
    total = problem.totals[0] - problem.totals[1]
    assert np.abs(found.alpha).sum() == pytest.approx(total)
    assert found.bias[0] == -found.bias[1]
    proof = certify_expansion(problem, found.alpha, K @ problem.per_sample(found.alpha))
    assert proof.gap <= 1e-7 * abs(proof.dual)
    assert proof.infeasibility <= 1e-14
    again = solve(problem, gram, driver=driver, tol=1e-6, alpha=found.alpha)
    assert again.steps == 0
