"""The machines of a few samples along a path of C, in one compiled call.

A pair of classes with a hundred samples is solved in less time than Python takes to ask for it,
and 26 classes have 325 pairs.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import compiled
from ..base import Float
from .optimum import pair_steps


@compiled
def small_path(
    Q: Float,
    labels: Float,
    penalty: Float,
    Cs: Float,
    tol: float,
    alphas: Float,
    gradients: Float,
    biases: Float,
) -> int:
    """Machines by ascending C, each from the best feasible multiple of the one before.

    Writes a row for each C and returns how many are done: pair steps may be too slow for the rest.
    """
    n = labels.size
    alpha, gradient = np.zeros(n), labels.copy()
    lower, upper = np.empty(n), np.empty(n)
    for k in range(Cs.size):
        if k:
            linear, quadratic = 0.0, 0.0
            for a in range(n):
                linear += labels[a] * alpha[a]
                quadratic += alpha[a] * (labels[a] - gradient[a])
            stretch = Cs[k] / Cs[k - 1]
            if quadratic > 0.0:
                stretch = min(stretch, max(linear / quadratic, 1.0))
            for a in range(n):
                alpha[a] *= stretch
                gradient[a] = labels[a] - stretch * (labels[a] - gradient[a])
        for a in range(n):
            bound = Cs[k] * labels[a] * penalty[a]
            lower[a], upper[a] = min(bound, 0.0), max(bound, 0.0)
            alpha[a] = min(max(alpha[a], lower[a]), upper[a])
        # What takes more steps is left to Newton steps.
        _, violation = pair_steps(Q, alpha, gradient, lower, upper, tol, 20 * n)
        if not violation <= tol:
            return k
        free, total, top, bottom = 0, 0.0, -np.inf, np.inf
        for a in range(n):
            if alpha[a] < upper[a]:
                top = max(top, gradient[a])
            if alpha[a] > lower[a]:
                bottom = min(bottom, gradient[a])
            if lower[a] < alpha[a] < upper[a]:
                free += 1
                total += gradient[a]
        biases[k] = total / free if free else 0.5 * (top + bottom)
        alphas[k], gradients[k] = alpha, gradient
    return Cs.size
