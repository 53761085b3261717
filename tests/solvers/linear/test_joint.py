"""The joint machine of Crammer and Singer: objective and dual value written out, early ends."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from sklearn.datasets import load_digits, load_iris

from maxmargin.solvers.linear import Intercept, JointProblem, as_matrix, fit_joint

INTERCEPTS = [Intercept(True), Intercept(True, 1.0), Intercept(False)]


def objective(X, y, C, intercept, W, b):
    Z = X @ W.T + b
    own = Z[np.arange(len(y)), y]
    worst = (1.0 + Z - own[:, None] - np.eye(len(W))[y]).max(axis=1)
    return 0.5 * (W**2).sum() + 0.5 * intercept.penalty * b @ b + C @ worst


def dual_value(X, y, C, intercept, beta):
    """The dual objective of a point that is shown to be feasible."""
    k = beta.shape[1]
    ceiling = C[:, None] * np.eye(k)[y]
    assert (beta <= ceiling + 1e-12 * C.max()).all()
    np.testing.assert_allclose(beta.sum(axis=1), 0.0, atol=1e-12 * C.max())
    total = beta.sum(axis=0)
    own = 0.0
    if intercept.fitted and intercept.penalty > 0.0:
        own = 0.5 * total @ total / intercept.penalty
    elif intercept.fitted:
        np.testing.assert_allclose(total, 0.0, atol=1e-9 * np.abs(beta).sum())
    return -0.5 * ((beta.T @ X) ** 2).sum() - own - (beta * (1.0 - np.eye(k)[y])).sum()


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 30.0]), st.sampled_from(INTERCEPTS))
def test_objective_and_dual_value_written_out_meet(seed, C, intercept):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(3, 15)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    X = rng.integers(-3, 4, (n, d)) + 0.1 * rng.standard_normal((n, d))
    y = np.append(np.arange(k), rng.integers(0, k, n))[:n] % k
    cost = C * rng.choice([1.0, 2.5], n)
    solution = fit_joint(JointProblem(as_matrix(X), y, cost, k, intercept))
    primal = objective(X, y, cost, intercept, solution.w, solution.b)
    dual = dual_value(X, y, cost, intercept, solution.beta)
    assert primal == pytest.approx(dual, rel=1e-8, abs=1e-10)
    assert solution.certificate.primal == pytest.approx(primal, rel=1e-12)


def problem_of(X, y, C=1.0, intercept=INTERCEPTS[0]):
    return JointProblem(as_matrix(X), y, np.full(len(y), C), y.max() + 1, intercept)


def nearest(point, ceiling):
    """The nearest point that is nowhere above the ceiling and sums to 0."""
    shift = brentq(lambda t: np.minimum(point - t, ceiling).sum(), -50.0, 50.0, xtol=1e-14)
    return np.minimum(point - shift, ceiling)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_an_epoch_of_coordinate_descent_finds_the_best_response_of_each_sample_in_turn(storage):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)) * (rng.random((12, 3)) < 0.7), np.arange(12) % 3
    problem, cost = problem_of(storage(X), y), np.full(12, 1.0)
    beta, W, b = np.zeros((12, 3)), np.zeros((3, 3)), np.zeros(3)
    order, norms = np.arange(12), (X**2).sum(axis=1)
    problem.matrix.joint_sweep(problem.codes, cost, norms, beta, W, b, 0.5, order)
    expected = np.zeros((12, 3))
    for i in range(12):
        scores = X[i] @ (X.T @ expected) + 0.5 * expected.sum(axis=0) + (np.arange(3) != y[i])
        ceiling = cost[i] * (np.arange(3) == y[i])
        expected[i] = nearest(expected[i] - scores / (norms[i] + 0.5), ceiling)
    np.testing.assert_allclose(beta, expected, atol=1e-12)
    np.testing.assert_allclose(W, X.T @ expected, atol=1e-12)
    np.testing.assert_allclose(b, 0.5 * expected.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("C", [0.01, 100.0])
def test_digits_converge_to_a_certified_gap(C):
    X, y = load_digits(return_X_y=True)
    solution = fit_joint(problem_of(X / 16.0, y, C))
    assert solution.status == "converged"
    assert solution.certificate.relative_gap <= 1e-6


def test_sparse_and_dense_give_one_model():
    X, y = load_iris(return_X_y=True)
    dense, sparse = fit_joint(problem_of(X, y)), fit_joint(problem_of(sp.csr_array(X), y))
    np.testing.assert_allclose(dense.w, sparse.w, rtol=1e-8, atol=1e-9)


def test_dual_value_of_an_early_end_is_below_the_optimum():
    X, y = load_iris(return_X_y=True)
    best = fit_joint(problem_of(X, y, intercept=Intercept(True, 1.0))).certificate
    for steps in (1, 5, 12):
        early = fit_joint(problem_of(X, y, intercept=Intercept(True, 1.0)), max_steps=steps)
        assert early.status == "step_limit"
        assert early.certificate.dual <= best.primal * (1 + 1e-12)
        assert early.certificate.primal >= best.dual * (1 - 1e-12)
