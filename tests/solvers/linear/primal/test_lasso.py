"""Coordinate descent on the quadratic model of a Newton step with an absolute penalty."""

import numpy as np
import pytest

from maxmargin.solvers.linear.primal.lasso import descend


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
