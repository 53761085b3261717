"""Newton's method for softmax regression."""

import numpy as np
import pytest

from maxmargin.solvers.linear import Intercept, as_matrix
from maxmargin.solvers.linear.primal.softmax import SoftmaxProblem, measure, placed


@pytest.mark.parametrize("intercept", [Intercept(True), Intercept(True, 0.5)])
def test_the_gradient_in_the_intercept_is_the_slope_of_the_objective(intercept):
    # Probabilities of 1e-26, which cannot be moved to balance a free intercept.
    X, y = np.array([[60.0], [-60.0], [30.0], [0.0]]), np.array([1, 1, 2, 0])
    W, b, step = np.array([[1.0], [-1.0], [0.0]]), np.array([60.0, 0.0, -60.0]), 1e-5
    problem = SoftmaxProblem(as_matrix(X), y, np.ones(4), 3, intercept)
    slope = measure(problem, placed(problem, W, b)).intercept_gradient
    below, above = (
        np.array([measure(problem, placed(problem, W, b + side)).objective for side in sides])
        for sides in (-step * np.eye(3), step * np.eye(3))
    )
    assert np.abs(slope).max() > 0.1
    np.testing.assert_allclose(slope, (above - below) / (2 * step), atol=1e-6)
