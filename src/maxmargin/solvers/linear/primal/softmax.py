"""Softmax regression: all classes in one problem, by Newton's method, with a certificate.

    minimise  ½‖W‖² + ½ penalty‖b‖² + Σ_i c_i (log Σ_k exp z_ik − z_iy),   z_i = W x_i + b

With p_i = softmax(z_i) and β_i = c_i (e_y − p_i) the gradient is W − Σ_i β_i x_iᵀ. Any p in the
simplex is a dual point of value Σ c_i H(p_i) − ½‖Σ β_i x_iᵀ‖² − ½‖Σ β_i‖²/penalty, which demands
Σ_i β_i = 0 of an intercept without penalty. The gap is a sum of terms that are never negative,

    gap = ½‖W − Σ β_i x_iᵀ‖² + ½ ‖penalty·b − Σ β_i‖²/penalty + Σ_i c_i KL(p_i ‖ softmax(z_i))

Order of calls: `settle` makes a free intercept optimal, `measure` the gap, `direction` a Newton
step (Cholesky factor of few weights, conjugate gradients of many), `line_search` how far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, xlogy

from ....dual.certificate import Certificate
from ....linalg.jitter import solve as solve_positive
from ....runtime.parallel import single_threaded_blas
from ...interrupt import deferred_interrupts
from ..costs import COSTS
from ..data.chunked import ChunkedMatrix, dense
from ..losses import Float
from ..records import Budget, Intercept, LinearSolution, Point


class Rules(NamedTuple):
    """How softmax regression decides."""

    # Largest number of conjugate gradient steps of a Newton direction.
    most_inner: int = 250
    # Smallest probabilities that may be changed to make Σβ exactly 0.
    least_share: float = 1e-3
    # Newton steps without a smaller gap after which a run ends with status "precision".
    patience: int = 8
    # Newton steps for a free intercept, and the sum of β, relative to that of c, at which they end.
    intercept_steps: int = 50
    settled: float = 1e-15


RULES = Rules()


class SoftmaxProblem(NamedTuple):
    """Samples, their classes 0 … K−1, the weights c of their losses, K, and the intercept."""

    matrix: Any
    y: Any
    cost: Float
    classes: int
    intercept: Intercept


class State(NamedTuple):
    """A model with its outputs (without intercept) and probabilities."""

    W: Float
    b: Float
    outputs: Float
    p: Float


class Measured(NamedTuple):
    """Objective, gap and the dual point behind it, and the gradient in W and b."""

    objective: float
    gap: float
    beta: Float
    gradient: Float
    intercept_gradient: Float


def fit_softmax(
    problem: SoftmaxProblem,
    *,
    tol: float = 1e-6,
    start: Point | None = None,
    max_steps: float = np.inf,
    max_seconds: float = np.inf,
    callback: Callable[[Any], Any] | None = None,
) -> LinearSolution:
    """Newton's method until the duality gap is `tol` times the objective.

    Returns
    -------
    LinearSolution
        With `w` of shape (classes, features), `b` of shape (classes,), `beta` of shape
        (samples, classes).
    """
    with deferred_interrupts() as interrupt, single_threaded_blas(), np.errstate(all="ignore"):
        budget = Budget(max_steps, max_seconds, callback, interrupt)
        state = beginning(problem, start)
        best, since, status = np.inf, 0, ""
        while True:
            state = settle(problem, state)
            seen = measure(problem, state)
            relative = seen.gap / max(seen.objective, np.finfo(np.float64).tiny)
            if budget.asked_to_stop(seen.objective, seen.gap, problem.matrix.n, problem.matrix.n):
                status = "stopped"
                break
            if relative <= tol:
                status = "converged"
                break
            status = budget.ended()
            since = 0 if seen.gap < 0.9 * best else since + 1
            best = min(best, seen.gap)
            if status or since > RULES.patience:
                status = status or "precision"
                break
            moved = line_search(problem, state, direction(problem, state, seen), seen)
            budget.steps += 1
            if moved is None:
                status = "precision"
                break
            state = moved
        certificate = certified(problem, state, seen)
    return LinearSolution(
        w=state.W,
        b=state.b,  # type: ignore[arg-type]
        beta=seen.beta,
        certificate=certificate,
        status=status,
        steps=budget.steps,
        seconds=budget.seconds,
    )


def beginning(problem: SoftmaxProblem, start: Point | None) -> State:
    K, d = problem.classes, problem.matrix.d
    W, b = np.zeros((K, d)), np.zeros(K)
    if start is not None and start.w is not None:
        W, b = start.w.copy(), np.array(start.b, dtype=np.float64)
    return placed(problem, W, b)


def placed(problem: SoftmaxProblem, W: Float, b: Float) -> State:
    outputs = outputs_of(problem, W)
    return State(W, b, outputs, probabilities(outputs + b))


def outputs_of(problem: SoftmaxProblem, W: Float) -> Float:
    return np.column_stack([problem.matrix.margins(np.ascontiguousarray(row)) for row in W])


def combined(problem: SoftmaxProblem, beta: Float) -> Float:
    """Σ β_i x_iᵀ"""
    return np.array([problem.matrix.combine(np.ascontiguousarray(column)) for column in beta.T])


def probabilities(z: Float) -> Float:
    return np.asarray(np.exp(z - logsumexp(z, axis=1, keepdims=True)))


def responses(problem: SoftmaxProblem, p: Float) -> Float:
    """β = c (e_y − p), the entry of the own class from the others: no digits are lost."""
    own = np.arange(len(p)), problem.y
    beta = -p.copy()
    beta[own] = 0.0
    beta[own] = -beta.sum(axis=1)
    return np.asarray(problem.cost[:, None] * beta)


def is_free(problem: SoftmaxProblem) -> bool:
    return problem.intercept.fitted and problem.intercept.penalty == 0.0


def settle(problem: SoftmaxProblem, state: State) -> State:
    """The model with the optimal intercept, if that has no penalty."""
    if not is_free(problem):
        return state
    b, p = state.b, state.p
    total = float(problem.cost.sum())
    for _ in range(RULES.intercept_steps):
        slope = responses(problem, p).sum(axis=0)
        if np.abs(slope).max() <= RULES.settled * total:
            break
        weighted = problem.cost[:, None] * p
        H = np.diag(weighted.sum(axis=0)) - p.T @ weighted
        step = np.linalg.lstsq(H + total * 1e-14 * np.eye(len(b)), slope, rcond=None)[0]
        step *= min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        b = b + step
        b = b - b.mean()
        p = probabilities(state.outputs + b)
    return state._replace(b=b, p=p)


def measure(problem: SoftmaxProblem, state: State) -> Measured:
    """The gap of a settled state."""
    own = np.arange(len(state.p)), problem.y
    z = state.outputs + state.b
    losses = logsumexp(z, axis=1) - z[own]
    penalty = problem.intercept.penalty
    objective = 0.5 * float((state.W * state.W).sum()) + float(problem.cost @ losses)
    p, divergence = feasible_probabilities(problem, state.p)
    beta = responses(problem, p)
    gradient = state.W - combined(problem, beta)
    gap = 0.5 * float((gradient * gradient).sum()) + divergence
    total = beta.sum(axis=0)
    slope = -total
    if problem.intercept.fitted and penalty > 0.0:
        objective += 0.5 * penalty * float(state.b @ state.b)
        slope = penalty * state.b - total
        gap += 0.5 * float(slope @ slope) / penalty
    elif is_free(problem):
        gap += abs(float(state.b @ total))
    return Measured(objective, gap, beta, gradient, slope)


def feasible_probabilities(problem: SoftmaxProblem, p: Float) -> tuple[Float, float]:
    """p with Σβ = 0 where the intercept is free, and Σ c KL(p' ‖ p)."""
    if not is_free(problem):
        return p, 0.0
    total = responses(problem, p).sum(axis=0)
    shift = total / float(problem.cost.sum())
    moved = p + shift
    if not (moved >= 0).all() or not shift.any():
        # Only large enough probabilities take a share.
        movable = (p >= RULES.least_share).all(axis=1)
        if not movable.any() or not shift.any():
            return p, 0.0
        moved = p.copy()
        moved[movable] += total / float(problem.cost[movable].sum())
        if not (moved >= 0).all():
            return p, 0.0
    divergence = (xlogy(moved, moved / np.where(p > 0, p, 1.0)) - moved + p).sum(axis=1)
    return moved, float(problem.cost @ np.maximum(divergence, 0.0))


def direction(problem: SoftmaxProblem, state: State, seen: Measured) -> Float:
    """The Newton direction, a row (W_k, b_k) for each class."""
    fitted = problem.intercept.fitted
    slope = np.column_stack([seen.gradient, seen.intercept_gradient * fitted])
    if slope.size <= COSTS.softmax_factored and not isinstance(problem.matrix, ChunkedMatrix):
        return factored_direction(problem, state, slope)
    return iterative_direction(problem, state, slope)


def ridge_of(problem: SoftmaxProblem) -> Float:
    """The curvature of the penalty, for the weights of a class and its intercept."""
    last = problem.intercept.penalty if problem.intercept.fitted else 1.0
    return np.append(np.ones(problem.matrix.d), last)


def factored_direction(problem: SoftmaxProblem, state: State, slope: Float) -> Float:
    X = dense(problem.matrix)
    X = np.column_stack([X, np.full(len(X), float(problem.intercept.fitted))])
    K, width = slope.shape
    H = np.zeros((K, width, K, width))
    for k in range(K):
        for m in range(k + 1):
            curvature = problem.cost * state.p[:, k] * ((k == m) - state.p[:, m])
            block = X.T @ (curvature[:, None] * X)
            H[k, :, m], H[m, :, k] = block, block.T
    flat = H.reshape(K * width, K * width)
    # A common shift of all intercepts changes nothing: a little curvature makes it 0.
    ridge = np.tile(ridge_of(problem), K)
    scale = 1e-10 * float(problem.cost.sum())
    flat[np.diag_indices(K * width)] += np.where(ridge > 0, ridge, scale)
    step = solve_positive(np.asfortranarray(flat), -slope.ravel())
    return np.asarray(step).reshape(K, width)


def iterative_direction(problem: SoftmaxProblem, state: State, slope: Float) -> Float:
    """The direction by conjugate gradients, to a precision that rises as the slope falls."""
    ridge, fitted = ridge_of(problem), float(problem.intercept.fitted)

    def curved(V: Float) -> Float:
        s = outputs_of(problem, np.ascontiguousarray(V[:, :-1])) + fitted * V[:, -1]
        inner = (state.p * s).sum(axis=1, keepdims=True)
        u = problem.cost[:, None] * state.p * (s - inner)
        return np.asarray(ridge * V + np.column_stack([combined(problem, u), fitted * u.sum(0)]))

    x, r = np.zeros_like(slope), -slope
    v, rr = r, float((r * r).sum())
    aim = rr * min(0.01, np.sqrt(rr) / max(1.0, float(np.linalg.norm(state.W)))) ** 2
    for _ in range(RULES.most_inner):
        Av = curved(v)
        bend = float((v * Av).sum())
        if not bend > 0:
            break
        step = rr / bend
        x, r = x + step * v, r - step * Av
        new = float((r * r).sum())
        if new <= aim:
            break
        v, rr = r + (new / rr) * v, new
    return x


def line_search(problem: SoftmaxProblem, state: State, step: Float, seen: Measured) -> State | None:
    """The state after a backtracking (Armijo) line search; None if no step gives a decrease."""
    slope = float((seen.gradient * step[:, :-1]).sum())
    slope += float(seen.intercept_gradient @ step[:, -1]) * problem.intercept.fitted
    change = outputs_of(problem, np.ascontiguousarray(step[:, :-1]))
    length = 1.0
    rounding = 1e-14 * abs(seen.objective)
    for _ in range(40):
        W, b = state.W + length * step[:, :-1], state.b + length * step[:, -1]
        outputs = state.outputs + length * change
        moved = State(W, b, outputs, probabilities(outputs + b))
        value = objective_of(problem, moved)
        if value <= seen.objective + 1e-4 * length * slope + rounding:
            return moved._replace(outputs=outputs_of(problem, W))
        length *= 0.5
    return None


def objective_of(problem: SoftmaxProblem, state: State) -> float:
    z = state.outputs + state.b
    losses = logsumexp(z, axis=1) - z[np.arange(len(z)), problem.y]
    value = 0.5 * float((state.W * state.W).sum()) + float(problem.cost @ losses)
    return value + 0.5 * problem.intercept.penalty * float(state.b @ state.b)


def certified(problem: SoftmaxProblem, state: State, seen: Measured) -> Certificate:
    """The certificate of the model as delivered, with outputs and gradient recomputed."""
    again = measure(problem, placed(problem, state.W, state.b))
    violation = float(np.abs(again.beta - seen.beta).max(initial=0.0))
    slope = float(np.abs(again.gradient).max(initial=0.0))
    infeasibility = 0.0
    if is_free(problem):
        size = float(np.abs(again.beta).sum())
        total = float(np.abs(again.beta.sum(axis=0)).max())
        infeasibility = total / size if size else 0.0
    return Certificate(
        primal=again.objective,
        dual=again.objective - again.gap,
        gap=again.gap,
        violation=max(violation, slope),
        infeasibility=infeasibility,
    )
