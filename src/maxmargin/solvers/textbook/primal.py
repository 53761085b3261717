"""In the primal: stochastic subgradient descent on the hinge loss.

    ½‖w‖² + C Σ_i max(0, 1 − y_i(w·x_i + b)) → min

A step at sample i with η_t = 1/(t + t₀) in units of the penalty λ = 1/(Cn):

    w ← (1 − η_t) w + η_t·Cn·y_i x_i·[y_i f(x_i) < 1]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dual.problem import Float


class DescentTrace(NamedTuple):
    """After every epoch: the objective of the last and of the averaged iterate, ‖w‖, mistakes."""

    objective: Float
    averaged: Float
    norm: Float
    mistakes: Float


class Descent(NamedTuple):
    """The averaged weights, and the history of the run. There is no certificate."""

    weights: Float
    intercept: float
    objective: float
    status: str
    steps: int
    trace: DescentTrace


def hinge_sgd(
    X: Any,
    y: Any,
    C: float = 1.0,
    *,
    epochs: int = 100,
    fit_intercept: bool = True,
    random_state: int = 0,
) -> Descent:
    """Subgradient descent over random permutations, with the average of the second half.

    The status is always "step_limit", because the distance to the optimum is unknown.

    Parameters
    ----------
    X : array of shape (samples, features)
    y : array of −1 and +1
    C : float
    epochs : int
    fit_intercept : bool
    random_state : int

    Returns
    -------
    Descent

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.textbook import hinge_sgd
    >>> X, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    >>> bool(abs(hinge_sgd(X, y, epochs=500).weights[0] - 1.0) < 0.05)
    True
    """
    A, labels = checked(X, y)
    if not C > 0:
        raise ValueError(f"C must be positive, got {C}")
    n, random = len(labels), np.random.default_rng(random_state)
    w, b, mean_w, mean_b, count, t = np.zeros(A.shape[1]), 0.0, np.zeros(A.shape[1]), 0.0, 0, 0
    rows = []
    for epoch in range(epochs):
        for i in random.permutation(n):
            t += 1
            rate = 1.0 / (t + n)
            inside = labels[i] * (A[i] @ w + b) < 1.0
            w = (1.0 - rate) * w
            if inside:
                w = w + rate * C * n * labels[i] * A[i]
                b = b + rate * C * labels[i] * fit_intercept
            if epoch >= epochs // 2:
                count += 1
                mean_w = mean_w + (w - mean_w) / count
                mean_b += (b - mean_b) / count
        seen = (mean_w, mean_b) if count else (w, b)
        rows.append(
            (
                hinge_objective(A, labels, C, w, b),
                hinge_objective(A, labels, C, *seen),
                float(np.linalg.norm(w)),
                float(np.sum(labels * (A @ w + b) <= 0)),
            )
        )
    columns = np.array(rows).reshape(-1, 4).T
    objective = hinge_objective(A, labels, C, mean_w, mean_b)
    return Descent(mean_w, float(mean_b), objective, "step_limit", t, DescentTrace(*columns))


def hinge_objective(X: Float, y: Float, C: float, w: Float, b: float) -> float:
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum())


def checked(X: Any, y: Any) -> tuple[Float, Float]:
    A, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if A.ndim != 2 or labels.shape != A.shape[:1]:
        raise ValueError(f"X and y must fit together, got shapes {A.shape} and {labels.shape}")
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise ValueError("y must hold labels -1 and +1 only")
    return A, labels
