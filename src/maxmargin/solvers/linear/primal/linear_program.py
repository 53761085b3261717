"""The penalty ‖w‖₁ with piecewise linear losses: a linear program, solved by HiGHS.

    minimise    Σ_j |w_j| + penalty|b| + Σ_i upper_i ξ_i − lower_i ζ_i
    subject to  x_i·w + b + ξ_i ≥ target_i − ε,   −x_i·w − b + ζ_i ≥ −target_i − ε,   ξ, ζ ≥ 0

The hinge has one of the two constraints for each sample, the ε-insensitive loss both. β is the
difference of their multipliers. Without ‖w‖₁ in the objective (`penalised=False`) it finds the
least loss that there is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..data.chunked import ChunkedMatrix, dense
from ..data.matrix import DenseMatrix
from ..losses import Float
from ..records import Budget, LinearProblem

# Our statuses for those of HiGHS.
STATUSES = {0: "converged", 1: "step_limit", 4: "precision"}


class Program(NamedTuple):
    """Costs and constraints A x ≤ limits of the variables (w⁺, w⁻, b⁺, b⁻, ξ, ζ)."""

    costs: Float
    A: Any
    limits: Float
    above: Any
    below: Any


def program_of(problem: LinearProblem, penalised: bool = True) -> Program:
    matrix, loss, intercept, _ = problem
    if isinstance(matrix, ChunkedMatrix):
        raise ValueError(
            'penalty="l1" with a loss that has kinks needs X in memory, got chunks: load them, or '
            "use the squared loss"
        )
    above, below = np.flatnonzero(loss.upper > 0), np.flatnonzero(loss.lower < 0)
    X = sparse.csr_array(matrix.X if isinstance(matrix, DenseMatrix) else dense(matrix))
    X = X.astype(np.float64)
    if intercept.fitted:
        ones = sparse.csr_array(np.ones((matrix.n, 1)))
        X = sparse.csr_array(sparse.hstack([X, ones]))
    first, second = X[above], X[below]
    sides = sparse.vstack(
        [sparse.hstack([-first, first]), sparse.hstack([second, -second])], format="csr"
    )
    rows = above.size + below.size
    A = sparse.hstack([sides, -sparse.eye_array(rows, format="csr")], format="csr")
    weights = np.full(matrix.d, float(penalised))
    if intercept.fitted:
        weights = np.append(weights, intercept.penalty * penalised)
    costs = np.concatenate([weights, weights, loss.upper[above], -loss.lower[below]])
    limits = np.concatenate([loss.epsilon - loss.target[above], loss.epsilon + loss.target[below]])
    return Program(costs, A, limits, above, below)


def run_linear_program(
    problem: LinearProblem, budget: Budget, penalised: bool = True
) -> tuple[Float, float, Float, str]:
    """w, b, β and the status."""
    matrix, intercept = problem.matrix, problem.intercept
    program = program_of(problem, penalised)
    width, nothing = matrix.d + int(intercept.fitted), np.zeros(matrix.n)
    ended = budget.ended()
    if ended:
        return np.zeros(matrix.d), 0.0, nothing, ended
    left = budget.max_seconds - budget.seconds
    options = {"time_limit": left} if np.isfinite(left) else {}
    found = linprog(
        program.costs, A_ub=program.A, b_ub=program.limits, method="highs", options=options
    )
    budget.steps += 1
    if found.x is None:
        status = "time_limit" if np.isfinite(left) else "precision"
        return np.zeros(matrix.d), 0.0, nothing, status
    model = found.x[:width] - found.x[width : 2 * width]
    b = float(model[-1]) if intercept.fitted else 0.0
    status = STATUSES.get(int(found.status), "precision")
    if status == "step_limit" and np.isfinite(left):
        status = "time_limit"
    beta = nothing
    if found.ineqlin.marginals is not None:
        multipliers = -np.asarray(found.ineqlin.marginals)
        beta[program.above] += multipliers[: program.above.size]
        beta[program.below] -= multipliers[program.above.size :]
    return np.ascontiguousarray(model[: matrix.d]), b, beta, status
