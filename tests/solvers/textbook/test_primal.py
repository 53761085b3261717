"""Subgradient descent, written out where the order of the samples makes no difference."""

import numpy as np
import pytest

from maxmargin.solvers.textbook import hinge_sgd
from maxmargin.solvers.textbook.primal import hinge_objective


def naive(x, C, n, epochs, intercept):
    """n samples at x, all positive: (w, b) after each step."""
    w, b, points = np.zeros(len(x)), 0.0, []
    for t in range(1, epochs * n + 1):
        eta = 1.0 / (t + n)
        gradient = x if x @ w + b < 1.0 else 0.0 * x
        w = (1 - eta) * w + eta * C * n * gradient
        b += eta * C * intercept * bool(gradient.any())
        points.append((w, b))
    return points


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("epochs", [1, 6, 7])
def test_steps_averages_and_history_are_those_of_a_naive_loop(intercept, epochs):
    x, C, n = np.array([0.6, -0.3]), 0.8, 4
    X, y = np.tile(x, (n, 1)), np.ones(n)
    if not intercept:
        # Mirrored samples of the other class take the same steps.
        X[1::2], y[1::2] = -x, -1.0
    found = hinge_sgd(X, y, C, epochs=epochs, fit_intercept=intercept)
    points = naive(x, C, n, epochs, intercept)
    later = points[n * (epochs // 2) :]
    w, b = (np.mean([point[k] for point in later], axis=0) for k in (0, 1))
    np.testing.assert_allclose(found.weights, w)
    assert found.intercept == pytest.approx(b)
    assert (found.steps, found.status) == (n * epochs, "step_limit")

    def objective(w, b):
        return 0.5 * w @ w + C * sum(max(0.0, 1.0 - y[i] * (X[i] @ w + b)) for i in range(n))

    assert found.objective == pytest.approx(objective(w, b))
    ends = points[n - 1 :: n]
    np.testing.assert_allclose(found.trace.objective, [objective(*point) for point in ends])
    np.testing.assert_allclose(found.trace.norm, [np.linalg.norm(point[0]) for point in ends])
    for epoch, told in enumerate(found.trace.averaged):
        own = points[n * (epochs // 2) : n * (epoch + 1)] or [ends[epoch]]
        middle = [np.mean([point[k] for point in own], axis=0) for k in (0, 1)]
        assert told == pytest.approx(objective(*middle))


def test_mistakes_are_samples_on_the_wrong_side():
    X, y = np.array([[1.0], [2.0], [3.0], [-0.5]]), np.array([1.0, 1.0, 1.0, 1.0])
    assert hinge_sgd(X, y, epochs=3, fit_intercept=False).trace.mistakes.tolist() == [1, 1, 1]


def test_the_order_is_drawn_with_the_seed():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(12, 2)), np.resize([1.0, -1.0], 12)
    default, same, other = (
        hinge_sgd(X, y, epochs=2, **seed).weights.tolist()
        for seed in ({}, {"random_state": 0}, {"random_state": 1})
    )
    assert default == same != other
    assert default == hinge_sgd(X, y, 1.0, epochs=2, fit_intercept=True).weights.tolist()
    assert hinge_sgd(X, y).steps == 100 * 12


def test_the_objective_counts_margins_below_one():
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])
    assert hinge_objective(X, y, 3.0, np.array([2.0]), 0.5) == 2.0 + 3.0 * 2.5


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([1.0, 2.0], [1, -1], "must fit together"),
        ([[1.0], [2.0]], [1], "must fit together"),
        ([[1.0], [2.0]], [1, 0], "labels -1 and"),
    ],
)
def test_bad_data_are_named(X, y, message):
    with pytest.raises(ValueError, match=message):
        hinge_sgd(X, y)


def test_C_is_positive():
    with pytest.raises(ValueError, match="C must be positive, got 0"):
        hinge_sgd([[1.0], [2.0]], [1, -1], 0.0)
