"""One machine on a Gram matrix in memory, block by block from a point whose gradient is known.

    choose the free variables, the most violating ones, and those chosen in the rounds before
    optimise them by pair and Newton steps
    subtract the rows of those that moved from the gradient of all

Along a path of C most machines differ from the one before in some hundred variables: no pass over
all support vectors is needed, and rows are read where they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...kernels.row_sums import sum_rows
from ...linalg.bordered import Factor
from ...solvers.newton.projected_step import RULES, balanced, stopped_newton
from ...solvers.rows.lru import gather_block
from .. import costs
from ..base import Float
from .optimum import Int, newton, pair_steps, repaired


def moved_to_box(
    K: NDArray[np.floating], alpha: Float, gradient: Float, lower: Float, upper: Float
) -> None:
    """Make α feasible with Σ α = 0 and update its gradient, in place."""
    before = alpha.copy()
    repaired(alpha, lower, upper, 0.0)
    change = before - alpha
    # Onto a bound by rounding alone: of no effect on the gradient.
    there = np.flatnonzero(np.abs(change) > 1e-14 * np.abs(before))
    sum_rows(gradient, K, there, change[there], 0, gradient.size)


def optimised(
    K: NDArray[np.floating],
    alpha: Float,
    gradient: Float,
    lower: Float,
    upper: Float,
    tol: float,
) -> bool:
    """Maximise from a feasible α, in place with its gradient; whether `tol` was reached."""
    recent = np.zeros(0, dtype=np.int64)
    for _ in range(200):
        rising = np.where(alpha < upper, gradient, -np.inf)
        falling = np.where(alpha > lower, gradient, np.inf)
        top, bottom = float(rising.max()), float(falling.min())
        violation = top - bottom
        if violation <= tol:
            return True
        free = np.flatnonzero((lower < alpha) & (alpha < upper))
        count = max(costs.BLOCK, free.size // 4)
        chosen = np.union1d(
            largest_above(rising, bottom, count // 2), largest_above(-falling, -top, count // 2)
        )
        block = np.union1d(np.union1d(chosen, free), recent)
        inner = max(0.1 * violation, 0.5 * tol)
        optimise_block(K, block, alpha, gradient, lower, upper, inner)
        recent = np.union1d(recent, chosen) if recent.size <= 2 * count else chosen
    return False


def largest_above(scores: Float, limit: float, count: int) -> Int:
    """Places of the `count` largest scores above a limit."""
    places = np.flatnonzero(scores > limit)
    if places.size <= count:
        return places
    return np.sort(places[np.argpartition(-scores[places], count)[:count]])


def optimise_block(
    K: NDArray[np.floating],
    block: Int,
    alpha: Float,
    gradient: Float,
    lower: Float,
    upper: Float,
    tol: float,
) -> None:
    """Maximise over the variables of a block to a violation of `tol`, in place: turns of pair
    steps, one for each variable, and a Newton step."""
    Q = gather_block(K, block, block).astype(np.float64, copy=False)
    own, slope, low, high = alpha[block], gradient[block], lower[block], upper[block]
    for _ in range(30):
        _, violation = pair_steps(Q, own, slope, low, high, tol, block.size)
        if violation <= tol:
            break
        many = np.count_nonzero((low < own) & (own < high)) > costs.MANY_FREE
        if not many or not wide_newton(Q, own, slope, low, high):
            newton(Q, own, slope, low, high)
    change = alpha[block] - own
    moved = np.flatnonzero(change)
    alpha[block] = own
    sum_rows(gradient, K, block[moved], change[moved], 0, gradient.size)


def wide_newton(Q: Float, alpha: Float, gradient: Float, lower: Float, upper: Float) -> bool:
    """A Newton step on the free variables that stops at their bounds, in place; whether it was
    taken and improved."""
    free = np.flatnonzero((lower < alpha) & (alpha < upper))
    curvature = gather_block(Q, free, free)
    curvature.flat[:: free.size + 1] *= 1.0 + RULES.jitter
    factor = Factor.of(curvature, free)
    if factor is None:
        return False
    before, low, high = alpha[free], lower[free], upper[free]
    slope = gradient[free] - gradient[free].mean()
    one_group = np.zeros(free.size, dtype=np.int64)
    way = stopped_newton(factor, slope, low - before, high - before, one_group)
    if way is None:
        return False
    reached = balanced(np.clip(before + way[0], low, high), before, low, high, one_group)
    change = np.zeros(alpha.size)
    change[free] = reached - before
    pull = Q @ change
    if float(change @ (gradient - 0.5 * pull)) <= 0.0:
        return False
    alpha[free] = reached
    gradient -= pull
    return True
