"""SMO for linear kernels with β = Σ α_i x_i maintained (lecture 000): no Gram matrix, no rows.

Every step costs the inner products of two samples with each other and of β with all: the
gradient is G = y − Xβ.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from ....dual import hinge
from ....dual.problem import Float


class LinearSolution(NamedTuple):
    """The weights, the signed α behind them, and how the run ended."""

    weights: Float
    bias: float
    alpha: Float
    violation: float
    status: str
    steps: int
    seconds: float


def linear_smo(
    X: Any, y: Any, C: Any, *, tol: float = 1e-3, max_steps: int = 100_000
) -> LinearSolution:
    """Train the linear hinge machine by the maximum violating pair.

    Parameters
    ----------
    X : array of shape (samples, features)
    y : array of −1 and +1
    C : float or array
    tol : float
    max_steps : int

    Returns
    -------
    LinearSolution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.textbook import linear_smo
    >>> solution = linear_smo(np.array([[-1.0], [1.0]]), np.array([-1, 1]), C=1.0)
    >>> solution.weights, solution.bias
    (array([1.]), 0.0)
    """
    began = time.perf_counter()
    inputs: Float = np.asarray(X, dtype=np.float64)
    problem = hinge(y, C).problem
    if inputs.shape[:1] != (problem.samples,) or inputs.ndim != 2:
        raise ValueError(f"X must have a row for each of the {problem.samples} labels")
    labels, alpha = problem.linear, problem.feasible()
    weights = alpha @ inputs
    status, steps = "step_limit", 0
    gradient = labels - inputs @ weights
    while steps < max_steps:
        bias, violation = problem.bias_and_violation(alpha, gradient)
        if violation <= tol:
            status = "converged"
            break
        i = int(np.argmax(np.where(problem.can_rise(alpha), gradient, -np.inf)))
        j = int(np.argmin(np.where(problem.can_fall(alpha), gradient, np.inf)))
        between = inputs[i] - inputs[j]
        bend, slope = float(between @ between), float(gradient[i] - gradient[j])
        reach = min(problem.upper[i] - alpha[i], alpha[j] - problem.lower[j])
        step = min(reach, slope / bend) if bend > 0 else reach
        if np.isinf(step):
            status = "unbounded"
            break
        # Bounds are reached exactly, without rounding.
        alpha[i] = problem.upper[i] if step == problem.upper[i] - alpha[i] else alpha[i] + step
        alpha[j] = problem.lower[j] if step == alpha[j] - problem.lower[j] else alpha[j] - step
        weights = weights + step * between
        gradient = labels - inputs @ weights
        steps += 1
    bias, violation = problem.bias_and_violation(alpha, gradient)
    seconds = time.perf_counter() - began
    return LinearSolution(weights, float(bias[0]), alpha, violation, status, steps, seconds)
