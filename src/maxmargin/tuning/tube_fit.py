"""Small ε-insensitive machines solved exactly, as `machine` does for the hinge loss.

    maximise  y·β − ε Σ|β_i| − ½ βᵀKβ   subject to   |β_i| ≤ C,  Σ β = 0

β is split into its positive and its negative part, each with a box of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dual import epsilon_svr
from ..solvers import solve
from .base import Float
from .machine import LARGEST, SOLVE_TOL, Fit, optimum


class TubeFit(NamedTuple):
    """The optimum.

    Attributes
    ----------
    fit : Fit
        With β in place of α; the gradient is y − Kβ.
    sides : float array
        For each sample the side of the tube at which it fixes the bias, if it does: y − f = side·ε.
    """

    fit: Fit
    sides: Float


def tube_fit(
    K: Float,
    y: Float,
    C: float,
    epsilon: float,
    beta: Float | None = None,
) -> TubeFit:
    """The machine with ε-insensitive loss on the Gram matrix K, from any β.

    Beyond a few thousand samples `solve` does it.
    """
    n = y.size
    start = None if beta is None else np.concatenate([np.maximum(beta, 0), np.minimum(beta, 0)])
    if 2 * n <= LARGEST:
        linear = np.concatenate([y - epsilon, y + epsilon])
        lower, upper = np.zeros((2, 2 * n))
        lower[n:], upper[:n] = -C, C
        both = optimum(np.tile(K, (2, 2)), linear, lower, upper, 0.0, start)
        alpha, gradient, bias, free = both.alpha, both.gradient, both.bias, both.free
        meeting, violation, bounded = both.meeting, both.violation, both.bounded
    else:
        problem = epsilon_svr(y, C, epsilon).problem
        solution = solve(problem, K, tol=SOLVE_TOL, alpha=start)
        alpha, gradient, bias = solution.alpha, solution.gradient, float(solution.bias[0])
        may_rise, may_fall = alpha < problem.upper, alpha > problem.lower
        free = np.flatnonzero(may_rise & may_fall)
        top = int(np.argmax(np.where(may_rise, gradient, -np.inf)))
        bottom = int(np.argmin(np.where(may_fall, gradient, np.inf)))
        meeting, violation = (top, bottom), max(0.0, float(gradient[top] - gradient[bottom]))
        bounded = True
    sides = np.zeros(n)
    fixing = free if free.size else np.array(meeting)
    np.add.at(sides, fixing % n, np.where(fixing < n, 1.0, -1.0))
    fit = Fit(
        alpha[:n] + alpha[n:],
        gradient[:n] + epsilon,
        bias,
        np.unique(free % n),
        (meeting[0] % n, meeting[1] % n),
        violation,
        bounded,
    )
    return TubeFit(fit, sides)
