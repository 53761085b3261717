"""The certificate of a linear model, recomputed from the data in float64.

With the outputs z = Xw + b and w_β = Σ β_i x_i, and β made feasible first,

    gap = ½‖w − w_β‖² + ½(penalty·b − Σβ)²/penalty + Σ ℓ_i(z_i) + ℓ_i*(−β_i) + z_i β_i     ("l2")
    gap = Σ_j |w_j| − w_j·(w_β)_j + penalty|b| − b·Σβ + the same sum                        ("l1")

is never negative term by term, so that it is computed without cancellation. An intercept without
penalty demands Σβ = 0, the penalty ‖w‖₁ demands |w_β| ≤ 1: β is repaired or scaled to obey.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...dual.certificate import Certificate
from .costs import COSTS
from .data.chunked import dense
from .data.matrix import DenseMatrix, Matrix, SparseMatrix
from .losses import LOGISTIC, Float, Loss, in_type
from .records import Intercept, LinearProblem


def certify_linear(
    problem: LinearProblem, w: Float, b: float, beta: Float, tol: float = 0.0
) -> tuple[Certificate, Float]:
    """The certificate, and the feasible β that it refers to.

    What rounding may have hidden is part of the gap. If float64 cannot show that the relative gap
    is within `tol`, small problems are computed again in extended precision.
    """
    beta = feasible(problem.loss, problem.intercept, beta)
    kind = widest_kind(problem.matrix)
    if tol > 0.0 and kind is not np.float64:
        found = _certified(problem, w, b, beta, np.float64)
        if found[0].relative_gap <= tol:
            return found
    return _certified(problem, w, b, beta, kind)


def widest_kind(matrix: Matrix) -> Any:
    """The widest type of numbers that a certificate may be computed in."""
    small = isinstance(matrix, DenseMatrix | SparseMatrix)
    return np.longdouble if small and matrix.n * matrix.d <= COSTS.small_entries else np.float64


def _certified(
    problem: LinearProblem, w: Float, b: float, beta: Float, kind: Any
) -> tuple[Certificate, Float]:
    """The certificate computed in numbers of this kind, for a feasible β."""
    intercept = problem.intercept
    free = intercept.fitted and intercept.penalty == 0.0
    products = products_in(kind, problem.matrix, w, beta, free)
    if problem.penalty == "l1":
        beta = beta / excess_pull(products, intercept, beta)
        products = products_in(kind, problem.matrix, w, beta, free)
    loss = in_type(problem.loss, kind)
    w, w_beta, total = w.astype(kind), products.combined, products.total
    if problem.penalty == "l1":
        size = np.abs(w).sum()
        gap = (np.abs(w) - w * w_beta).sum()
        if intercept.fitted:
            size += intercept.penalty * abs(b)
            gap += intercept.penalty * abs(b) - b * total
    else:
        size = 0.5 * (w @ w)
        gap = 0.5 * square(float(np.linalg.norm((w - w_beta).astype(np.float64))) + products.error)
        if intercept.fitted and intercept.penalty > 0.0:
            size += 0.5 * intercept.penalty * b * b
            gap += 0.5 * square(intercept.penalty * b - total) / intercept.penalty
        elif intercept.fitted:
            gap += abs(b * total)
    # Targets near b lose no digits if b is subtracted from them first.
    level = loss.target - kind(b)
    residual, exact = level - products.margins, beta.astype(kind)
    values, remains = loss_values(loss, residual, exact)
    error = products.errors + float(np.finfo(kind).eps) * np.abs(level).astype(np.float64)
    if loss.smooth:
        gap = float(gap + remains.sum()) + float(error @ np.abs(beta))
    else:
        # Beside a kink the loss may rise by more than β times the error.
        ends = [loss_values(loss, residual + sign * error, exact)[1] for sign in (1.0, -1.0)]
        gap = float(gap + np.maximum(*ends).sum())
    primal = float(size + values.sum())
    certificate = Certificate(
        primal=primal,
        dual=primal - gap,
        gap=gap,
        violation=float(np.abs(violations(loss, residual, exact)).max(initial=0.0)),
        infeasibility=0.0,
    )
    return certificate, beta


def excess_pull(products: Products, intercept: Intercept, beta: Float) -> float:
    """The divisor of β that makes |Σ β_i x_ij| ≤ 1 and |Σ β_i| ≤ penalty, with rounding."""
    eps = float(np.finfo(np.float64).eps)
    largest = float(np.abs(products.combined).max(initial=0.0)) + eps * products.terms
    if intercept.fitted and intercept.penalty > 0.0:
        total = float(abs(products.total)) + eps * float(np.abs(beta).sum())
        largest = max(largest, total / intercept.penalty)
    return max(1.0, largest)


def square(x: Any) -> Any:
    """x², which is infinite where ``x**2`` would raise OverflowError."""
    return x * x


class Products(NamedTuple):
    """Xw, Σ β_i x_i and Σ β_i, with what rounding may have added to each output and to the length
    of the second, whose terms have this length in sum."""

    margins: Any
    combined: Any
    total: Any
    errors: Float
    error: float
    terms: float


def products_in(kind: Any, matrix: Matrix, w: Float, beta: Float, free: bool) -> Products:
    """The products of a certificate, in float64 or in extended precision.

    The solver's own w = Σ β_i x_i would agree with itself to the last bit and hide its rounding.
    Where Σ β_i = 0, for the sake of a free intercept, the mean of the samples adds none.
    """
    total = beta.sum(dtype=np.longdouble)
    if kind is np.longdouble:
        total = np.longdouble(math.fsum(beta))
        X: Any = dense(matrix).astype(kind)
        margins, mean = X @ w.astype(kind), X.mean(axis=0) if free else kind(0.0)
        X -= mean
        combined = beta.astype(kind) @ X + mean * total
        lengths = np.sqrt(np.einsum("ij,ij->i", X, X)).astype(np.float64)
    else:
        margins, combined = matrix.margins(w), matrix.combine(beta)
        lengths = np.sqrt(matrix.squared_norms)
    eps = float(np.finfo(kind).eps)
    errors = eps * float(np.linalg.norm(w)) * np.sqrt(matrix.squared_norms)
    terms = float(np.abs(beta) @ lengths)
    return Products(margins, combined, total, errors, eps * terms, terms)


def feasible(loss: Loss, intercept: Intercept, beta: Float) -> Float:
    """β in its box and, for an intercept without penalty, with Σβ = 0.

    Variables strictly inside the box share the correction; if their slack is too small, all
    variables with slack do. The remaining rounding goes to a single one.
    """
    beta = np.clip(beta, loss.lower, loss.upper)
    if not intercept.fitted or intercept.penalty > 0.0:
        return beta
    for attempt in range(60):
        missing = -float(beta.sum())
        if abs(missing) <= 1e-16 * float(np.abs(beta).sum()):
            break
        slack = (loss.upper if missing > 0 else loss.lower) - beta
        inside = (beta > loss.lower) & (beta < loss.upper) & (beta != 0.0)
        chosen = inside if inside.any() and attempt < 5 else slack != 0.0
        if not chosen.any():
            break
        share = missing / np.count_nonzero(chosen)
        beta = np.where(chosen, beta + np.clip(share, -np.abs(slack), np.abs(slack)), beta)
    for _ in range(3 if beta.size <= COSTS.exactly_summed else 0):
        missing = -math.fsum(beta)
        if missing == 0.0 or not np.isfinite(missing):
            break
        possible = (beta + missing >= loss.lower) & (beta + missing <= loss.upper)
        if not possible.any():
            break
        # The smallest variable has the most digits for it.
        least = int(np.where(possible, np.abs(beta), np.inf).argmin())
        beta[least] += missing
    return beta


def loss_values(loss: Loss, residual: Float, beta: Float) -> tuple[Float, Float]:
    """ℓ(z) and ℓ(z) + ℓ*(−β) + zβ, which is never negative, for the residual target − z."""
    if loss.kind == LOGISTIC:
        margin = 1.0 - loss.target * residual
        values = loss.height * np.logaddexp(0.0, -margin)
        share = np.clip(loss.target * beta / loss.height, 0.0, 1.0)
        # log1p keeps the digits of 1 − share for a small share.
        other = np.where(
            share < 1.0, (1.0 - share) * np.log1p(-np.where(share < 1.0, share, 0.0)), 0.0
        )
        entropy = -_xlogx(share) - other
        remains = values + loss.height * (share * margin - entropy)
        return values, np.maximum(remains, 0.0)
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


def violations(loss: Loss, residual: Float, beta: Float) -> Float:
    """The projected gradient of the dual in each β."""
    if loss.kind == LOGISTIC:
        # The logistic function of −margin, which does not overflow.
        share = np.exp(-np.logaddexp(0.0, 1.0 - loss.target * residual))
        return loss.target * loss.height * share - beta
    slope = residual - loss.ridge * beta
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
