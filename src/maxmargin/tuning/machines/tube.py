"""Small ε-insensitive machines solved exactly, as `machine` does for the hinge loss.

    maximise  y·β − ε Σ|β_i| − ½ βᵀKβ   subject to   |β_i| ≤ C,  Σ β = 0

β is split into its positive and its negative part, each with its own box.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...dual import epsilon_svr
from ...solvers import solve
from .. import costs
from ..base import Float
from .optimum import SOLVE_TOL, Fit, optimum


class TubeFit(NamedTuple):
    """The optimum.

    Attributes
    ----------
    fit : Fit
        With β in place of α; the gradient is y − Kβ.
    sides : float array
        For each sample that fixes the bias, the side of the tube it lies on: y − f = side·ε.
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

    Beyond a few thousand samples it calls `solve`.
    """
    n = y.size
    start = None if beta is None else halved(beta)
    if 2 * n <= costs.LARGEST_MACHINE:
        lower, upper = np.zeros((2, 2 * n))
        lower[n:], upper[:n] = -C, C
        return _small(doubled(K), y, epsilon, lower, upper, start)
    problem = epsilon_svr(y, C, epsilon).problem
    solution = solve(problem, K, tol=SOLVE_TOL, alpha=start)
    alpha, gradient = solution.alpha, solution.gradient
    may_rise, may_fall = alpha < problem.upper, alpha > problem.lower
    free = np.flatnonzero(may_rise & may_fall)
    top = int(np.argmax(np.where(may_rise, gradient, -np.inf)))
    bottom = int(np.argmin(np.where(may_fall, gradient, np.inf)))
    violation = max(0.0, float(gradient[top] - gradient[bottom]))
    bias = float(solution.bias[0])
    both = Fit(alpha, gradient, bias, free, (top, bottom), violation, True)
    return joined(both, epsilon)


def left_out_tube_fit(
    Q: Float, y: Float, C: float, epsilon: float, beta: Float, left_out: int
) -> TubeFit:
    """The machine without one sample on Q = `doubled(K)`, from the β of the machine with it.

    The variables of that sample are fixed at zero; the gradient still has an entry for it, so that
    its output is y − G + b as for the others.
    """
    n = y.size
    lower, upper = np.zeros((2, 2 * n))
    lower[n:], upper[:n] = -C, C
    upper[left_out] = lower[n + left_out] = 0.0
    return _small(Q, y, epsilon, lower, upper, halved(beta))


def doubled(K: Float) -> Float:
    """The Gram matrix of the variables, two for each sample."""
    return np.tile(K, (2, 2))


def halved(beta: Float) -> Float:
    """The positive and the negative part of β."""
    return np.concatenate([np.maximum(beta, 0), np.minimum(beta, 0)])


def _small(
    Q: Float, y: Float, epsilon: float, lower: Float, upper: Float, start: Float | None
) -> TubeFit:
    linear = np.concatenate([y - epsilon, y + epsilon])
    return joined(optimum(Q, linear, lower, upper, 0.0, start), epsilon)


def joined(both: Fit, epsilon: float) -> TubeFit:
    """The machine whose β has the given positive and negative parts."""
    n = both.alpha.size // 2
    sides = np.zeros(n)
    fixing = both.free if both.free.size else np.array(both.meeting)
    np.add.at(sides, fixing % n, np.where(fixing < n, 1.0, -1.0))
    fit = Fit(
        both.alpha[:n] + both.alpha[n:],
        both.gradient[:n] + epsilon,
        both.bias,
        np.unique(both.free % n),
        (both.meeting[0] % n, both.meeting[1] % n),
        both.violation,
        both.bounded,
    )
    return TubeFit(fit, sides)
