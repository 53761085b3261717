"""The perceptron, in the primal and in the dual.

    wherever y_i (w·x_i + b) ≤ 0:   w ← w + y_i x_i,   b ← b + y_i          (primal)
                                    α_i ← α_i + 1                           (dual)

with w = Σ α_i y_i x_i and b = Σ α_i y_i. It converges if the data are separable (Novikoff).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dual.problem import Float
from .primal import checked
from .record import CountedMatrix


class Perceptron(NamedTuple):
    """The separating function found.

    Attributes
    ----------
    weights : float array
        In the primal; in the dual α, the mistakes made at each sample.
    intercept : float
    status : str
        "converged" if all samples are classified correctly, else "step_limit".
    mistakes : int
    trace : list of int
        The sample of each mistake.
    """

    weights: Float
    intercept: float
    status: str
    mistakes: int
    trace: list[int]


def perceptron(X: Any, y: Any, *, max_epochs: int = 1000) -> Perceptron:
    """Learn a separating plane from its mistakes.

    Parameters
    ----------
    X : array of shape (samples, features)
    y : array of −1 and +1
    max_epochs : int

    Returns
    -------
    Perceptron

    Examples
    --------
    >>> from maxmargin.solvers.textbook import perceptron
    >>> perceptron([[-1.0], [1.0]], [-1, 1]).status
    'converged'
    """
    A, labels = checked(X, y)
    w, b = np.zeros(A.shape[1]), 0.0
    trace: list[int] = []
    for _ in range(max_epochs):
        before = len(trace)
        for i in range(len(labels)):
            if labels[i] * (A[i] @ w + b) <= 0:
                w, b = w + labels[i] * A[i], b + labels[i]
                trace.append(i)
        if len(trace) == before:
            return Perceptron(w, float(b), "converged", len(trace), trace)
    return Perceptron(w, float(b), "step_limit", len(trace), trace)


def kernel_perceptron(K: Any, y: Any, *, max_epochs: int = 1000) -> Perceptron:
    """The perceptron in the dual, for any kernel.

    Parameters
    ----------
    K : array of shape (samples, samples)
    y : array of −1 and +1
    max_epochs : int

    Returns
    -------
    Perceptron

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.textbook import kernel_perceptron
    >>> x = np.array([[-1.0], [1.0]])
    >>> kernel_perceptron(x @ x.T, [-1, 1]).weights
    array([1., 1.])
    """
    matrix = CountedMatrix(K)
    _, labels = checked(np.zeros((len(matrix.matrix), 1)), y)
    alpha, values = np.zeros(len(labels)), np.zeros(len(labels))
    trace: list[int] = []
    for _ in range(max_epochs):
        before = len(trace)
        for i in range(len(labels)):
            if labels[i] * values[i] <= 0:
                alpha[i] += 1.0
                # The bias moves with α: k + 1 is the kernel of inputs with a constant feature.
                values = values + labels[i] * (matrix.row(i) + 1.0)
                trace.append(i)
        if len(trace) == before:
            return Perceptron(alpha, float(alpha @ labels), "converged", len(trace), trace)
    return Perceptron(alpha, float(alpha @ labels), "step_limit", len(trace), trace)
