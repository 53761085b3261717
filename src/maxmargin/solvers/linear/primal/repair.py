"""Repair of rounding in the solutions of small problems whose gap is not closed.

Where C·‖x‖² is large, the last bits of w and β decide:

- β obeys Σ β_i x_i = w and Σ β_i = penalty·b only up to its rounding as a multiple of C. A small
  change of the variables inside their box, of least cost, obeys them again.
- outputs that are to be at a kink of the loss miss it by some 1e-16, which is multiplied by C. A
  model longer by as much is on its other side.

Both are only proposals: the certificate decides.
"""

from __future__ import annotations

import numpy as np

from ....dual.certificate import Certificate
from ..certificate import certify_linear
from ..costs import COSTS
from ..data.chunked import dense
from ..data.matrix import DenseMatrix, SparseMatrix
from ..losses import LOGISTIC, QUADRATIC, Float
from ..records import LinearProblem

# The model is lengthened by these multiples of the unit roundoff.
STRETCHES = tuple(2.0**k for k in range(0, 24, 2))


def repaired(
    problem: LinearProblem, w: Float, b: float, beta: Float, tol: float
) -> tuple[Float, float, Float, Certificate]:
    """w, b and β with a smaller gap if one is found, and the certificate."""
    certificate, beta = certify_linear(problem, w, b, beta, tol)
    best = w, b, beta, certificate
    if not certificate.gap <= certificate.primal < np.inf:
        # Rounding has made β useless, or w: with β = 0 the gap is the objective, which may favour
        # w = 0.
        best = _better(problem, best, w, b, np.zeros_like(beta))
        best = _better(problem, best, np.zeros_like(w), 0.0, np.zeros_like(beta))
    matrix = problem.matrix
    small = isinstance(matrix, DenseMatrix | SparseMatrix)
    if certificate.relative_gap <= tol or not small or matrix.n * matrix.d > COSTS.small_entries:
        return best
    if problem.penalty == "l2":
        for _ in range(2):
            moved = consistent_dual(problem, *best[:3])
            best = _better(problem, best, best[0], best[1], moved)
    if problem.loss.kind == QUADRATIC:
        w, b = best[0], best[1]
        for stretch in STRETCHES:
            factor = 1.0 + stretch * float(np.finfo(np.float64).eps)
            best = _better(problem, best, w * factor, b * factor, best[2])
    return best


def _better(
    problem: LinearProblem,
    best: tuple[Float, float, Float, Certificate],
    w: Float,
    b: float,
    beta: Float,
) -> tuple[Float, float, Float, Certificate]:
    certificate, beta = certify_linear(problem, w, b, beta)
    better = certificate.gap < best[3].gap or np.isnan(best[3].gap)
    return (w, b, beta, certificate) if better else best


def consistent_dual(problem: LinearProblem, w: Float, b: float, beta: Float) -> Float:
    """β with Σ β_i x_i = w and Σ β_i = penalty·b, by the change of least cost among the variables
    inside their box."""
    loss, intercept = problem.loss, problem.intercept
    free = np.flatnonzero((beta > loss.lower) & (beta < loss.upper) & (beta != 0.0))
    if not free.size:
        return beta
    kind = np.longdouble
    X = dense(problem.matrix)
    A = np.column_stack([X, np.ones(len(X))]) if intercept.fitted else X
    aim = np.append(w, intercept.penalty * b) if intercept.fitted else w
    missing = (aim.astype(kind) - beta.astype(kind) @ A.astype(kind)).astype(np.float64)
    root = np.sqrt(_ease(problem, beta))[free]
    size = np.abs(A).max(axis=0)
    size = np.where(size > 0.0, size, 1.0)
    change = np.linalg.lstsq((A[free] / size * root[:, None]).T, missing / size, rcond=None)[0]
    moved = beta.copy()
    moved[free] += root * change
    return np.clip(moved, loss.lower, loss.upper)


def _ease(problem: LinearProblem, beta: Float) -> Float:
    """1 / curvature of ℓ* at β, in units of the largest."""
    loss = problem.loss
    if loss.kind == LOGISTIC:
        share = np.clip(np.abs(beta) / loss.height, 0.0, 1.0)
        ease = loss.height * share * (1.0 - share)
    else:
        ease = 1.0 / loss.ridge if loss.smooth else np.ones(beta.size)
    largest = float(ease.max(initial=0.0))
    return ease / largest if largest > 0.0 else np.ones(beta.size)
