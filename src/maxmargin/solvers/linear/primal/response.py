"""Compiled passes over the samples: the dual response to given outputs, and line search.

With outputs z and a proximal pull towards `center` of strength 1/σ, each sample answers with

    β(z) = argmax (target − z)β − ε|β| − ½ ridge β² − (β − center)²/2σ
    h(z) = −dβ/dz

so that −Σβ(z) is the gradient of a loss that is smooth for finite σ, and is the loss itself when
1/σ = 0. The passes cost a few additions a sample; all products with the data are elsewhere.
"""

from __future__ import annotations

import math

import numpy as np

from ....runtime.jit import borrowing, from_python, inlined
from ..losses import LOGISTIC, Float, Loss
from . import logistic

# A complementarity below this fraction of the loss is rounding.
NEGLIGIBLE = 1e-14


@inlined
def respond_logistic(loss: Loss, i: int, z: float) -> tuple[float, float]:
    y, C = loss.target[i], loss.upper[i] - loss.lower[i]
    p, bend = logistic.answer(y * z)
    return y * C * p, C * bend


@inlined
def respond_one(
    loss: Loss, i: int, z: float, center: float, inv_sigma: float
) -> tuple[float, float]:
    """The answer of a loss with a quadratic conjugate."""
    stiffness = 1.0 / (loss.ridge[i] + inv_sigma)
    v = loss.target[i] - z + center * inv_sigma
    newton = (v - min(max(v, -loss.epsilon), loss.epsilon)) * stiffness
    beta = min(max(newton, loss.lower[i]), loss.upper[i])
    return beta, stiffness if (beta == newton and beta != 0.0) else 0.0


@borrowing
def respond(
    loss: Loss, z: Float, center: Float, inv_sigma: float, beta: Float, h: Float
) -> tuple[float, float]:
    """Fills β and h; returns Σβ and Σh."""
    # A loop for each kind, here and below: with the choice inside, neither is vectorised.
    if loss.kind == LOGISTIC:
        for i in range(z.size):
            beta[i], h[i] = respond_logistic(loss, i, z[i])
    else:
        for i in range(z.size):
            beta[i], h[i] = respond_one(loss, i, z[i], center[i], inv_sigma)
    # Sums have their own loops, see `runtime.jit`.
    total, stiffness = 0.0, 0.0
    for i in range(z.size):
        total += beta[i]
        stiffness += h[i]
    return total, stiffness


@inlined
def total_response(
    loss: Loss, z: Float, shift: float, center: Float, inv_sigma: float
) -> tuple[float, float]:
    total, stiffness = 0.0, 0.0
    if loss.kind == LOGISTIC:
        for i in range(z.size):
            b, k = respond_logistic(loss, i, z[i] + shift)
            total += b
            stiffness += k
        return total, stiffness
    for i in range(z.size):
        b, k = respond_one(loss, i, z[i] + shift, center[i], inv_sigma)
        total += b
        stiffness += k
    return total, stiffness


@inlined
def free_shifts(
    loss: Loss, z: Float, shift: float, center: Float, inv_sigma: float
) -> tuple[float, float]:
    """How far all outputs can decrease and increase before some β changes, if none does now."""
    down, up = np.inf, np.inf
    for i in range(z.size):
        v = loss.target[i] - z[i] - shift + center[i] * inv_sigma
        stiffness = loss.ridge[i] + inv_sigma
        highest = loss.upper[i] * stiffness + loss.epsilon
        lowest = loss.lower[i] * stiffness - loss.epsilon
        if v >= highest:
            up = min(up, v - highest)
        elif v <= lowest:
            down = min(down, lowest - v)
        elif abs(v) <= loss.epsilon:
            up, down = min(up, v + loss.epsilon), min(down, loss.epsilon - v)
        else:  # within rounding of a bound
            return 0.0, 0.0
    return down, up


@borrowing
def balance(
    loss: Loss,
    z: Float,
    center: Float,
    inv_sigma: float,
    total: float,
    penalty: float,
    intercept: float,
    precision: float,
) -> float:
    """The shift δ of all outputs at which Σβ(z + δ) + total = penalty·(intercept + δ).

    The left side decreases with δ: Newton's method inside a bracket that first grows by doubling.
    If the solutions form an interval, its middle is returned.
    """
    shift, low, high = 0.0, -np.inf, np.inf
    reach = 0.0
    best, smallest, stiffness = 0.0, np.inf, 0.0
    for _ in range(200):
        s, k = total_response(loss, z, shift, center, inv_sigma)
        s += total - penalty * (intercept + shift)
        k += penalty
        if abs(s) < smallest:
            best, smallest, stiffness = shift, abs(s), k
        if abs(s) <= precision:
            break
        if s > 0.0:
            low = shift
        else:
            high = shift
        if reach == 0.0:
            reach = abs(s) / k if k > 0.0 else 1e-3
        proposal = shift + s / k if k > 0.0 else (np.inf if s > 0.0 else -np.inf)
        if high == np.inf:
            reach *= 4.0
            proposal = min(proposal, shift + reach)
        elif low == -np.inf:
            reach *= 4.0
            proposal = max(proposal, shift - reach)
        elif not (low < proposal < high):
            proposal = 0.5 * (low + high)
            if not (low < proposal < high):
                break
        shift = proposal
    if stiffness == 0.0 and smallest <= precision and loss.kind != LOGISTIC:
        down, up = free_shifts(loss, z, best, center, inv_sigma)
        if down < np.inf and up < np.inf:
            best += 0.5 * (up - down)
    return best


@inlined
def best_answer(loss: Loss, i: int, residual: float) -> tuple[float, float]:
    """The β that attains ℓ(z), and ℓ(z), for the residual target − z (quadratic kinds). Without a
    ridge the quotient is huge, and β at a bound."""
    v = residual - min(max(residual, -loss.epsilon), loss.epsilon)
    best = min(max(v / max(loss.ridge[i], 1e-290), loss.lower[i]), loss.upper[i])
    return best, v * best - 0.5 * loss.ridge[i] * best * best


@inlined
def measure_logistic(loss: Loss, z: Float, beta: Float) -> tuple[float, float]:
    """The same sums for the logistic loss, whose complementarity is C KL(q‖p), q = yβ/C.

    It is at most C (q − p)² / p(1 − p), which is 0 but for rounding if β is the response to z. Only
    if that is not negligible, the logarithms are computed.
    """
    value, bound = 0.0, 0.0
    for i in range(z.size):
        C = loss.upper[i] - loss.lower[i]
        margin = loss.target[i] * z[i]
        p, bend = logistic.answer(margin)
        missed = loss.target[i] * beta[i] - C * p
        value += C * logistic.value(margin)
        bound += missed * missed / (C * bend) if missed != 0.0 else 0.0
    if bound <= NEGLIGIBLE * value:
        return value, bound
    slack = 0.0
    for i in range(z.size):
        C = loss.upper[i] - loss.lower[i]
        margin = loss.target[i] * z[i]
        q = min(max(loss.target[i] * beta[i] / C, 0.0), 1.0)
        slack += C * max(logistic.value(margin) + q * margin - logistic.entropy(q), 0.0)
    return value, slack


@borrowing
def measure(loss: Loss, z: Float, beta: Float) -> tuple[float, float]:
    """Σ ℓ(z) and the complementarity Σ ℓ(z) + ℓ*(−β) + zβ, whose terms are never negative."""
    if loss.kind == LOGISTIC:
        return measure_logistic(loss, z, beta)
    value, slack = 0.0, 0.0
    for i in range(z.size):
        residual = loss.target[i] - z[i]
        best, here = best_answer(loss, i, residual)
        value += here
        slack += (best - beta[i]) * (
            residual - 0.5 * loss.ridge[i] * (best + beta[i])
        ) - loss.epsilon * (abs(best) - abs(beta[i]))
    return value, slack


@borrowing
def proximal_slack(
    loss: Loss, z: Float, center: Float, inv_sigma: float, beta: Float, coef: Float
) -> float:
    """The loss of dual value of other dual variables against β, the response to z, in the smoothed
    problem: a sum of non-negative terms."""
    slack = 0.0
    for i in range(z.size):
        if loss.kind != LOGISTIC:
            v = loss.target[i] - z[i] + center[i] * inv_sigma
            stiffness = loss.ridge[i] + inv_sigma
            slack += (beta[i] - coef[i]) * (
                v - 0.5 * stiffness * (beta[i] + coef[i])
            ) - loss.epsilon * (abs(beta[i]) - abs(coef[i]))
    return slack


@borrowing
def dual_value(loss: Loss, beta: Float) -> float:
    """−Σ ℓ*(−β)."""
    value = 0.0
    for i in range(beta.size):
        if loss.kind == LOGISTIC:
            C = loss.upper[i] - loss.lower[i]
            value += C * logistic.entropy(min(max(loss.target[i] * beta[i] / C, 0.0), 1.0))
        else:
            value += (
                loss.target[i] * beta[i]
                - loss.epsilon * abs(beta[i])
                - 0.5 * loss.ridge[i] * beta[i] * beta[i]
            )
    return value


@inlined
def slope_and_bend(
    loss: Loss, z: Float, dz: Float, t: float, center: Float, inv_sigma: float
) -> tuple[float, float]:
    """d/dt and d²/dt² of the smoothed loss at z + t·dz."""
    slope, bend = 0.0, 0.0
    if loss.kind == LOGISTIC:
        for i in range(z.size):
            b, k = respond_logistic(loss, i, z[i] + t * dz[i])
            slope -= b * dz[i]
            bend += k * dz[i] * dz[i]
        return slope, bend
    for i in range(z.size):
        b, k = respond_one(loss, i, z[i] + t * dz[i], center[i], inv_sigma)
        slope -= b * dz[i]
        bend += k * dz[i] * dz[i]
    return slope, bend


@inlined
def size_of_terms(loss: Loss, z: Float, dz: Float, center: Float, inv_sigma: float) -> float:
    """Σ |β dz|, to know what is rounding in a slope at z."""
    total = 0.0
    if loss.kind == LOGISTIC:
        for i in range(z.size):
            total += abs(respond_logistic(loss, i, z[i])[0] * dz[i])
        return total
    for i in range(z.size):
        total += abs(respond_one(loss, i, z[i], center[i], inv_sigma)[0] * dz[i])
    return total


slope_along = from_python(slope_and_bend)


@inlined
def between(low: float, high: float, tried: int) -> float:
    """A number between the two, on a logarithmic scale if they are far apart: the first kink of a
    stiff problem may be at 1e-20 of a step."""
    if low == 0.0:
        return high * 0.5 ** (1 + tried * tried)
    if high > 4.0 * low:
        return math.sqrt(low) * math.sqrt(high)
    return 0.5 * (low + high)


@borrowing
def line_search(
    loss: Loss,
    z: Float,
    dz: Float,
    center: Float,
    inv_sigma: float,
    linear: float,
    quadratic: float,
    accuracy: float,
) -> float:
    """The t > 0 where the derivative ``linear + t·quadratic + loss'(t)`` has fallen to `accuracy`
    of that at 0: Newton's method in one dimension, inside a bracket."""
    slope = slope_and_bend(loss, z, dz, 0.0, center, inv_sigma)[0]
    terms = abs(linear) + size_of_terms(loss, z, dz, center, inv_sigma)
    # Smaller slopes are rounding.
    enough = max(accuracy * abs(slope + linear), 1e-15 * terms)
    low, high, t, tried = 0.0, np.inf, 1.0, 0
    for _ in range(60):
        slope, bend = slope_and_bend(loss, z, dz, t, center, inv_sigma)
        slope += linear + t * quadratic
        bend += quadratic
        if abs(slope) <= enough:
            break
        if slope < 0.0:
            low = t
        else:
            high = t
        newton = t - slope / bend
        if high == np.inf:
            t = min(max(newton, 1.5 * t), 10.0 * t)
        # speed only: Newton's point is taken unless it is close to an end of the bracket
        elif low + 0.02 * (high - low) < newton < high - 0.02 * (high - low):
            t = newton
        else:
            t = between(low, high, tried)
            tried += 1
            if not (low < t < high):
                break
    return t


@borrowing
def distance_to_face(
    loss: Loss, z: Float, center: Float, inv_sigma: float, distance: Float
) -> None:
    """Distance of each output from where β starts to change; 0 if it changes now."""
    for i in range(z.size):
        if loss.kind == LOGISTIC:
            distance[i] = 0.0
            continue
        v = loss.target[i] - z[i] + center[i] * inv_sigma
        stiffness = loss.ridge[i] + inv_sigma
        highest = loss.upper[i] * stiffness + loss.epsilon
        lowest = loss.lower[i] * stiffness - loss.epsilon
        if v >= highest:
            distance[i] = v - highest
        elif v <= lowest:
            distance[i] = lowest - v
        elif abs(v) < loss.epsilon:
            distance[i] = loss.epsilon - abs(v)
        else:
            distance[i] = 0.0
