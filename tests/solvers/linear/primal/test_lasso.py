"""Newton's method with an absolute penalty: its certificate, and descent on the model of a step."""

import numpy as np
import pytest

from maxmargin.solvers.linear import CLASSIFICATION, Intercept, Point, as_matrix
from maxmargin.solvers.linear.primal.lasso import ProximalLasso, descend
from maxmargin.solvers.linear.records import LinearProblem


@pytest.mark.parametrize("intercept", [Intercept(False), Intercept(True, 0.25), Intercept(True, 9)])
def test_the_gap_is_that_of_a_feasible_dual_point_with_a_penalised_intercept(intercept):
    random = np.random.default_rng(1)
    X, y = random.normal(size=(40, 3)), np.where(random.random(40) < 0.7, 1.0, -1.0)
    w, b, C = np.array([0.5, 0.0, -1.0]), 0.75 if intercept.fitted else 0.0, 2.0
    problem = LinearProblem(
        as_matrix(X), CLASSIFICATION["squared_hinge"](y, np.full(40, C)), intercept
    )
    state = ProximalLasso(problem, Point(np.zeros(40), w, b), lambda: None)
    losses = C * np.maximum(0.0, 1.0 - y * (X @ w + b)) ** 2
    objective = np.abs(w).sum() + intercept.penalty * abs(b) + losses.sum()
    assert state.objective == pytest.approx(objective, rel=1e-12)
    beta = state.dual
    assert (y * beta >= 0).all()
    assert np.abs(X.T @ beta).max() <= 1 + 1e-12
    assert not intercept.fitted or abs(beta.sum()) <= intercept.penalty * (1 + 1e-12)
    assert state.gap == pytest.approx(objective - (y * beta - beta**2 / (4 * C)).sum(), rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_descent_ends_where_no_coordinate_lowers_the_model(seed):
    random = np.random.default_rng(seed)
    A = random.normal(size=(12, 6))
    H, slope = A.T @ A, 8.0 * random.normal(size=6)
    at = np.where(random.random(6) < 0.5, 0.0, random.normal(size=6))
    weights = np.full(6, 5.0)
    step, gradient = np.zeros(6), slope.copy()
    assert descend(H, gradient, at, weights, step, 10_000, 1e-13)
    reached, smooth = at + step, slope + H @ step
    np.testing.assert_allclose(gradient, smooth, atol=1e-10)
    zero = np.abs(reached) < 1e-12
    assert 0 < zero.sum() < 6
    np.testing.assert_array_less(np.abs(smooth[zero]), 5.0 + 1e-9)
    np.testing.assert_allclose(smooth[~zero], -5.0 * np.sign(reached[~zero]), atol=1e-9)


def test_a_step_to_weights_of_zero_is_taken_in_full():
    random = np.random.default_rng(0)
    X, w = random.normal(size=(20, 3)), np.array([0.3, -0.2, 0.0])
    loss = CLASSIFICATION["squared_hinge"](np.sign(random.normal(size=20)), np.full(20, 1e-3))
    problem = LinearProblem(as_matrix(X), loss, Intercept(False))
    state = ProximalLasso(problem, Point(np.zeros(20), w, 0.0), lambda: None)
    state._move(np.arange(3), problem.matrix, np.append(-w, 0.0), np.ones(4))
    assert (state.w == 0.0).all()
