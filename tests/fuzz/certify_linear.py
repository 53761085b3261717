"""The certificate of a linear machine in extended precision.

The primal value is that of `coef_` and `intercept_`. The lower bound is the dual value of
`solution_.beta`, which is made feasible first: any feasible β bounds the optimum from below, so
nothing has to be believed.

    primal   penalty(w) + Σ loss_i(x_i·w + b)
    dual     Σ −loss_i*(−β_i) − ½‖Σ β_i x_i‖²  (l2),   Σ −loss_i*(−β_i), |Σ β_i x_i| ≤ 1  (l1)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .certify import FLOOR
from .kernels import LONG, OWN_UNIT, UNIT, is_far_from_zero
from .problems import Case
from .read import dense, weights_of

# Costs are products of C, the weight of a sample and that of its class, which is a quotient.
COST_ROUNDING = 8 * UNIT


class LinearExact(NamedTuple):
    """Primal value, lower bound, how far off float64 and these values may be in the gap, and what
    rounding leaves of the losses at w = 0."""

    primal: float
    dual: float
    rounding_primal: float
    rounding_gap: float
    own: float
    floor: float

    @property
    def gap(self) -> float:
        return self.primal - self.dual

    @property
    def scale(self) -> float:
        return max(abs(self.primal), abs(self.dual))


class Losses(NamedTuple):
    """Σ loss and its conjugate; `kind` as of the estimator."""

    kind: str
    target: np.ndarray
    cost: np.ndarray
    epsilon: Any

    def values(self, z: np.ndarray) -> np.ndarray:
        r = self.target - z
        if self.kind == "hinge":
            return self.cost * np.maximum(self.target * r, 0)
        if self.kind == "squared_hinge":
            return self.cost * np.maximum(self.target * r, 0) ** 2
        if self.kind == "logistic":
            return self.cost * np.logaddexp(LONG(0), -self.target * z)
        beyond = np.maximum(np.abs(r) - self.epsilon, 0)
        return self.cost * (beyond if self.kind == "epsilon_insensitive" else beyond**2)

    @property
    def slack(self) -> Any:
        """The part by which a box may be exceeded, for its bounds are products that are rounded.

        A β with that bounds the optimum of costs (1 + slack)·cost from below, and so
        (1 + slack) times the optimum. The entropy of logistic losses ends at the bounds.
        """
        return COST_ROUNDING if self.kind in ("hinge", "epsilon_insensitive") else LONG(0)

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        infinite = np.full(self.cost.size, LONG(np.inf))
        most = infinite if "squared" in self.kind else self.cost * (1 + self.slack)
        if self.kind in ("hinge", "squared_hinge", "logistic"):
            low = np.where(self.target > 0, LONG(0), -most)
            return low, np.where(self.target > 0, most, LONG(0))
        return -most, most

    def conjugates(self, beta: np.ndarray) -> np.ndarray:
        """−loss*(−β)"""
        if self.kind == "logistic":
            share = np.clip(self.target * beta / self.cost, 0, 1)
            return -self.cost * (xlogx(share) + xlogx(1 - share))
        value = self.target * beta - self.epsilon * np.abs(beta)
        return value - beta**2 / (4 * self.cost) if "squared" in self.kind else value

    def of_entropy(self, beta: np.ndarray, unit: Any) -> Any:
        """The rounding of p log p + (1 − p) log(1 − p): that of p and 1 − p, by the slope."""
        if self.kind != "logistic":
            return LONG(0)
        share = np.clip(self.target * beta / self.cost, 0, 1)
        slope = 1 - np.log(np.maximum(share, unit)) - np.log(np.maximum(1 - share, unit))
        return (4 * unit * self.cost * slope).sum()


def xlogx(p: np.ndarray) -> np.ndarray:
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0)


def linear_exact(model: Any, case: Case) -> list[LinearExact]:
    """One for each function."""
    weight = weights_of(case)
    factor = np.ones(case.size)
    if hasattr(model, "classes_"):
        known = np.isin(case.y, model.classes_)
        codes = np.searchsorted(model.classes_, np.where(known, case.y, model.classes_[0]))
        if case.parameters.get("class_weight") == "balanced":
            totals = np.bincount(codes[known], weight[known], minlength=model.classes_.size)
            factor = (totals.sum() / (totals.size * totals))[codes]
        weight = np.where(known, weight, 0.0)
    kept = np.flatnonzero(weight > 0)
    X = dense(case.X)[kept]
    weight = weight[kept].astype(LONG) * factor[kept]
    alpha = case.parameters.get("alpha")
    cost = (LONG(0.5) / alpha if alpha else LONG(model.C)) * weight
    if getattr(model, "multi_class", "") == "crammer_singer":
        return [joint_exact(model, X, codes[kept], cost)]
    kind = {"RidgeRegression": "squared", "LogisticRegression": "logistic"}.get(case.estimator)
    kind = kind or model.loss
    epsilon = LONG(getattr(model, "epsilon", 0.0))
    coef = np.atleast_2d(model.coef_).astype(LONG)
    solutions = model.solution_ if isinstance(model.solution_, list) else [model.solution_]
    results = []
    for c, (w, b, solution) in enumerate(zip(coef, model.intercept_.astype(LONG), solutions)):
        if hasattr(model, "classes_"):
            positive = 1 if len(coef) == 1 else c
            target = np.where(codes[kept] == positive, LONG(1), LONG(-1))
        else:
            target = case.y[kept].astype(LONG)
        losses = Losses(kind, target, cost, epsilon)
        results.append(one(model, X, losses, w, b, solution.beta.astype(LONG)))
    return results


def one(model: Any, X: np.ndarray, losses: Losses, w: Any, b: Any, beta: np.ndarray) -> LinearExact:
    lasso = getattr(model, "penalty", "l2") == "l1"
    scaling = model.intercept_scaling if model.fit_intercept else None
    penalty = LONG(0)
    if scaling is not None:
        penalty = 1 / LONG(scaling) if lasso else 1 / LONG(scaling) ** 2
    free = bool(model.fit_intercept) and scaling is None
    z = X @ w + b
    beta = feasible(losses, beta, free)
    # With Σβ = 0 a large mean adds nothing but rounding.
    far = free and is_far_from_zero(X)
    combined, total = beta @ (X - X.mean(axis=0) if far else X), beta.sum()
    if lasso:
        largest = max(np.abs(combined).max(initial=0), LONG(1))
        if penalty > 0:
            largest = max(largest, abs(total) / penalty)
        beta, combined, total = beta / largest, combined / largest, total / largest
        norm = np.abs(w).sum() + penalty * abs(b)
        dual = losses.conjugates(beta).sum()
    else:
        norm = 0.5 * (w @ w) + 0.5 * penalty * b * b
        dual = losses.conjugates(beta).sum() - 0.5 * (combined @ combined)
        if penalty > 0:
            dual -= 0.5 * total**2 / penalty
    dual /= 1 + losses.slack
    primal = norm + losses.values(z).sum()

    def errors(unit: Any) -> tuple[Any, Any]:
        n, d = X.shape
        of_z = (d + 3) * unit * (np.abs(X) @ np.abs(w) + abs(b) + np.abs(losses.target))
        change = np.maximum(losses.values(z + of_z), losses.values(z - of_z)) - losses.values(z)
        of_primal = change.sum() + (n + d + 6) * unit * primal
        of_w = (n + 3) * unit * (np.abs(beta) @ np.abs(X))
        off = np.abs(w - combined) if not lasso else np.abs(w)
        of_gap = off @ of_w + 0.5 * (of_w @ of_w) * (not lasso) + (np.abs(beta) * of_z).sum()
        of_gap += change.sum() + (n + d + 6) * unit * np.abs(losses.conjugates(beta)).sum()
        of_gap += (n + 6) * unit * abs(b) * np.abs(beta).sum() + losses.of_entropy(beta, unit)
        if penalty > 0 and not lasso:
            of_gap += (n + 6) * unit * np.abs(beta).sum() * abs(penalty * b - total) / penalty
        if lasso:
            # β is divided by the largest |w_β| that rounding finds.
            scale = np.abs(losses.conjugates(beta)).sum() + np.abs(beta * z).sum()
            of_total = (n + 3) * unit * np.abs(beta).sum() / penalty if penalty > 0 else 0
            # A sum that is repaired moves w_β as well.
            of_repair = (n + 3) * unit * np.abs(beta).sum() * np.abs(X).max(initial=0) * free
            of_gap += max(of_w.max(initial=0) + of_repair, of_total) * scale
        return of_primal, of_gap + of_primal

    of_primal, of_gap = errors(UNIT)
    floor = FLOOR * losses.values(np.zeros_like(z)).sum()
    return LinearExact(primal, dual, of_primal, of_gap, errors(OWN_UNIT)[1], floor)


def feasible(losses: Losses, beta: np.ndarray, free: bool) -> np.ndarray:
    """β in its box and, for an intercept without penalty, with Σβ = 0."""
    low, high = losses.box()
    beta = np.clip(beta, low, high)
    if not free:
        return beta
    for _ in range(100):
        missing = -beta.sum()
        if abs(missing) <= 4 * OWN_UNIT * np.abs(beta).sum():
            break
        reach = (high if missing > 0 else low) - beta
        inside = (beta > low) & (beta < high) & (beta != 0)
        movable = inside if inside.any() else reach != 0
        if not movable.any():
            break
        share = missing / np.count_nonzero(movable)
        step = np.clip(share, np.minimum(reach, 0), np.maximum(reach, 0))
        moved = np.where(movable, beta + step, beta)
        if (moved == beta).all():
            break
        beta = moved
    return beta


def joint_exact(model: Any, X: np.ndarray, codes: np.ndarray, cost: np.ndarray) -> LinearExact:
    """The machine of Crammer and Singer: errors against the best wrong class."""
    W, b = np.atleast_2d(model.coef_).astype(LONG), model.intercept_.astype(LONG)
    if len(W) == 1:
        W, b = np.concatenate([-W, W]) / 2, np.concatenate([-b, b]) / 2
    scaling = model.intercept_scaling if model.fit_intercept else None
    penalty = LONG(0) if scaling is None else 1 / LONG(scaling) ** 2
    n, d = X.shape
    rows = np.arange(n)
    Z = X @ W.T + b
    excess = Z + 1 - Z[rows, codes][:, None]
    excess[rows, codes] = 0
    loss = cost * excess.max(axis=1)
    primal = 0.5 * (W**2).sum() + 0.5 * penalty * (b**2).sum() + loss.sum()
    beta = model.solution_.beta.astype(LONG)
    others = np.ones(beta.shape, dtype=bool)
    others[rows, codes] = False
    beta = np.where(others, np.minimum(beta, 0), 0)
    spent = -beta.sum(axis=1)
    shrink = np.where(spent > cost, cost / np.where(spent > 0, spent, 1), 1)
    beta = beta * shrink[:, None]
    beta[rows, codes] = -beta.sum(axis=1)
    combined, total = beta.T @ X, beta.sum(axis=0)
    dual = -np.where(others, beta, 0).sum() - 0.5 * (combined**2).sum()
    if penalty > 0:
        dual -= 0.5 * (total**2).sum() / penalty
    elif model.fit_intercept:
        # What rounding leaves of Σβ = 0 counts against the bound, whatever its sign.
        dual -= (b * total + np.abs(b * total)).sum()

    def errors(unit: Any) -> tuple[Any, Any]:
        of_z = 2 * (d + 3) * unit * (np.abs(X) @ np.abs(W).T + np.abs(b) + 1).max(axis=1)
        of_primal = (2 * cost * of_z).sum() + (n + d + 6) * unit * primal
        of_w = (n + 3) * unit * (np.abs(beta).T @ np.abs(X))
        of_gap = (np.abs(W - combined) * of_w).sum() + 0.5 * (of_w**2).sum() + of_primal
        of_gap += (np.abs(beta) * of_z[:, None]).sum() + (n + 6) * unit * np.abs(beta).sum()
        return of_primal, of_gap + (n + 6) * unit * (np.abs(b) * np.abs(beta).sum(axis=0)).sum()

    of_primal, of_gap = errors(UNIT)
    floor = FLOOR * cost.sum()
    return LinearExact(primal, dual, of_primal, of_gap, errors(OWN_UNIT)[1], floor)
