"""The face step for many free variables: all that would leave the box are stopped at once.

With the free variables F, the groups A and variables V stopped at their bounds, the optimum
α_F + d of the rest satisfies

    Q_FF d + Bλ = G_F,   Bᵀd = c      (B: Aᵀ and the unit vectors of V, c: 0 and the way of V)

    d = x − Sλ,   (BᵀS) λ = Bᵀx − c,   x = Q_FF⁻¹ G_F,   S = Q_FF⁻¹ B

so that one factorisation serves however many are stopped. V grows until all others stay inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solve
from scipy.linalg.lapack import dpotrs, spotrs

from .face import FaceResult, curvature, factored_in_place

# Stopping more than this part of the variables is left to pair steps.
MOST_STOPPED = 0.25
# Added to the diagonal, in parts of it: rounded Gram matrices are not quite positive.
JITTER = 1e-7
# Sets V that are tried.
MOST_ROUNDS = 10
# A step arrived if no more than this part of the spread of gradients is left.
ARRIVED = 0.1


def wide_face_step(active, must_end=None):
    """Go to the optimum of the free variables of an `Active` set, stopping those it would take out
    of the box at their bounds; a point that is feasible and no worse.

    Where rows are float32 the factorisation is too, if that gets there.
    """
    rounds, gain = 0, 0.0
    for dtype in dict.fromkeys([active.rows.matrix.dtype, np.dtype(np.float64)]):
        attempt = newton_step(active, dtype, must_end)
        rounds, gain = rounds + attempt.rounds, gain + attempt.gain
        if attempt.arrived:
            break
    return FaceResult(rounds, gain, False)


class Attempt(NamedTuple):
    rounds: int
    gain: float
    arrived: bool


def newton_step(active, dtype, must_end=None):
    """A step with the factor in this precision, taken if it gains.

    It arrived if little is left of the spread of gradients that it was to level, or if more than
    precision was in the way.
    """
    v = active.v
    F = active.free()
    nothing, failed = Attempt(0, 0.0, True), Attempt(0, 0.0, False)
    if F.size < 2:
        return nothing
    Q = curvature(active, F, dtype=dtype)
    Q.flat[:: F.size + 1] *= 1.0 + JITTER
    R = factored_in_place(Q)
    if must_end is not None and must_end():
        return nothing
    if R is None:
        return failed
    alpha, lower, upper, group = v.alpha[F], v.lower[F], v.upper[F], v.group[F]
    before = active.slopes(F)
    gradient = levelled(before, group)
    way = stopped_newton(R, gradient, lower - alpha, upper - alpha, group)
    if way is None:
        return nothing
    direction, held, rounds = way
    slope, bend = float(direction @ gradient), float(direction @ (gradient - held))
    if not slope > 0.0:
        return failed
    step = min(1.0, slope / bend) if bend > 0.0 else 1.0
    reached = balanced(np.clip(alpha + step * direction, lower, upper), alpha, lower, upper, group)
    kinks = before - v.gradient[F]
    active.place(F, reached)
    after = v.gradient[F] + kinks
    gain = 0.5 * float((reached - alpha) @ (before + after))
    if gain < 0.0:
        active.place(F, alpha)
        return failed
    inside = (lower < reached) & (reached < upper)
    left = levelled(after[inside], group[inside])
    arrived = step < 1.0 or np.abs(left).max(initial=0.0) <= ARRIVED * np.abs(gradient).max()
    return Attempt(rounds, gain, bool(arrived))


def levelled(gradient, group):
    """The gradient without its mean in each group, which the sums over groups hold anyway."""
    totals, counts = np.bincount(group, gradient), np.bincount(group)
    return gradient - (totals / np.maximum(counts, 1))[group]


def stopped_newton(R, gradient, lowest, highest, group):
    """The direction d of the system above with lowest ≤ d ≤ highest, what Bλ is there, and the
    rounds it took; None where too many variables have to be stopped. RᵀR = Q_FF."""
    size = gradient.size
    present = np.unique(group)
    B = (group[:, None] == present).astype(np.float64)
    c = np.zeros(present.size)
    both = solved(R, np.column_stack([gradient, B]))
    x, S = both[:, 0], both[:, 1:]
    stopped = np.zeros(0, dtype=np.int64)
    for rounds in range(1, MOST_ROUNDS + 1):
        top = np.vstack([B.T @ S, S[stopped]])
        try:
            multipliers = solve(top, np.append(B.T @ x, x[stopped]) - c, assume_a="pos")
        except LinAlgError:
            return None
        d = x - S @ multipliers
        d[stopped] = c[present.size :]
        out = np.flatnonzero((d < lowest) | (d > highest))
        if not out.size:
            held = B @ multipliers[: present.size]
            held[stopped] += multipliers[present.size :]
            return d, held, rounds
        stopped = np.append(stopped, out)
        if stopped.size > MOST_STOPPED * size:
            return None
        units = np.zeros((size, out.size))
        units[out, np.arange(out.size)] = 1.0
        S = np.hstack([S, solved(R, units)])
        c = np.append(c, np.where(d[out] < lowest[out], lowest[out], highest[out]))
    return None


def balanced(reached, alpha, lower, upper, group):
    """The point reached, with the sum over each group put back to that of α by the variable
    farthest inside; what rounding makes of a sum is far less than that."""
    room = np.minimum(reached - lower, upper - reached)
    for g in np.unique(group):
        members = np.flatnonzero(group == g)
        excess = float((reached[members] - alpha[members]).sum())
        if not room[members].max() > abs(excess):
            room[members] = (reached - lower if excess > 0.0 else upper - reached)[members]
        roomiest = members[np.argmax(room[members])]
        reached[roomiest] -= excess
    return np.clip(reached, lower, upper)


def solved(R, b):
    """(RᵀR)⁻¹ b"""
    potrs = spotrs if R.dtype == np.float32 else dpotrs
    return potrs(R.T, b, lower=1)[0].astype(np.float64, copy=False)
