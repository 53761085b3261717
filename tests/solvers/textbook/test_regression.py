"""Kernel regression by gradient steps, against the iteration written out."""

import numpy as np
import pytest

from maxmargin.solvers.textbook import kernel_regression, largest_rate

RANDOM = np.random.default_rng(0)
A = RANDOM.normal(size=(6, 6))
K = A @ A.T + np.eye(6)
T = RANDOM.normal(size=6)


def iterated(K, t, rate, penalty, steps):
    beta = np.zeros(len(t))
    for _ in range(steps):
        beta = beta + rate * (t - K @ beta - penalty * beta)
        error = t - K @ beta
        value = 0.5 * error @ error + 0.5 * penalty * beta @ K @ beta
        yield beta, value, np.abs(error - penalty * beta).max()


@pytest.mark.parametrize("single", [False, True])
def test_steps_and_history_are_those_of_the_formulas(single):
    """With a diagonal matrix, single samples take the steps of the full gradient."""
    matrix = np.diag(np.diagonal(K)) if single else K
    rate = 0.7 * largest_rate(matrix, 0.4, single)
    found = kernel_regression(
        matrix, T, rate=rate, penalty=0.4, single=single, tol=0.0, max_steps=9
    )
    beta, value, residual = zip(*iterated(matrix, T, rate, 0.4, 9), strict=True)
    np.testing.assert_allclose(found.coef, beta[-1])
    np.testing.assert_allclose(found.trace.objective, value)
    np.testing.assert_allclose(found.trace.residual, residual)
    assert (found.status, found.steps) == ("step_limit", 9)


def test_single_samples_see_the_changes_of_those_before_them():
    t, matrix = np.array([1.0, 1.0]), np.array([[1.0, 0.5], [0.5, 1.0]])
    found = kernel_regression(matrix, t, rate=1.0, penalty=0.2, single=True, max_steps=1)
    # The second of the two has 1 − ½·1 left.
    assert sorted(found.coef.tolist()) == pytest.approx([0.5, 1.0])


def test_the_default_rate_is_half_of_the_largest():
    assert largest_rate(K) == pytest.approx(2.0 / np.linalg.eigvalsh(K).max())
    assert largest_rate(K, 0.5, single=True) == pytest.approx(2.0 / (K.diagonal().max() + 0.5))
    default = kernel_regression(K, T, max_steps=3)
    stated = kernel_regression(K, T, rate=0.5 * largest_rate(K, 0.0), max_steps=3)
    np.testing.assert_array_equal(default.coef, stated.coef)


def test_convergence_is_within_the_tolerance_and_not_before_it():
    found = kernel_regression(K, T, tol=1e-2)
    assert found.status == "converged"
    assert found.trace.residual[-1] <= 1e-2 < found.trace.residual[-2]
    assert np.abs(T - K @ found.coef).max() == pytest.approx(found.trace.residual[-1])
    at_once = kernel_regression(K, np.zeros(6), tol=0.0)
    assert (at_once.status, at_once.steps, at_once.trace.residual.size) == ("converged", 0, 0)
    last = kernel_regression(K, T).trace.residual
    assert last[-1] <= 1e-6 < last[-2]


@pytest.mark.parametrize("rate", [0.0, -1.0, 2.0, 3.0])
def test_rates_outside_of_the_stable_range_are_refused(rate):
    with pytest.raises(ValueError, match=r"rate must be in \(0, 2\)"):
        kernel_regression(np.eye(2), [1.0, 2.0], rate=rate)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="penalty must not be negative, got -1"):
        kernel_regression(np.eye(2), [1.0, 2.0], penalty=-1.0)
    with pytest.raises(ValueError, match="t must have 2 entries"):
        kernel_regression(np.eye(2), [1.0])


def test_orders_depend_on_the_seed_alone():
    runs = [
        kernel_regression(K, T, single=True, max_steps=2, **seed).coef.tolist()
        for seed in ({}, {"random_state": 0}, {"random_state": 1})
    ]
    assert runs[0] == runs[1] != runs[2]
