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
from scipy.linalg.lapack import dpotrf, dpotrs

from ..compiled import compiled

# Beyond this many free variables the factorisation costs more than it brings.
LARGEST_FACE = 3000
FIRST_JITTER, LAST_JITTER = 1e-14, 1e-6
REFINEMENTS = 2


class FaceResult(NamedTuple):
    rounds: int
    gain: float
    unbounded: bool


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


def factored(Q):
    """Upper Cholesky factor of Q, with as little added to the diagonal as it takes, or None."""
    scale = float(np.abs(np.diagonal(Q)).max())
    jitter = FIRST_JITTER
    while jitter <= LAST_JITTER:
        shifted = Q.copy()
        shifted[np.diag_indices_from(shifted)] += jitter * scale
        # To LAPACK, which counts columns first, this is the lower factor of the transpose.
        lower, failed = dpotrf(shifted.T, lower=1, clean=1, overwrite_a=1)
        if not failed:
            return lower.T
        jitter *= 100.0
    return None


def newton_direction(R, gradient, group):
    """d of the system above, for the variables of the factor."""
    ones = (group[:, None] == np.unique(group)).astype(np.float64)
    solved, _ = dpotrs(R.T, np.column_stack([gradient, ones]), lower=1)
    base, spread = solved[:, 0], solved[:, 1:]
    multipliers = np.linalg.solve(ones.T @ spread, ones.T @ base)
    direction = base - spread @ multipliers
    return direction - ones @ ((ones.T @ direction) / ones.sum(axis=0))


def rooms(alpha, direction, lower, upper):
    """How far along the direction each variable may go."""
    limit = np.where(direction > 0, upper, lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(direction == 0, np.inf, (limit - alpha) / direction)


def face_step(active, must_end=None):
    """Maximise over the face of the free variables of an `Active` set.

    Each round leaves a feasible point that is no worse; `must_end` is asked before the next.
    """
    v = active.v
    F = active.free()
    if F.size < 2:
        return FaceResult(0, 0.0, False)
    Q = active.rows.block(F % active.size)
    Q[np.diag_indices_from(Q)] = v.diagonal[F]
    R = factored(Q)
    if R is None:
        return FaceResult(0, 0.0, False)
    alpha, gradient = v.alpha[F], v.gradient[F]
    lower, upper, group = v.lower[F], v.upper[F], v.group[F]
    inside = np.arange(F.size)
    rounds, refinements, gain, unbounded = 0, 0, 0.0, False
    while inside.size >= 2 and refinements <= REFINEMENTS:
        rounds += 1
        direction = newton_direction(R, gradient[inside], group[inside])
        bent = Q[:, inside] @ direction
        slope, bend = gradient[inside] @ direction, direction @ bent[inside]
        if not slope > 0:
            break
        room = rooms(alpha[inside], direction, lower[inside], upper[inside])
        newton = slope / bend if bend > 0 else np.inf
        step = min(newton, room.min())
        if np.isinf(step):
            unbounded = True
            break
        alpha[inside] += step * direction
        gradient -= step * bent
        gain += step * (slope - 0.5 * bend * step)
        if step < room.min():
            refinements += 1
            continue
        arrived = np.flatnonzero(room <= step)
        for k in arrived[::-1]:
            alpha[inside[k]] = (upper if direction[k] > 0 else lower)[inside[k]]
            delete_from_factor(R, k, R.shape[0])
            R = R[:-1, :-1]
        inside = np.delete(inside, arrived)
        if must_end is not None and must_end():
            break
    active.place(F, alpha)
    return FaceResult(rounds, gain, unbounded)
