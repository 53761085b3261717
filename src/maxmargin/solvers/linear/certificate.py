"""The certificate of a linear model, recomputed from the data in float64.

With the outputs z = Xw + b and w_β = Σ β_i x_i, and β made feasible first,

    gap = ½‖w − w_β‖² + ½(penalty·b − Σβ)²/penalty + Σ ℓ_i(z_i) + ℓ_i*(−β_i) + z_i β_i     ("l2")
    gap = Σ_j |w_j| − w_j·(w_β)_j + penalty|b| − b·Σβ + the same sum                        ("l1")

is never negative term by term, so that it is computed without cancellation. An intercept without
penalty demands Σβ = 0, the penalty ‖w‖₁ demands |w_β| ≤ 1: β is repaired or scaled to obey.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dual.certificate import Certificate
from .chunked import dense
from .losses import LOGISTIC, Float, Loss, in_type
from .matrix import DenseMatrix, Matrix, SparseMatrix
from .records import Intercept, LinearProblem

# Problems with more entries, zeros included, are certified in float64.
PRECISE_ENTRIES = 200_000



def certify_linear(
    problem: LinearProblem, w: Float, b: float, beta: Float
) -> tuple[Certificate, Float]:
    """The certificate, and the feasible β that it is about."""
    intercept = problem.intercept
    beta = feasible(problem.loss, intercept, beta)
    products = precise_products(problem.matrix, w, beta)
    loss, kind = in_type(problem.loss, products.kind), products.kind
    w, w_beta, total = w.astype(kind), products.combined, beta.sum(dtype=kind)
    z = products.margins + kind(b)
    if problem.penalty == "l1":
        largest = max(float(np.abs(w_beta).max(initial=0.0)) + products.error, 1.0)
        if intercept.fitted and intercept.penalty > 0.0:
            largest = max(largest, float(abs(total)) / intercept.penalty)
        beta = beta / largest
        w_beta, total = w_beta / largest, total / largest
        size = np.abs(w).sum()
        gap = (np.abs(w) - w * w_beta).sum()
        if intercept.fitted:
            size += intercept.penalty * abs(b)
            gap += intercept.penalty * abs(b) - b * total
    else:
        size = 0.5 * (w @ w)
        gap = 0.5 * (np.linalg.norm((w - w_beta).astype(np.float64)) + products.error) ** 2
        if intercept.fitted and intercept.penalty > 0.0:
            size += 0.5 * intercept.penalty * b * b
            gap += 0.5 * (intercept.penalty * b - total) ** 2 / intercept.penalty
        elif intercept.fitted:
            gap += abs(b * total)
    values, remains = loss_values(loss, z, beta.astype(kind))
    error = products.errors + np.finfo(kind).eps * abs(b)
    gap = float(gap + remains.sum() + (error * np.abs(beta)).sum())
    primal = float(size + values.sum())
    certificate = Certificate(
        primal=primal,
        dual=primal - gap,
        gap=gap,
        violation=float(np.abs(violations(loss, z, beta.astype(kind))).max(initial=0.0)),
        infeasibility=0.0,
    )
    return certificate, beta


class Products(NamedTuple):
    """Xw and Σ β_i x_i with what rounding may have added to each output, and to the length of the
    other; computed in numbers of this kind."""

    margins: Any
    combined: Any
    errors: Float
    error: float
    kind: Any


def precise_products(matrix: Matrix, w: Float, beta: Float) -> Products:
    """The products of a certificate, of small problems in extended precision where there is any.

    The solver's own w = Σ β_i x_i would agree with itself to the last bit and hide its rounding.
    """
    kind: Any = np.float64
    if isinstance(matrix, DenseMatrix | SparseMatrix) and matrix.n * matrix.d <= PRECISE_ENTRIES:
        kind = np.longdouble
        X = dense(matrix).astype(kind)
        margins, combined = X @ w.astype(kind), beta.astype(kind) @ X
    else:
        margins, combined = matrix.margins(w), matrix.combine(beta)
    eps, norms = float(np.finfo(kind).eps), np.sqrt(matrix.squared_norms)
    errors = eps * float(np.linalg.norm(w)) * norms
    return Products(margins, combined, errors, eps * float(np.abs(beta) @ norms), kind)


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
        margin = loss.target * z
        # The logistic function of −margin, which does not overflow.
        share = np.exp(-np.logaddexp(0.0, margin))
        return loss.target * loss.height * share - beta
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
