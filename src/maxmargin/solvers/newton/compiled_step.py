"""The face step for some hundred free variables: the same, without leaving compiled code.

A Newton step on a dozen variables takes no longer than a dozen pair steps do, so that it may come
every few pair steps; from Python the call alone would cost more than both.
"""

import numpy as np

from ...runtime.jit import called, compiled, inlined
from ...runtime.lapack import lapack_factor
from ..smo.selection import is_free
from ..smo.step import set_penalties
from .step import DONE, FIRST_JITTER, LAST_JITTER, face_rounds

# Free variables, at most; more are worth several threads.
LARGEST_SMALL = 500
# Up to so many are factored here, in less time than LAPACK takes.
LARGEST_OWN = 64
NO_STEP = (0, 0.0, DONE)


@inlined
def free_variables(v):
    """How many variables are free (`is_free`, without looking up their groups)."""
    count = 0
    for g in range(len(v.rise)):
        rise, fall = v.rise[g], v.fall[g]
        for a in range(rise.size):
            count += rise[a] == fall[a]
    return count


@inlined
def in_memory(v, rows, samples):
    """Whether the rows of all free variables are."""
    missing = 0
    for a in range(v.alpha.size):
        missing += is_free(v, a) and rows.slot[a % samples] < 0
    return missing == 0


@compiled
def factor_of(Q, shift, R, potrf):
    """R ← upper Cholesky factor of Q + shift·1; whether Q is positive, but for rounding.

    If it is, no pivot is smaller than the shift; one that is consists of rounding. `potrf` is the
    address of LAPACK's.
    """
    size, least = R.shape[0], 0.5 * shift
    for i in range(size):
        for j in range(i, size):
            R[i, j] = Q[i, j]
        R[i, i] += shift
    if size <= LARGEST_OWN:
        return own_factor(R, least)
    if not lapack_factor(potrf, R):
        return False
    smallest = np.inf
    for i in range(size):
        smallest = min(smallest, R[i, i])
    return smallest * smallest > least


@inlined
def own_factor(R, least):
    """R ← its upper Cholesky factor; whether all pivots are larger than `least`."""
    size = R.shape[0]
    for first in range(0, size, 4):
        last = min(first + 4, size)
        for i in range(first, last):
            for p in range(first, i):
                ratio = R[p, i]
                for j in range(i, size):
                    R[i, j] -= ratio * R[p, j]
            if not R[i, i] > least:
                return False
            R[i, i] = np.sqrt(R[i, i])
            for j in range(i + 1, size):
                R[i, j] /= R[i, i]
        if last == size:
            break
        # Four rows leave the rest in one pass.
        a, b, c, d = R[first], R[first + 1], R[first + 2], R[first + 3]
        for k in range(last, size):
            of_a, of_b, of_c, of_d, row = a[k], b[k], c[k], d[k], R[k]
            for j in range(k, size):
                row[j] -= (of_a * a[j] + of_b * b[j]) + (of_c * c[j] + of_d * d[j])
    return True


@compiled
def small_face_step(v, rows, samples, free, most, potrf):
    """`face_step` on so many free variables, in at most so many rounds; (rounds, gain, state)."""
    F, n = np.empty(free, np.int64), 0
    for a in range(v.alpha.size):
        if is_free(v, a):
            F[n] = a
            n += 1
    Q, R = np.empty((free, free)), np.empty((free, free))
    alpha, gradient = np.empty(free), np.empty(free)
    lower, upper, group = np.empty(free), np.empty(free), np.empty(free, np.int64)
    scale = 0.0
    for k in range(free):
        a = F[k]
        row = rows.values[rows.slot[a % samples]]
        for n in range(free):
            Q[k, n] = row[F[n] % samples]
        Q[k, k] = v.diagonal[a]
        scale = max(scale, abs(Q[k, k]))
        alpha[k], lower[k], upper[k], group[k] = v.alpha[a], v.lower[a], v.upper[a], v.group[a]
        gradient[k] = v.gradient[a] + v.rise[group[k], a]
    jitter = FIRST_JITTER
    while not factor_of(Q, jitter * scale, R, potrf):
        jitter *= 100.0
        if jitter > LAST_JITTER:
            return NO_STEP
    # A plain 0 would be a type of its own, for which all is compiled again.
    inside, refined = np.arange(free), np.int64(0)
    rounds, _, _, gain, state = face_rounds(
        Q, R, inside, refined, alpha, gradient, lower, upper, group, len(v.rise), most
    )
    place(v, rows, samples, F, alpha)
    return rounds, gain, state


@called
def place(v, rows, samples, variables, values):
    """Set the α of variables, exactly, and update the gradient: four rows in a pass."""
    slots, change = np.empty(variables.size + 3, np.int64), np.zeros(variables.size + 3)
    moved = 0
    for k in range(variables.size):
        a = variables[k]
        delta = values[k] - v.alpha[a]
        if delta != 0.0:
            v.alpha[a] = values[k]
            v.gradient[a] -= v.ridge[a] * delta
            set_penalties(v, a)
            slots[moved], change[moved] = rows.slot[a % samples], delta
            moved += 1
    for k in range(moved, moved + 3):
        slots[k], change[k] = slots[0], 0.0
    for start in range(0, v.gradient.size, samples):
        gradient = v.gradient[start : start + samples]
        for k in range(0, moved, 4):
            a, b, c, d = change[k], change[k + 1], change[k + 2], change[k + 3]
            row_a, row_b = rows.values[slots[k]], rows.values[slots[k + 1]]
            row_c, row_d = rows.values[slots[k + 2]], rows.values[slots[k + 3]]
            for s in range(samples):
                gradient[s] -= (a * row_a[s] + b * row_b[s]) + (c * row_c[s] + d * row_d[s])
