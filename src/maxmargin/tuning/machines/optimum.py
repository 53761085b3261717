"""Small machines solved exactly: one group, whole matrix in memory, thousands of fits a second.

    maximise  linear·α − ½ αᵀQα   subject to   lower ≤ α ≤ upper,  Σ α = total

Tuning solves this for a few hundred variables tens of thousands of times, each problem close to the
previous one, and differentiates the solution, which must therefore be exact. `solve` is made for
the opposite: one large fit with progress and limits, and its batch driver begins at α = 0. A fit of
160 samples near the previous one takes 0.14 ms here, 0.38 in a batch of one and 0.63 by `solve`
(`python -m benchmarks.tuning_speed`), so this machine stays. Second-order SMO and Newton steps on
the free variables alternate until the point is optimal to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from ...dual import hinge
from ...runtime.jit import compiled, compiled_fused, largest, smallest
from ...solvers import solve
from ...solvers.drivers.base import UNBOUNDED_DUAL
from ...solvers.newton.step import delete_from_factor, solve_factored
from ...solvers.rows.lru import gather_block
from .. import costs
from ..base import Float

Int = NDArray[np.int64]

ROUNDING = 4 * np.finfo(np.float64).eps
# Violation at which Newton steps take over from pair steps.
COARSE_TOL = 1e-3
# Distance from a bound at which a variable counts as being there during a step, relative to the
# numbers it was computed from.
SNAP = 1e-15
# Tolerance of `solve` for large machines.
SOLVE_TOL = 1e-6

(cholesky,) = get_lapack_funcs(("potrf",), dtype=np.float64)


class Fit(NamedTuple):
    """The optimum.

    Attributes
    ----------
    alpha, gradient : float arrays
        α and G = linear − Qα.
    bias : float
        The gradient of the free variables; if none is free, the midpoint of the interval that
        optimality allows.
    free : int array
        Indices of the variables strictly between their bounds.
    meeting : pair of int
        The variable with the largest gradient among those that may increase, and the one with the
        smallest among those that may decrease. They fix the bias if none is free.
    violation : float
        ψ(α), the difference of these two gradients.
    bounded : bool
        False if the dual is unbounded, because no function separates the classes.
    """

    alpha: Float
    gradient: Float
    bias: float
    free: Int
    meeting: tuple[int, int]
    violation: float
    bounded: bool = True


@compiled_fused
def position(values: Float, value: float) -> int:
    """Index of the first entry that is at least `value`, or of the largest if none is."""
    best = 0
    for a in range(values.size):
        if values[a] >= value:
            return a
        if values[a] > values[best]:
            best = a
    return best


@compiled_fused
def pair_steps(
    Q: Float, alpha: Float, gradient: Float, lower: Float, upper: Float, tol: float, most: int
) -> tuple[int, float]:
    """Second-order SMO in place; (steps, violation), or (−1, ·) if a step is unbounded."""
    n = alpha.size
    rise, fall = np.empty(n), np.empty(n)
    diagonal, score, rising = np.empty(n), np.empty(n), np.empty(n)
    scale = 0.0
    for a in range(n):
        rise[a] = 0.0 if alpha[a] < upper[a] else -np.inf
        fall[a] = 0.0 if alpha[a] > lower[a] else np.inf
        diagonal[a] = Q[a, a]
        scale = max(scale, diagonal[a])
    floor = 1e-12 * scale
    top, bottom = -np.inf, np.inf
    for a in range(n):
        rising[a] = gradient[a] + rise[a]
        top = largest(top, rising[a])
        bottom = smallest(bottom, gradient[a] + fall[a])
    for step in range(most):
        if top - bottom <= tol:
            return step, top - bottom
        i = position(rising, top)
        row = Q[i]
        best = 0.0
        for a in range(n):
            slope = largest(top - (gradient[a] + fall[a]), 0.0)
            bend = largest(diagonal[i] + diagonal[a] - 2.0 * row[a], floor)
            score[a] = slope * slope / bend
            best = largest(best, score[a])
        j = position(score, best)
        slope = gradient[i] - gradient[j]
        bend = diagonal[i] + diagonal[j] - 2.0 * row[j]
        max_step = min(upper[i] - alpha[i], alpha[j] - lower[j])
        move = max_step if bend <= floor else min(slope / bend, max_step)
        if np.isinf(move):
            return -1, top - bottom
        shift_pair(alpha, lower, upper, i, j, move)
        rise[i] = 0.0 if alpha[i] < upper[i] else -np.inf
        fall[i], rise[j] = 0.0, 0.0
        fall[j] = 0.0 if alpha[j] > lower[j] else np.inf
        other = Q[j]
        top, bottom = -np.inf, np.inf
        for a in range(n):
            value = gradient[a] - move * (row[a] - other[a])
            gradient[a] = value
            rising[a] = value + rise[a]
            top = largest(top, rising[a])
            bottom = smallest(bottom, value + fall[a])
    return most, top - bottom


@compiled_fused
def shift_pair(alpha: Float, lower: Float, upper: Float, i: int, j: int, move: float) -> None:
    """Increase α_i and decrease α_j; snap to a bound that is reached up to rounding."""
    up, down = upper[i] - alpha[i], alpha[j] - lower[j]
    risen, fallen = alpha[i] + move, alpha[j] - move
    size = SNAP * (abs(alpha[i]) + abs(alpha[j]) + move)
    alpha[i] = upper[i] if up - move <= size else risen
    alpha[j] = lower[j] if down - move <= size else fallen


@compiled
def newton_steps(
    Q: Float, R: Float, alpha: Float, gradient: Float, lower: Float, upper: Float
) -> bool:
    """Maximise over variables that all start free, with Σ α fixed. A variable that reaches a bound
    is removed and the others continue. R is the factor of Q up to a constant.

    Changes α and R in place and returns whether the maximum is finite.
    """
    inside = np.arange(alpha.size)
    size = alpha.size
    refined = 0
    while size >= 2 and refined < 2:
        direction, ones = np.empty(size), np.ones(size)
        for k in range(size):
            direction[k] = gradient[inside[k]]
        solve_factored(R, direction, size)
        solve_factored(R, ones, size)
        shift = direction.sum() / ones.sum()
        slope, excess = 0.0, 0.0
        for k in range(size):
            direction[k] -= shift * ones[k]
            excess += direction[k]
        for k in range(size):
            direction[k] -= excess / size
            slope += direction[k] * gradient[inside[k]]
        if not slope > 0.0:
            return True
        bent = np.zeros(alpha.size)
        for k in range(size):
            row = Q[inside[k]]
            for a in range(alpha.size):
                bent[a] += direction[k] * row[a]
        bend, max_step, first = 0.0, np.inf, -1
        for k in range(size):
            a = inside[k]
            bend += direction[k] * bent[a]
            limit = upper[a] if direction[k] > 0 else lower[a]
            if direction[k] != 0.0:
                reach = (limit - alpha[a]) / direction[k]
                if reach < max_step:
                    max_step, first = reach, k
        step = slope / bend if bend > 0.0 else np.inf
        if np.isinf(step) and np.isinf(max_step):
            return False
        step = min(step, max_step)
        for k in range(size):
            alpha[inside[k]] += step * direction[k]
        for a in range(alpha.size):
            gradient[a] -= step * bent[a]
        if step < max_step:
            refined += 1
            continue
        a = inside[first]
        alpha[a] = upper[a] if direction[first] > 0 else lower[a]
        delete_from_factor(R, first, size)
        for k in range(first, size - 1):
            inside[k] = inside[k + 1]
        size -= 1
    return True


@compiled
def repaired(alpha: Float, lower: Float, upper: Float, total: float) -> None:
    """Clip α to its box, then move free variables, and after them the others, until the sum is
    right."""
    missing, size = total, abs(total)
    for a in range(alpha.size):
        alpha[a] = min(max(alpha[a], lower[a]), upper[a])
        missing -= alpha[a]
        size += abs(alpha[a])
    for only_free in (True, False):
        for a in range(alpha.size):
            if abs(missing) <= SNAP * size:
                return
            if only_free and not lower[a] < alpha[a] < upper[a]:
                continue
            moved = min(max(alpha[a] + missing, lower[a]), upper[a])
            missing -= moved - alpha[a]
            alpha[a] = moved


def factored(Q: Float) -> Float | None:
    """Upper Cholesky factor of Q plus a constant, with the smallest sufficient jitter.

    The constant changes nothing for fixed Σ α, and makes the matrix positive definite whenever the
    problem has one solution, as for a linear kernel with one more free vector than features.
    """
    scale = float(np.abs(np.diagonal(Q)).max())
    jitter = 1e-15
    while jitter <= 1e-7:
        shifted = Q + scale
        shifted.flat[:: len(Q) + 1] += jitter * scale
        # The lower factor in Fortran order is the upper one in C order.
        factor, info = cholesky(shifted.T, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            return np.asarray(factor.T)
        jitter *= 100.0
    return None


def optimum(
    Q: Float,
    linear: Float,
    lower: Float,
    upper: Float,
    total: float = 0.0,
    alpha: Float | None = None,
    *,
    exact: bool = True,
) -> Fit:
    """Solve the problem above, from α if given.

    Parameters
    ----------
    Q : C-contiguous float64 array
    linear, lower, upper : float64 arrays
    total : float
    alpha : array, optional
        Any start; it is made feasible first.
    exact : bool
        Whether to solve to rounding, or to 1e-11 in units of the labels; otherwise a violation of
        `COARSE_TOL` suffices.
    """
    alpha = np.zeros(linear.size) if alpha is None else np.array(alpha, dtype=np.float64)
    repaired(alpha, lower, upper, total)
    scale = float(np.diagonal(Q).max())
    gradient = linear - Q @ alpha
    # Newton steps on few free variables are cheap: fewer pair steps come between them.
    few = 4 * np.count_nonzero((lower < alpha) & (alpha < upper)) < linear.size
    most = 20 + linear.size // 4 if few else 100 + 2 * linear.size
    tol = COARSE_TOL
    bounded, finishing = True, False
    for _ in range(200):
        steps, violation = pair_steps(Q, alpha, gradient, lower, upper, tol, most)
        if (steps == 0 and finishing) or (violation <= COARSE_TOL and not exact):
            break
        bounded = steps >= 0 and newton(Q, alpha, gradient, lower, upper)
        if not bounded or alpha @ (linear + gradient) * scale > 2.0 * UNBOUNDED_DUAL:
            bounded = False
            break
        if violation <= COARSE_TOL:
            finishing, most = True, 10 + linear.size // 10
            tol = max(1e-11, ROUNDING * scale * float(np.abs(alpha).sum()))
    _snap(Q, alpha, gradient, lower, upper)
    return _read(alpha, gradient, lower, upper, bounded)


def hinge_fit(
    Q: Float, y: Float, C: float | Float, alpha: Float | None = None, *, exact: bool = True
) -> Fit:
    """The machine with hinge loss on the Gram matrix Q, from any α; C may differ by sample.

    Beyond a few thousand samples it calls `solve`.
    """
    bound = C * y
    if y.size <= costs.LARGEST_MACHINE:
        lower, upper = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        return optimum(Q, y, lower, upper, 0.0, alpha, exact=exact)
    problem = hinge(y, C).problem
    solution = solve(problem, Q, tol=SOLVE_TOL if exact else COARSE_TOL, alpha=alpha)
    return _read(
        solution.alpha,
        np.array(solution.gradient),
        problem.lower,
        problem.upper,
        solution.status != "unbounded",
    )


def left_out_fit(Q: Float, y: Float, C: float, alpha: Float, left_out: int) -> Fit:
    """The machine without one sample, from the α of the machine with it.

    The variable of that sample is fixed at zero; the gradient still has an entry for it, so that
    its output is y − G + b as for the others.
    """
    bound = C * y
    bound[left_out] = 0.0
    return optimum(Q, y, np.minimum(bound, 0.0), np.maximum(bound, 0.0), 0.0, alpha)


def newton(Q: Float, alpha: Float, gradient: Float, lower: Float, upper: Float) -> bool:
    """Newton steps on the free variables, in place; whether the maximum is finite."""
    free = np.flatnonzero((lower < alpha) & (alpha < upper))
    if free.size < 2:
        return True
    everything = np.arange(alpha.size)
    rows = Q if free.size == alpha.size else gather_block(Q, free, everything)
    block = rows if free.size == alpha.size else gather_block(Q, free, free)
    factor = factored(block)
    if factor is None:
        return True
    moved = alpha[free]
    bounded = newton_steps(block, factor, moved, gradient[free], lower[free], upper[free])
    gradient -= (moved - alpha[free]) @ rows
    alpha[free] = moved
    return bool(bounded)


def _nearness(alpha: Float, bound: Float) -> Float:
    """The distance from a bound that is rounding, from the bound or the largest variable."""
    size = np.where(bound == 0.0, np.abs(alpha).max(), np.abs(bound))
    return 1e-12 * np.where(np.isinf(size), 0.0, size)


def _snap(Q: Float, alpha: Float, gradient: Float, lower: Float, upper: Float) -> None:
    """Snap to their bounds, in place, the variables that only rounding keeps off them. A variable
    that is free by rounding alone would push the bias to one end of its interval.
    """
    bound = np.where(alpha - lower <= _nearness(alpha, lower), lower, alpha)
    bound = np.where(upper - alpha <= _nearness(alpha, upper), upper, bound)
    changed = np.flatnonzero(bound != alpha)
    if changed.size:
        gradient -= (bound - alpha)[changed] @ Q[changed]
        alpha[changed] = bound[changed]


def meeting(alpha: Float, gradient: Float, lower: Float, upper: Float) -> tuple[int, int]:
    """The variables with the largest gradient that may rise and the smallest that may fall."""
    top = int(np.argmax(np.where(alpha < upper, gradient, -np.inf)))
    bottom = int(np.argmin(np.where(alpha > lower, gradient, np.inf)))
    return top, bottom


def bias_of(alpha: Float, gradient: Float, lower: Float, upper: Float) -> float:
    """The gradient of the free variables, on average; the middle of what is allowed if none is."""
    free = (alpha < upper) & (alpha > lower)
    if free.any():
        return float(gradient[free].mean())
    top, bottom = meeting(alpha, gradient, lower, upper)
    return 0.5 * float(gradient[top] + gradient[bottom])


def _read(alpha: Float, gradient: Float, lower: Float, upper: Float, bounded: bool) -> Fit:
    free = np.flatnonzero((alpha < upper) & (alpha > lower))
    top, bottom = meeting(alpha, gradient, lower, upper)
    bias = bias_of(alpha, gradient, lower, upper)
    violation = max(0.0, float(gradient[top] - gradient[bottom]))
    return Fit(alpha, gradient, bias, free, (top, bottom), violation, bounded)
