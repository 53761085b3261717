"""The face step for up to some hundred free variables, entirely in compiled code.

A Newton step on a dozen variables costs about as much as a dozen pair steps, so it can follow every
few of them; the overhead of a call from Python would exceed both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float64, int64
from numba.types import Tuple

from ...dual.problem import Float, Int
from ...kernels.base import Array
from ...runtime.jit import called_by_symbol, inlined, largest
from ...runtime.lapack import lapack_factor
from ..costs import LARGEST_SMALL
from ..smo.selection import is_free
from ..smo.state import RowStore, Variables
from ..smo.step import set_penalties
from .step import DONE, FIRST_JITTER, LAST_JITTER, VECTORS, face_rounds

# Number of work vectors of a step, besides those of its rounds.
OWN_VECTORS = 5
# Vectors of length `LARGEST_SMALL` in its scratch memory: a matrix and its factor, work vectors.
# Another one is needed for each group.
SCRATCH_VECTORS = 2 * LARGEST_SMALL + OWN_VECTORS + VECTORS


@inlined
def free_variables(v: Variables) -> int:
    """Number of free variables (`is_free`, without looking up their groups)."""
    count = 0
    for g in range(v.rise.shape[0]):
        rise, fall = v.rise[g], v.fall[g]
        for a in range(rise.size):
            count += rise[a] == fall[a]
    return count


@inlined
def factor_of(Q: Float, shift: float, R: Float, potrf: int) -> bool:
    """R ← upper Cholesky factor of Q + shift·1; returns whether Q is positive definite up to
    rounding.

    If it is, no pivot is smaller than the shift; a smaller one is rounding. `potrf` is the address
    of LAPACK's function.
    """
    size = R.shape[0]
    for i in range(size):
        here, there = Q[i], R[i]
        for j in range(i, size):
            there[j] = here[j]
        there[i] += shift
    positive = lapack_factor(potrf, R)
    for i in range(size):
        positive &= R[i, i] * R[i, i] > 0.5 * shift
    return positive


@called_by_symbol(Tuple((int64, float64, int64)))
def small_face_step(
    v: Variables,
    rows: RowStore,
    samples: int,
    free: int,
    most: int,
    potrf: int,
    numbers: Float,
    indices: Int,
) -> tuple[int, float, int]:
    """`face_step` on `free` variables, in at most `most` rounds; returns (rounds, gain, state).

    Rounds are −1 if the row of one of them is missing. `numbers` and `indices` are scratch memory.
    """
    F, group = indices[:free], indices[free : 2 * free]
    slots, inside = indices[2 * free : 3 * free], indices[3 * free : 4 * free]
    vectors = 2 * free + OWN_VECTORS + VECTORS + v.rise.shape[0]
    table = numbers[: vectors * free].reshape((vectors, free))
    Q, R, work = table[:free], table[free : 2 * free], table[2 * free :]
    alpha, gradient, lower, upper, change = work[0], work[1], work[2], work[3], work[4]
    n, scale, present = 0, 0.0, True
    for a in range(v.alpha.size):
        if is_free(v, a):
            F[n], inside[n], group[n], slots[n] = a, n, v.group[a], rows.slot[a % samples]
            alpha[n], lower[n], upper[n] = v.alpha[a], v.lower[a], v.upper[a]
            gradient[n] = v.gradient[a] + v.rise[group[n], a]
            scale = largest(scale, abs(v.diagonal[a]))
            present &= slots[n] >= 0
            n += 1
    if not present:
        return -1, 0.0, DONE
    for k in range(free):
        whole, row = rows.values[slots[k]], Q[k]
        for n in range(free):
            row[n] = whole[F[n] % samples]
        row[k] = v.diagonal[F[k]]
    jitter = FIRST_JITTER
    while not factor_of(Q, jitter * scale, R, potrf):
        jitter *= 100.0
        if jitter > LAST_JITTER:
            return 0, 0.0, DONE
    # The literal 0 has another Numba type, for which the callee would be compiled again.
    none: Any = np.int64(0)
    rounds, _, _, gain, state = face_rounds(
        Q, R, inside, none, alpha, gradient, lower, upper, group, work[OWN_VECTORS:], most
    )
    moved: Any = np.int64(0)
    for k in range(free):
        a = F[k]
        delta = alpha[k] - v.alpha[a]
        if delta != 0.0:
            v.alpha[a] = alpha[k]
            v.gradient[a] -= v.ridge[a] * delta
            set_penalties(v, a)
            slots[moved], change[moved] = slots[k], delta
            moved += 1
    for start in range(0, v.gradient.size, samples):
        subtract_rows(v.gradient[start : start + samples], rows.values, slots, change, moved)
    return rounds, gain, state


@inlined
def subtract_rows(total: Float, values: Array, slots: Int, change: Float, count: int) -> None:
    """total −= Σ_k change_k · values[slots_k] for k < count, four rows in a pass"""
    for k in range(0, count, 4):
        # Fewer than four left: the first row stands in for missing ones, with coefficient 0.
        p, b = (k + 1, change[k + 1]) if k + 1 < count else (k, 0.0)
        q, c = (k + 2, change[k + 2]) if k + 2 < count else (k, 0.0)
        s, d = (k + 3, change[k + 3]) if k + 3 < count else (k, 0.0)
        a, row_a, row_b = change[k], values[slots[k]], values[slots[p]]
        row_c, row_d = values[slots[q]], values[slots[s]]
        for j in range(total.size):
            total[j] -= (a * row_a[j] + b * row_b[j]) + (c * row_c[j] + d * row_d[j])
