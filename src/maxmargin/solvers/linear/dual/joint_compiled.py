"""Compiled passes of the joint multi-class machine: projections, sweeps and sums over samples.

The dual variables of sample i are one number a class, β_i, with Σ_k β_ik = 0, β_ik ≤ 0 for the
wrong classes and β_ik ≤ C_i for its own.
"""

from __future__ import annotations

import numpy as np

from ....dual.problem import Int
from ....kernels.base import Array
from ....runtime.jit import compiled
from ..losses import Float


@compiled
def project(v: Float, own: int, C: float, out: Float) -> None:
    """The nearest point to v with Σ = 0 below the ceiling (C at `own`, 0 elsewhere)."""
    k = v.size
    gaps = np.empty(k)
    for c in range(k):
        gaps[c] = v[c] - (C if c == own else 0.0)
    # out = ceiling + min(gap − τ, 0) and Σ out = C + Σ min(gap − τ, 0) = 0.
    order = gaps.copy()
    for m in range(1, k):
        here = order[m]
        at = m
        while at > 0 and order[at - 1] > here:
            order[at] = order[at - 1]
            at -= 1
        order[at] = here
    total, tau = 0.0, 0.0
    for m in range(1, k + 1):
        total += order[m - 1]
        tau = (total + C) / m
        if m == k or tau <= order[m]:
            break
    for c in range(k):
        out[c] = (C if c == own else 0.0) + min(gaps[c] - tau, 0.0)


@compiled
def respond(
    Z: Float, codes: Int, cost: Float, center: Float, sigma: float, beta: Float, free: Array
) -> None:
    """β = the projection of center − σ(z + e), with e = 1 for the wrong classes, and which
    classes are below their ceiling."""
    n, k = Z.shape
    v = np.empty(k)
    for i in range(n):
        own = codes[i]
        for c in range(k):
            v[c] = center[i, c] - sigma * (Z[i, c] + (0.0 if c == own else 1.0))
        project(v, own, cost[i], beta[i])
        for c in range(k):
            free[i, c] = beta[i, c] < (cost[i] if c == own else 0.0)


@compiled
def measure(Z: Float, codes: Int, cost: Float, beta: Float) -> tuple[float, float]:
    """Σ C max_k(e_k + z_k − z_own), and how much more that is than −Σ (z + e)·β."""
    value, slack = 0.0, 0.0
    for i in range(Z.shape[0]):
        own = codes[i]
        worst = 0.0
        for c in range(Z.shape[1]):
            if c != own:
                worst = max(worst, 1.0 + Z[i, c] - Z[i, own])
        value += cost[i] * worst
        # Σ β = 0, so z_own may be taken off every z.
        term = cost[i] * worst
        for c in range(Z.shape[1]):
            if c != own:
                term += (1.0 + Z[i, c] - Z[i, own]) * beta[i, c]
        slack += term
    return value, slack


@compiled
def slope_along(
    Z: Float, dZ: Float, t: float, codes: Int, cost: Float, center: Float, sigma: float
) -> float:
    """d/dt of the smoothed loss at Z + t·dZ."""
    n, k = Z.shape
    v, b = np.empty(k), np.empty(k)
    slope = 0.0
    for i in range(n):
        own = codes[i]
        for c in range(k):
            v[c] = center[i, c] - sigma * (Z[i, c] + t * dZ[i, c] + (0.0 if c == own else 1.0))
        project(v, own, cost[i], b)
        for c in range(k):
            slope -= b[c] * dZ[i, c]
    return slope


@compiled
def apply_face(free: Array, sigma: float, U: Float) -> None:
    """U_i ← σ(I − 11ᵀ/|F|)U_i on the free classes F of each sample, 0 elsewhere."""
    for i in range(U.shape[0]):
        count, total = 0, 0.0
        for c in range(U.shape[1]):
            if free[i, c]:
                count += 1
                total += U[i, c]
        mean = total / count if count > 0 else 0.0
        for c in range(U.shape[1]):
            U[i, c] = sigma * (U[i, c] - mean) if free[i, c] else 0.0


@compiled
def update_block(scores: Float, own: int, C: float, q: float, beta: Float, change: Float) -> float:
    """The best β of one sample for z = scores, and its change; q = ‖x‖² + κ."""
    k = beta.size
    v, new = np.empty(k), np.empty(k)
    for c in range(k):
        v[c] = beta[c] - (scores[c] + (0.0 if c == own else 1.0)) / q
    project(v, own, C, new)
    largest = 0.0
    for c in range(k):
        change[c] = new[c] - beta[c]
        largest = max(largest, abs(change[c]))
        beta[c] = new[c]
    return largest


@compiled
def sweep_sparse(
    indptr: Array,
    indices: Array,
    data: Array,
    codes: Int,
    cost: Float,
    norms: Float,
    beta: Float,
    W: Float,
    b: Float,
    kappa: float,
    order: Int,
) -> None:
    """One epoch of coordinate descent over samples; W is features × classes."""
    k = W.shape[1]
    scores, change = np.empty(k), np.empty(k)
    for o in range(order.size):
        i = order[o]
        q = norms[i] + kappa
        if q <= 0.0:
            continue
        scores[:] = b
        for p in range(indptr[i], indptr[i + 1]):
            x = data[p]
            row = W[indices[p]]
            for c in range(k):
                scores[c] += x * row[c]
        if update_block(scores, codes[i], cost[i], q, beta[i], change) > 0.0:
            for p in range(indptr[i], indptr[i + 1]):
                x = data[p]
                row = W[indices[p]]
                for c in range(k):
                    row[c] += x * change[c]
            for c in range(k):
                b[c] += kappa * change[c]


@compiled
def sweep_dense(
    X: Array,
    codes: Int,
    cost: Float,
    norms: Float,
    beta: Float,
    W: Float,
    b: Float,
    kappa: float,
    order: Int,
) -> None:
    """`sweep_sparse` for the rows of a dense matrix."""
    k = W.shape[1]
    scores, change = np.empty(k), np.empty(k)
    for o in range(order.size):
        i = order[o]
        q = norms[i] + kappa
        if q <= 0.0:
            continue
        scores[:] = b
        for j in range(X.shape[1]):
            for c in range(k):
                scores[c] += X[i, j] * W[j, c]
        if update_block(scores, codes[i], cost[i], q, beta[i], change) > 0.0:
            for j in range(X.shape[1]):
                for c in range(k):
                    W[j, c] += X[i, j] * change[c]
            for c in range(k):
                b[c] += kappa * change[c]
