"""The certificate of a linear model, recomputed from the data in float64.

With the outputs z = Xw + b and w_β = Σ β_i x_i, and β made feasible first,

    gap = ½‖w − w_β‖² + ½(penalty·b − Σβ)²/penalty + Σ ℓ_i(z_i) + ℓ_i*(−β_i) + z_i β_i     ("l2")
    gap = Σ_j |w_j| − w_j·(w_β)_j + penalty|b| − b·Σβ + the same sum                        ("l1")

is never negative term by term, so that it is computed without cancellation. An intercept without
penalty demands Σβ = 0, the penalty ‖w‖₁ demands |w_β| ≤ 1: β is repaired or scaled to obey.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ...dual.certificate import Certificate
from .losses import LOGISTIC, Float, Loss
from .records import Intercept, LinearProblem


def certify_linear(
    problem: LinearProblem, w: Float, b: float, beta: Float
) -> tuple[Certificate, Float]:
    """The certificate, and the feasible β that it is about."""
    matrix, loss, intercept = problem.matrix, problem.loss, problem.intercept
    z = matrix.margins(w) + b
    beta = feasible(loss, intercept, beta)
    w_beta, total = matrix.combine(beta), float(beta.sum())
    if problem.penalty == "l1":
        largest = max(float(np.abs(w_beta).max(initial=0.0)), 1.0)
        if intercept.fitted and intercept.penalty > 0.0:
            largest = max(largest, abs(total) / intercept.penalty)
        beta, w_beta, total = beta / largest, w_beta / largest, total / largest
        primal = float(np.abs(w).sum())
        gap = float((np.abs(w) - w * w_beta).sum())
        if intercept.fitted:
            primal += intercept.penalty * abs(b)
            gap += intercept.penalty * abs(b) - b * total
    else:
        primal = 0.5 * float(w @ w)
        gap = 0.5 * float((w - w_beta) @ (w - w_beta))
        if intercept.fitted and intercept.penalty > 0.0:
            primal += 0.5 * intercept.penalty * b * b
            gap += 0.5 * (intercept.penalty * b - total) ** 2 / intercept.penalty
        elif intercept.fitted:
            gap += abs(b * total)
    values, remains = loss_values(loss, z, beta)
    primal += float(values.sum())
    gap += float(remains.sum())
    certificate = Certificate(
        primal=primal,
        dual=primal - gap,
        gap=gap,
        violation=float(np.abs(violations(loss, z, beta)).max(initial=0.0)),
        infeasibility=0.0,
    )
    return certificate, beta


def feasible(loss: Loss, intercept: Intercept, beta: Float) -> Float:
    """β in its box and, for an intercept without penalty, with Σβ = 0.

    Variables strictly inside the box share the correction; where they have not the room, all do
    that have.
    """
    beta = np.clip(beta, loss.lower, loss.upper)
    if not intercept.fitted or intercept.penalty > 0.0:
        return beta
    for attempt in range(60):
        missing = -float(beta.sum())
        if abs(missing) <= 1e-16 * float(np.abs(beta).sum()):
            break
        room = (loss.upper if missing > 0 else loss.lower) - beta
        inside = (beta > loss.lower) & (beta < loss.upper) & (beta != 0.0)
        chosen = inside if inside.any() and attempt < 5 else room != 0.0
        if not chosen.any():
            break
        share = missing / np.count_nonzero(chosen)
        beta = np.where(chosen, beta + np.clip(share, -np.abs(room), np.abs(room)), beta)
    return beta


def loss_values(loss: Loss, z: Float, beta: Float) -> tuple[Float, Float]:
    """ℓ(z), and ℓ(z) + ℓ*(−β) + zβ, which is never negative."""
    if loss.kind == LOGISTIC:
        values = loss.height * np.logaddexp(0.0, -loss.target * z)
        share = np.clip(loss.target * beta / loss.height, 0.0, 1.0)
        entropy = -_xlogx(share) - _xlogx(1.0 - share)
        remains = values + loss.height * (share * loss.target * z - entropy)
        return values, np.maximum(remains, 0.0)
    residual = loss.target - z
    best = best_answers(loss, residual)
    values = _beyond(residual, loss.epsilon) * best - 0.5 * loss.ridge * best * best
    remains = (best - beta) * (residual - 0.5 * loss.ridge * (best + beta))
    if loss.epsilon > 0.0:
        remains -= loss.epsilon * (np.abs(best) - np.abs(beta))
    return values, np.maximum(remains, 0.0)


def best_answers(loss: Loss, residual: Float) -> Float:
    """The β that attains ℓ."""
    excess = _beyond(residual, loss.epsilon)
    if (loss.ridge > 0.0).all():
        return np.clip(excess / loss.ridge, loss.lower, loss.upper)
    return np.where(excess > 0.0, loss.upper, np.where(excess < 0.0, loss.lower, 0.0))


def violations(loss: Loss, z: Float, beta: Float) -> Float:
    """The slope of the dual in each β, as far as its box lets it be followed."""
    if loss.kind == LOGISTIC:
        return loss.target * loss.height * expit(-loss.target * z) - beta
    slope = loss.target - z - loss.ridge * beta
    slope = np.where(
        beta == 0.0, _beyond(slope, loss.epsilon), slope - loss.epsilon * np.sign(beta)
    )
    slope = np.where(beta <= loss.lower, np.maximum(slope, 0.0), slope)
    return np.where(beta >= loss.upper, np.minimum(slope, 0.0), slope)


def _beyond(v: Float, epsilon: float) -> Float:
    if epsilon == 0.0:
        return v
    return v - np.clip(v, -epsilon, epsilon)


def _xlogx(p: Float) -> Float:
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)
