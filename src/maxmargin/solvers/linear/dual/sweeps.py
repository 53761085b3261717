"""Compiled sweeps of dual coordinate descent, dense and sparse.

One variable at a time, with z = x·w + b and q = ‖x‖² + κ:

    β' = clip(soft(qβ + target − z, ε) / (q + ridge), lower, upper)
    w ← w + (β' − β) x,    b ← b + κ (β' − β)

κ is the square of the constant feature that stands for the intercept.
"""

from __future__ import annotations

import numpy as np

from ....dual.problem import Int
from ....kernels.base import Array
from ....runtime.jit import borrowing, inlined
from ..losses import Float, Loss


@inlined
def projected_gradient(loss: Loss, i: int, beta: float, residual: float) -> tuple[float, float]:
    """The slope of the dual in β_i, and what the box and the kink at 0 leave of it."""
    slope = residual - loss.ridge[i] * beta
    if beta > 0.0:
        slope -= loss.epsilon
    elif beta < 0.0:
        slope += loss.epsilon
    else:
        slope -= min(max(slope, -loss.epsilon), loss.epsilon)
    allowed = slope
    if beta <= loss.lower[i]:
        allowed = max(slope, 0.0)
    elif beta >= loss.upper[i]:
        allowed = min(slope, 0.0)
    return slope, allowed


@inlined
def improved(loss: Loss, i: int, beta: float, residual: float, q: float) -> float:
    """The maximiser of the dual in β_i alone."""
    v = q * beta + residual
    v -= min(max(v, -loss.epsilon), loss.epsilon)
    result: float = min(max(v / (q + loss.ridge[i]), loss.lower[i]), loss.upper[i])
    return result


@inlined
def settled(loss: Loss, i: int, beta: float, slope: float, least: float, most: float) -> bool:
    """Whether a variable at a bound is pushed against it harder than any other was pulled."""
    return (beta <= loss.lower[i] and slope < least) or (beta >= loss.upper[i] and slope > most)


@borrowing
def shuffle(order: Int, count: int, state: Array) -> None:
    """A random permutation of the first entries; the xorshift state is a uint64 array of one."""
    x = state[0]
    for k in range(count - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        j = np.int64(x % np.uint64(k + 1))
        order[k], order[j] = order[j], order[k]
    state[0] = x


@borrowing
def sweep_sparse(
    indptr: Array,
    indices: Array,
    data: Array,
    loss: Loss,
    norms: Float,
    beta: Float,
    w: Float,
    b: float,
    kappa: float,
    order: Int,
    count: int,
    least: float,
    most: float,
    shrinking: bool,
) -> tuple[float, int, float, float]:
    """One pass over ``order[:count]``; returns b, the count left, and the range of the projected
    gradient. Variables that leave are moved behind the count."""
    low, high = np.inf, -np.inf
    k = 0
    while k < count:
        i = order[k]
        z = b
        for p in range(indptr[i], indptr[i + 1]):
            z += data[p] * w[indices[p]]
        residual = loss.target[i] - z
        slope, allowed = projected_gradient(loss, i, beta[i], residual)
        if shrinking and settled(loss, i, beta[i], slope, least, most):
            count -= 1
            order[k], order[count] = order[count], i
            continue
        k += 1
        low, high = min(low, allowed), max(high, allowed)
        if allowed != 0.0:
            q = norms[i] + kappa
            if q + loss.ridge[i] > 0.0:
                new = improved(loss, i, beta[i], residual, q)
            else:
                new = loss.upper[i] if allowed > 0.0 else loss.lower[i]
            change = new - beta[i]
            beta[i] = new
            b += kappa * change
            for p in range(indptr[i], indptr[i + 1]):
                w[indices[p]] += change * data[p]
    return b, count, low, high


@borrowing
def sweep_dense(
    X: Array,
    loss: Loss,
    norms: Float,
    beta: Float,
    w: Float,
    b: float,
    kappa: float,
    order: Int,
    count: int,
    least: float,
    most: float,
    shrinking: bool,
) -> tuple[float, int, float, float]:
    """`sweep_sparse` for the rows of a dense matrix."""
    low, high = np.inf, -np.inf
    k = 0
    while k < count:
        i = order[k]
        row = X[i]
        z = 0.0
        for j in range(row.size):
            z += row[j] * w[j]
        residual = loss.target[i] - (z + b)
        slope, allowed = projected_gradient(loss, i, beta[i], residual)
        if shrinking and settled(loss, i, beta[i], slope, least, most):
            count -= 1
            order[k], order[count] = order[count], i
            continue
        k += 1
        low, high = min(low, allowed), max(high, allowed)
        if allowed != 0.0:
            q = norms[i] + kappa
            if q + loss.ridge[i] > 0.0:
                new = improved(loss, i, beta[i], residual, q)
            else:
                new = loss.upper[i] if allowed > 0.0 else loss.lower[i]
            change = new - beta[i]
            beta[i] = new
            b += kappa * change
            for j in range(row.size):
                w[j] += change * row[j]
    return b, count, low, high
