"""Linear models without a penalty: least loss, and of all such models the shortest.

    minimise  Σ_i ℓ_i(x_i·w + b)

- squared loss: least squares by the generalised inverse.
- logistic loss: Newton's method. Where a plane separates the classes (even with samples of both on
  it) the loss falls for ever as w grows, and there is no solution: a linear program tells.
- squared hinge: Newton's method, whose steps are least-squares fits to the samples inside the
  margin. Separable classes have the machine with a hard margin, as with the hinge.
- hinge: a linear program has the least loss; the shortest of its models is that of ½‖w‖² with a
  finite C that is large enough. Of separable classes it is the machine with a hard margin.

A dual point needs Σ β_i x_i = 0 and Σ β_i = 0: β of a model is projected there. The gap is then
Σ ℓ_i(z_i) + ℓ_i*(−β_i) + z_i β_i.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from ....dual.certificate import Certificate
from ..certificate import loss_values, violations
from ..data.chunked import ChunkedMatrix, dense
from ..losses import LOGISTIC, Float, Loss, hinge
from ..records import Budget, LinearProblem
from .linear_program import run_linear_program

Found = tuple[Float, float, Float, str, Certificate]


class Rules(NamedTuple):
    """How the methods without penalty decide."""

    # Newton steps, and the largest β·A that counts as 0, relative to |β|·|A|.
    most_steps: int = 200
    orthogonal: float = 1e-9
    # Newton's method goes on to this gap: the last steps cost nothing.
    finished: float = 1e-17
    # Steps are halved down to this fraction of Newton's.
    shortest: float = 1e-10
    # A loss below this part of that of w = 0 is none: the classes are separable.
    separated: float = 1e-24
    # Samples above a plane by more than this are separated by it.
    above: float = 1e-7
    # The largest C tried for the hard margin, in units of the first one, and the factor between
    # two.
    largest_factor: float = 1e12
    next_factor: float = 100.0


RULES = Rules()


class Separable(ValueError):
    """A plane separates the classes: without a penalty the model has no finite solution."""


def run_unpenalised(problem: LinearProblem, tol: float, budget: Budget) -> Found:
    """w, b, β, the status and the certificate."""
    if isinstance(problem.matrix, ChunkedMatrix):
        raise ValueError("a model without penalty needs X in memory, got chunks: load them")
    A = design(problem)
    if problem.loss.kind == LOGISTIC:
        return logistic_model(problem, A, tol, budget)
    if problem.loss.smooth and np.isneginf(problem.loss.lower).all():
        return least_squares(problem, A)
    if problem.loss.smooth:
        return least_squared_hinge(problem, A, tol, budget)
    return least_hinge(problem, A, tol, budget)


def design(problem: LinearProblem) -> Float:
    """The inputs, with a constant feature for an intercept."""
    X = dense(problem.matrix)
    return np.column_stack([X, np.ones(len(X))]) if problem.intercept.fitted else X


def parted(problem: LinearProblem, model: Float) -> tuple[Float, float]:
    if not problem.intercept.fitted:
        return model, 0.0
    return np.ascontiguousarray(model[:-1]), float(model[-1])


def least_squares(problem: LinearProblem, A: Float) -> Found:
    """The model of least norm (without its intercept) among those with the least error."""
    loss = problem.loss
    root = np.sqrt(1.0 / loss.ridge)  # 1/ridge = 2C
    mean = np.zeros(A.shape[1])
    level = 0.0
    if problem.intercept.fitted:
        share = root * root / float(root @ root)
        mean, level = share @ A, float(share @ loss.target)
        mean[-1] = 0.0
    X = (A - mean)[:, : problem.matrix.d]
    solved = np.linalg.lstsq(root[:, None] * X, root * (loss.target - level), rcond=None)
    w: Float = solved[0].astype(np.float64, copy=False)
    b = level - float(w @ mean[: w.size]) if problem.intercept.fitted else 0.0
    residual = loss.target - A[:, : w.size] @ w - b
    beta = residual / loss.ridge
    # What a better model could still take from the error: its part in the span of the inputs.
    scaled, weighted = root[:, None] * A, root * residual
    inside = scaled @ np.linalg.lstsq(scaled, weighted, rcond=None)[0]
    primal = 0.5 * float(weighted @ weighted)
    gap = 0.5 * float(inside @ inside)
    level_of_rounding = 1e-24 * float((root * loss.target) @ (root * loss.target))
    status = "converged" if gap <= max(1e-12 * primal, level_of_rounding) else "precision"
    violation = float(np.abs(beta @ A).max(initial=0.0))
    return w, b, beta, status, Certificate(primal, primal - gap, gap, violation, 0.0)


def separating_plane(A: Float, y: Float) -> Float | None:
    """A model with y(a·model) ≥ 0 everywhere and > 0 somewhere, or None."""
    signed = sparse.csr_array(y[:, None] * A)
    found = linprog(
        -np.asarray(signed.sum(axis=0)).ravel(),
        A_ub=sparse.vstack([signed, -signed], format="csr"),
        b_ub=np.concatenate([np.ones(len(y)), np.zeros(len(y))]),
        bounds=(None, None),
        method="highs",
    )
    if found.x is None or not -found.fun > RULES.above:
        return None
    return np.asarray(found.x)


def logistic_model(problem: LinearProblem, A: Float, tol: float, budget: Budget) -> Found:
    """Newton's method; raises `Separable` where there is no solution."""
    loss, size = problem.loss, np.abs(A).max(axis=0)
    A = A / np.where(size > 0, size, 1.0)
    y, C = loss.target, loss.height
    if separating_plane(A, y) is not None:
        raise Separable(
            "a plane separates the classes, so that the loss falls for ever as the weights grow: "
            "there is no model without penalty. Give a finite C"
        )

    def value_of(model: Float) -> float:
        return float(C @ np.logaddexp(0.0, -y * (A @ model)))

    model = np.zeros(A.shape[1])
    status, value = "", float(C.sum() * np.log(2.0))
    while not status:
        margin = y * (A @ model)
        share = 0.5 * (1.0 - np.tanh(0.5 * margin))
        beta, curvature = y * C * share, C * share * (1.0 - share)
        certificate, feasible = certified(loss, A, model, beta)
        if certificate.relative_gap <= min(tol, RULES.finished):
            status = "converged"
            break
        status = budget.ended() or ("precision" if budget.steps >= RULES.most_steps else "")
        root = np.sqrt(curvature)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        step = np.linalg.lstsq(root[:, None] * A, inverse * beta, rcond=None)[0]
        lower = lower_point(model, step, value_of, value)
        if lower is None:
            status = status or "precision"
            break
        (model, value), budget.steps = lower, budget.steps + 1
    if status == "precision" and certificate.relative_gap <= tol:
        status = "converged"
    w, b = parted(problem, model / np.where(size > 0, size, 1.0))
    return w, b, feasible, status, certificate


def lower_point(
    model: Float, step: NDArray[Any], value_of: Callable[[Float], float], before: float
) -> tuple[Float, float] | None:
    """Halve the step until the value falls; return model and value there, or None if it never
    does."""
    length = 1.0
    while length > RULES.shortest:
        moved = model + length * step
        value = value_of(moved)
        if value < before:
            return moved, value
        length *= 0.5
    return None


def certified(loss: Loss, A: Float, model: Float, beta: Float) -> tuple[Certificate, Float]:
    """The certificate of a model, with β projected to βA = 0."""
    z = A @ model
    feasible = beta
    for _ in range(3):  # rounding of a projection is projected again
        feasible = feasible - A @ np.linalg.lstsq(A, feasible, rcond=None)[0]
    feasible = np.clip(feasible, loss.lower, loss.upper)
    pulled = np.abs(feasible @ A)
    scale = np.abs(feasible) @ np.abs(A)
    infeasibility = float(np.max(pulled / np.where(scale > 0, scale, 1.0), initial=0.0))
    residual = loss.target - z
    values, remains = loss_values(loss, residual, feasible)
    primal = float(values.sum())
    gap = float(remains.sum()) + abs(float(z @ feasible))
    if infeasibility > RULES.orthogonal:
        gap = primal  # nothing is known but that losses are not negative
    # The projection moves β off its bounds by its rounding.
    moved = RULES.orthogonal * float(np.abs(feasible).max(initial=0.0))
    near = np.where(feasible - loss.lower <= moved, loss.lower, feasible)
    near = np.where(loss.upper - feasible <= moved, loss.upper, near)
    slope = float(np.abs(violations(loss, residual, near)).max(initial=0.0))
    return Certificate(primal, primal - gap, gap, slope, infeasibility), feasible


def least_squared_hinge(problem: LinearProblem, A: Float, tol: float, budget: Budget) -> Found:
    """Newton's method; of separable classes the machine with a hard margin."""
    loss, size = problem.loss, np.abs(A).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    scaled, y, root = A / size, loss.target, np.sqrt(1.0 / loss.ridge)

    def slack_of(model: Float) -> Float:
        return np.maximum(1.0 - y * (scaled @ model), 0.0)

    def value_of(model: Float) -> float:
        weighted = root * slack_of(model)
        return 0.5 * float(weighted @ weighted)

    model, slack, status = np.zeros(A.shape[1]), np.ones(y.size), ""
    first = value = 0.5 * float(root @ root)
    while True:
        if value <= RULES.separated * first:
            hard = problem._replace(loss=hinge(y, 0.5 / loss.ridge))
            return least_hinge(hard, A, tol, budget)
        certificate, feasible = certified(loss, scaled, model, y * slack / loss.ridge)
        if certificate.relative_gap <= RULES.finished:
            status = "converged"
        status = (
            status or budget.ended() or ("precision" if budget.steps >= RULES.most_steps else "")
        )
        if status:
            break
        inside = slack > 0
        target = (root * y * slack)[inside]
        step = np.linalg.lstsq(root[inside, None] * scaled[inside], target, rcond=None)[0]
        lower = lower_point(model, step, value_of, value)
        if lower is None:
            status = "precision"
            break
        (model, value), budget.steps = lower, budget.steps + 1
        slack = slack_of(model)
    if status == "precision" and certificate.relative_gap <= tol:
        status = "converged"
    w, b = parted(problem, model / size)
    return w, b, feasible, status, certificate


def least_hinge(problem: LinearProblem, A: Float, tol: float, budget: Budget) -> Found:
    """The shortest model of least loss."""
    from ..fit import run_newton

    w, b, beta, status = run_linear_program(problem, budget, penalised=False)
    if status not in ("converged", "precision"):
        return w, b, beta, status, hinge_certificate(problem, A, w, b, beta)
    best = w, b, hinge_certificate(problem, A, w, b, beta)
    least = max(best[2].dual, 0.0)
    size = float(problem.loss.height.sum())
    factor = 1.0 / max(float(problem.matrix.squared_norms.max(initial=0.0)), 1e-300)
    for _ in range(int(np.log(RULES.largest_factor) / np.log(RULES.next_factor)) + 1):
        larger = problem._replace(loss=problem.loss.scaled(factor), penalty="l2")
        w, b, own, status = run_newton(larger, None, 1e-10, budget, None)
        values, _ = loss_values(problem.loss, problem.loss.target - A @ joined(problem, w, b), own)
        total = float(values.sum())
        if budget.ended():
            return w, b, beta, budget.ended(), hinge_certificate(problem, A, w, b, beta)
        if total <= least + tol * max(least, 1e-6 * size):
            best = w, b, hinge_certificate(problem, A, w, b, beta)
            break
        factor *= RULES.next_factor
    return best[0], best[1], beta, "converged", best[2]


def joined(problem: LinearProblem, w: Float, b: float) -> Float:
    return np.append(w, b) if problem.intercept.fitted else w


def hinge_certificate(
    problem: LinearProblem, A: Float, w: Float, b: float, beta: Float
) -> Certificate:
    return certified(problem.loss, A, joined(problem, w, b), beta)[0]


def is_separable(X: Any, y: Any) -> bool:
    """Whether a plane has all samples of a class on one side of it, or on it, and not all on it.

    Examples
    --------
    >>> from maxmargin.solvers.linear.primal.unpenalised import is_separable
    >>> is_separable([[0.0], [1.0]], [-1, 1]), is_separable([[0.0], [0.0]], [-1, 1])
    (True, False)
    """
    inputs, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    A = np.column_stack([inputs, np.ones(len(inputs))])
    return separating_plane(A, labels) is not None
