"""The face step: a Newton step on all free variables at once.

On the free variables F the problem is an equality-constrained quadratic one. Its solution
α_F + d satisfies

    Q_FF d + Aᵀλ = G_F,   A d = 0        (A: one row of ones a group)

Go to it, or along d to the first bound; fix what arrived there and solve again with the rest.
Where pairs crawl, this arrives. Q_FF is factored once, and a variable that leaves is deleted
from the factor in O(f²).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...linalg.cholesky import factored_in_place
from ...runtime.buffers import room
from ...runtime.jit import called, compiled

# Beyond this many free variables the factorisation costs more than it brings.
LARGEST_FACE = 3000
FIRST_JITTER, LAST_JITTER = 1e-14, 1e-6
# Newton steps are repeated so often, to undo rounding, unless no more than this part of the spread
# of gradients is left.
REFINEMENTS, LEVEL = 2, 1e-12
# Rounds between two questions whether to end take about this many operations.
ROUNDS_WORK = 4_000_000
# How rounds ended.
UNDECIDED, DONE, UNBOUNDED = range(3)


class FaceResult(NamedTuple):
    rounds: int
    gain: float
    unbounded: bool
    factor: object = None  # what a next step may begin with


@compiled
def delete_from_factor(R, k, size):
    """Remove row and column k of the matrix factored as RᵀR, in place; R is size × size."""
    carried = R[k, k + 1 : size].copy()
    for i in range(size - 1):
        below = i if i < k else i + 1
        for j in range(max(i, k), size - 1):
            R[i, j] = R[below, j + 1]
    # Rank-one update of the trailing block: R'ᵀR' = RᵀR + carried carriedᵀ.
    for i in range(k, size - 1):
        old, extra = R[i, i], carried[i - k]
        new = np.sqrt(old * old + extra * extra)
        cosine, sine = new / old, extra / old
        R[i, i] = new
        for j in range(i + 1, size - 1):
            R[i, j] = (R[i, j] + sine * carried[j - k]) / cosine
            carried[j - k] = cosine * carried[j - k] - sine * R[i, j]


@compiled
def solve_factored(R, b, size):
    """b ← (RᵀR)⁻¹ b, R being size × size"""
    for i in range(size):
        b[i] /= R[i, i]
        for j in range(i + 1, size):
            b[j] -= R[i, j] * b[i]
    for i in range(size - 1, -1, -1):
        rest = b[i]
        for j in range(i + 1, size):
            rest -= R[i, j] * b[j]
        b[i] = rest / R[i, i]


def factored(Q):
    """Upper Cholesky factor of Q, with as little added to the diagonal as it takes, or None."""
    scale = float(np.abs(np.diagonal(Q)).max())
    jitter = FIRST_JITTER
    while jitter <= LAST_JITTER:
        shifted = room(Q.shape, np.float64)
        shifted[...] = Q
        shifted.flat[:: len(Q) + 1] += jitter * scale
        R = factored_in_place(shifted)
        if R is not None:
            return R
        jitter *= 100.0
    return None


def curvature(active, F, **precision):
    """Q_FF of some variables of an `Active` set."""
    Q = active.rows.block(F % active.size, **precision)
    Q.flat[:: F.size + 1] = active.v.diagonal[F]
    return Q


@compiled
def solve_units(R, group, units):
    """units_g ← (RᵀR)⁻¹ 1_g for the variables of the factor, 1_g being 1 in group g"""
    size = group.size
    for g in range(len(units)):
        unit = units[g][:size]
        for k in range(size):
            unit[k] = 1.0 if group[k] == g else 0.0
        solve_factored(R, unit, size)


@compiled
def newton_direction(R, gradient, group, units, direction):
    """d of the system above, for the variables of the factor, with the units that belong to it."""
    size, groups = direction.size, len(units)
    for k in range(size):
        direction[k] = gradient[k]
    solve_factored(R, direction, size)
    system, right, counts = np.zeros((groups, groups)), np.zeros(groups), np.zeros(groups)
    for k in range(size):
        counts[group[k]] += 1.0
        right[group[k]] += direction[k]
        for g in range(groups):
            system[group[k], g] += units[g, k]
    eliminate(system, right)
    for g in range(groups):
        for k in range(size):
            direction[k] -= right[g] * units[g, k]
    # Twice: what the first pass leaves of a direction may be no more than its rounding.
    for _ in range(2):
        excess = np.zeros(groups)
        for k in range(size):
            excess[group[k]] += direction[k]
        for k in range(size):
            direction[k] -= excess[group[k]] / counts[group[k]]


@called
def eliminate(A, b):
    """b ← A⁻¹b for a small positive matrix; groups without variables have a row of zeros."""
    for k in range(b.size):
        if A[k, k] > 0.0:
            for i in range(b.size):
                if i != k:
                    ratio = A[i, k] / A[k, k]
                    for j in range(b.size):
                        A[i, j] -= ratio * A[k, j]
                    b[i] -= ratio * b[k]
    for k in range(b.size):
        b[k] = b[k] / A[k, k] if A[k, k] > 0.0 else 0.0


@called
def widest_spread(gradient, group, groups):
    """The largest difference of gradients inside a group: 0 at the optimum of the face."""
    low, high = np.full(groups, np.inf), np.full(groups, -np.inf)
    for k in range(gradient.size):
        low[group[k]] = min(low[group[k]], gradient[k])
        high[group[k]] = max(high[group[k]], gradient[k])
    widest = 0.0
    for g in range(groups):
        widest = max(widest, high[g] - low[g])
    return widest


@compiled
def face_rounds(Q, R, inside, refined, alpha, gradient, lower, upper, group, groups, most):
    """At most so many rounds; returns (rounds, variables still inside, refinements, gain, state).

    Each goes to the optimum of the variables inside, or along the way there to the first bound,
    where the variables that meet theirs leave.
    """
    size, gain = inside.size, 0.0
    place, bent, reach = np.empty(size), np.empty(alpha.size), np.empty(size)
    slopes, member = np.empty(size), np.empty(size, np.int64)
    units, solved = np.empty((groups, size)), 0
    first = 0.0
    for rounds in range(most):
        if size < 2 or refined > REFINEMENTS:
            return rounds, size, refined, gain, DONE
        direction = place[:size]
        for k in range(size):
            slopes[k], member[k] = gradient[inside[k]], group[inside[k]]
        uneven = widest_spread(slopes[:size], member[:size], groups)
        if refined == 0:
            first = max(first, uneven)
        elif uneven <= LEVEL * first:
            return rounds, size, refined, gain, DONE
        if solved != size:
            solve_units(R, member[:size], units)
            solved = size
        newton_direction(R, slopes[:size], member[:size], units, direction)
        for a in range(bent.size):
            bent[a] = 0.0
        for k in range(size):
            row = Q[inside[k]]
            for a in range(bent.size):
                bent[a] += direction[k] * row[a]
        slope, bend, room = 0.0, 0.0, np.inf
        for k in range(size):
            a = inside[k]
            slope += direction[k] * gradient[a]
            bend += direction[k] * bent[a]
            limit = upper[a] if direction[k] > 0.0 else lower[a]
            reach[k] = (limit - alpha[a]) / direction[k] if direction[k] != 0.0 else np.inf
            room = min(room, reach[k])
        if not slope > 0.0:
            return rounds + 1, size, refined, gain, DONE
        step = min(slope / bend if bend > 0.0 else np.inf, room)
        if np.isinf(step):
            return rounds + 1, size, refined, gain, UNBOUNDED
        for k in range(size):
            alpha[inside[k]] += step * direction[k]
        for a in range(bent.size):
            gradient[a] -= step * bent[a]
        gain += step * (slope - 0.5 * bend * step)
        if step < room:
            refined += 1
            continue
        for k in range(size - 1, -1, -1):
            if reach[k] <= step:
                a = inside[k]
                alpha[a] = upper[a] if direction[k] > 0.0 else lower[a]
                delete_from_factor(R, k, size)
                size -= 1
                for later in range(k, size):
                    inside[later] = inside[later + 1]
    return most, size, refined, gain, UNDECIDED


def face_step(active, must_end=None, most=None):
    """Maximise over the face of the free variables of an `Active` set, in at most so many rounds.

    Each round leaves a feasible point that is no worse; `must_end` is asked before the next ones.
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
    most = np.iinfo(np.int64).max if most is None else most
    while state == UNDECIDED and rounds < most:
        at_once = min(max(1, ROUNDS_WORK // F.size**2), most - rounds)
        took, size, refined, gained, state = face_rounds(
            Q, R, inside, refined, alpha, gradient,
            v.lower[F], v.upper[F], v.group[F], v.rise.shape[0], at_once,
        )  # fmt: skip
        inside = inside[:size]
        rounds, gain = rounds + took, gain + gained
        if must_end is not None and must_end():
            break
    active.place(F, alpha)
    return FaceResult(rounds, gain, state == UNBOUNDED)
