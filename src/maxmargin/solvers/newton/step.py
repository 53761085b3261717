"""The face step: a Newton step on all free variables at once.

On the free variables F the problem is an equality-constrained quadratic one. Its solution
α_F + d satisfies

    Q_FF d + Aᵀλ = G_F,   A d = 0        (A: one row of ones a group)

Move there, or along d to the first bound; fix the variables at that bound and solve again for the
rest. This converges where pair steps are slow. Q_FF is factored once, and a variable that leaves is
deleted from the factor in O(f²).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from ...dual.problem import Float, Int
from ...kernels.base import Array
from ...linalg.bordered import Factor
from ...linalg.cholesky import factored_in_place
from ...runtime.buffers import buffer
from ...runtime.jit import from_python, inlined, largest, smallest
from ..drivers.working_set import Active
from ..rows.base import LoopRows

FIRST_JITTER, LAST_JITTER = 1e-14, 1e-6
# Operations between two checks whether the run must end.
ROUNDS_WORK = 4_000_000
# Number of work vectors of the rounds, besides one per group.
VECTORS = 3
# How the rounds ended.
UNDECIDED, DONE, UNBOUNDED = range(3)


class FaceResult(NamedTuple):
    rounds: int
    gain: float
    unbounded: bool
    factor: Factor | None = None  # for the next step to reuse


@inlined
def delete_from_factor(R: Float, k: int, size: int) -> None:
    """Remove row and column k of the matrix factored as RᵀR, in place; R is size × size.

    Without its column k, R has entries below the diagonal from there on, which Givens rotations of
    neighbouring rows remove.
    """
    for i in range(size):
        row = R[i]
        for j in range(i - 1 if i > k else k, size - 1):
            row[j] = row[j + 1]
    for i in range(k, size - 1):
        here, next_row = R[i], R[i + 1]
        length = np.sqrt(here[i] * here[i] + next_row[i] * next_row[i])
        cosine, sine = here[i] / length, next_row[i] / length
        for j in range(i, size - 1):
            before = here[j]
            here[j] = cosine * before + sine * next_row[j]
            next_row[j] = cosine * next_row[j] - sine * before


@inlined
def solve_factored(R: Float, b: Float, size: int) -> None:
    """b ← (RᵀR)⁻¹ b, R being size × size"""
    for i in range(size):
        row = R[i]
        top = b[i] / row[i]
        b[i] = top
        for j in range(i + 1, size):
            b[j] -= row[j] * top
    for i in range(size - 1, -1, -1):
        row = R[i]
        rest = b[i]
        for j in range(i + 1, size):
            rest -= row[j] * b[j]
        b[i] = rest / row[i]


def factored(Q: Float) -> Float | None:
    """Upper Cholesky factor of Q with the smallest sufficient shift of the diagonal, or None."""
    scale = float(np.abs(np.diagonal(Q)).max())
    jitter = FIRST_JITTER
    while jitter <= LAST_JITTER:
        shifted = buffer(Q.shape, np.float64)
        shifted[...] = Q
        shifted.flat[:: len(Q) + 1] += jitter * scale
        R = factored_in_place(shifted)
        if R is not None:
            return R
        jitter *= 100.0
    return None


def curvature(active: Active, F: Int, **precision: Any) -> Array:
    """Q_FF of some variables of an `Active` set."""
    Q = cast(LoopRows, active.rows).block(F % active.size, **precision)
    Q.flat[:: F.size + 1] = active.v.diagonal[F]
    return Q


@inlined
def newton_direction(
    R: Float,
    inside: Int,
    size: int,
    gradient: Float,
    group: Int,
    units: Float,
    renew: bool,
    direction: Float,
    ones: Float,
) -> bool:
    """d of the system above for the `size` variables inside.

    The units are w_g = (RᵀR)⁻¹ 1_g, made orthogonal to the earlier groups, so that subtracting a
    multiple of w_g to cancel the sum over group g keeps the earlier sums at 0. They depend on the
    variables inside; `renew` says that these have changed. `ones` is overwritten. Returns whether d
    is feasible: whether its sums are 0 up to rounding.
    """
    groups = units.shape[0]
    for g in range(0 if renew else groups, groups + 1):
        x = direction if g == groups else units[g]
        for k in range(size):
            a = inside[k]
            if g == groups:
                x[k] = gradient[a]
            else:
                x[k] = 1.0 if group[a] == g else 0.0
        solve_factored(R, x, size)
        for h in range(g):
            subtract(x, units[h], inside, size, group, h)
    # Twice: if little is left of the direction after the first pass, it may be mostly rounding.
    for g in range(2 * groups):
        for k in range(size):
            ones[k] = 1.0 if group[inside[k]] == g % groups else 0.0
        subtract(direction, ones, inside, size, group, g % groups)
    # If Q is singular along (1, …, 1) and the gradient is constant, only rounding is left, and its
    # sums are not 0.
    for g in range(groups):
        total, length = 0.0, 0.0
        for k in range(size):
            if group[inside[k]] == g:
                total += direction[k]
                length += abs(direction[k])
        if abs(total) > 1e-9 * length:  # more than rounding
            return False
    return True


@inlined
def subtract(x: Float, unit: Float, inside: Int, size: int, group: Int, g: int) -> None:
    """Cancel the sum of x over a group by subtracting a multiple of a unit."""
    total, part = 0.0, 0.0
    for k in range(size):
        if group[inside[k]] == g:
            total += x[k]
            part += unit[k]
    if part > 0.0:
        ratio = total / part
        for k in range(size):
            x[k] -= ratio * unit[k]


@inlined
def face_rounds(
    Q: Float,
    R: Float,
    inside: Int,
    refined: int,
    alpha: Float,
    gradient: Float,
    lower: Float,
    upper: Float,
    group: Int,
    work: Float,
    most: int,
) -> tuple[int, int, int, float, int]:
    """At most `most` rounds; returns (rounds, variables still inside, refinements, gain, state).

    Each moves to the optimum of the variables inside, or towards it up to the first bound, where
    the variables that reach theirs leave. `work` has `VECTORS` rows and one more per group.
    """
    size, gain, solved, first = inside.size, 0.0, 0, 0.0
    direction, bent, reach, units = work[0], work[1], work[2], work[VECTORS:]
    for rounds in range(most):
        # Two more steps remove rounding, unless hardly any of the spread of the gradients is left.
        if size < 2 or refined > 2:
            return rounds, size, refined, gain, DONE
        uneven = 0.0
        for g in range(units.shape[0]):
            low, high = np.inf, -np.inf
            for k in range(size):
                a = inside[k]
                if group[a] == g:
                    low, high = smallest(low, gradient[a]), largest(high, gradient[a])
            uneven = largest(uneven, high - low)
        if refined == 0:
            first = largest(first, uneven)
        elif uneven <= 1e-12 * first:
            return rounds, size, refined, gain, DONE
        renew = solved != size
        sound = newton_direction(R, inside, size, gradient, group, units, renew, direction, reach)
        solved = size
        if not sound:
            return rounds + 1, size, refined, gain, DONE
        for a in range(alpha.size):
            bent[a] = 0.0
        for k in range(size):
            row, way = Q[inside[k]], direction[k]
            for a in range(alpha.size):
                bent[a] += way * row[a]
        slope, bend, max_step = 0.0, 0.0, np.inf
        for k in range(size):
            slope += direction[k] * gradient[inside[k]]
            bend += direction[k] * bent[inside[k]]
        for k in range(size):
            a, way = inside[k], direction[k]
            limit = upper[a] if way > 0.0 else lower[a]
            reach[k] = (limit - alpha[a]) / way if way != 0.0 else np.inf
            max_step = smallest(max_step, reach[k])
        if not slope > 0.0:
            return rounds + 1, size, refined, gain, DONE
        step = max_step
        if bend > 0.0:
            step = smallest(slope / bend, max_step)
        if step == np.inf:
            return rounds + 1, size, refined, gain, UNBOUNDED
        for a in range(alpha.size):
            gradient[a] -= step * bent[a]
        gain += step * (slope - 0.5 * bend * step)
        refined += step < max_step
        for k in range(size - 1, -1, -1):
            a, way = inside[k], direction[k]
            alpha[a] += step * way
            if step >= max_step and reach[k] <= step:
                alpha[a] = upper[a] if way > 0.0 else lower[a]
                delete_from_factor(R, k, size)
                size -= 1
                for later in range(k, size):
                    inside[later] = inside[later + 1]
    return most, size, refined, gain, UNDECIDED


some_rounds = from_python(face_rounds)


def face_step(
    active: Active, must_end: Callable[[], bool] | None = None, most: int | None = None
) -> FaceResult:
    """Maximise over the face of the free variables of an `Active` set, in at most `most` rounds.

    Each round ends at a feasible point that is not worse; `must_end` is checked between rounds.
    """
    v = active.v
    F = active.free()
    if F.size < 2:
        return FaceResult(0, 0.0, False)
    Q = curvature(active, F)
    R = factored(Q)
    if R is None:
        return FaceResult(0, 0.0, False)
    alpha, gradient = v.alpha[F], active.slopes(F)
    inside, refined, rounds, gain, state = np.arange(F.size), 0, 0, 0.0, UNDECIDED
    work = np.empty((VECTORS + len(v.rise), F.size))
    most = np.iinfo(np.int64).max if most is None else most
    while state == UNDECIDED and rounds < most:
        at_once = min(max(1, ROUNDS_WORK // F.size**2), most - rounds)
        took, size, refined, gained, state = some_rounds(
            Q, R, inside, refined, alpha, gradient,
            v.lower[F], v.upper[F], v.group[F], work, at_once,
        )  # fmt: skip
        inside = inside[:size]
        rounds, gain = rounds + took, gain + gained
        if must_end is not None and must_end():
            break
    active.place(F, alpha)
    return FaceResult(rounds, gain, state == UNBOUNDED)
