"""Primal value, dual value and gap of a fitted model, computed here and in float64.

With coefficients α (signed), f = Kα + b, q = αᵀKα and s = Σα:

    SVC           primal  ½q + C Σ max(0, 1 − y f)           dual  Σ|α| − ½q
    SVR           primal  ½q + C Σ max(0, |y − f| − ε)       dual  Σ yα − ε Σ|α| − ½q
    OneClassSVM   primal  ½q + ν n b + Σ max(0, −f)          dual  −½q
    NuSVC         primal  ½q + Σ max(0, ρ − y f) − ν n ρ     dual  −½q
    NuSVR         primal  ½q + C Σ max(0, |y − f| − ε) + ν n C ε    dual  Σ yα − ½q

NuSVC delivers α/ρ and b/ρ, of which Σ|α| = ν n tells ρ. ε of NuSVR is the one that makes its
primal value least. Nothing is taken from a solver but `dual_coef_`, `support_` and `intercept_`.
The gap is summed over samples in terms that are never negative for a feasible α, for example

    SVC           Σ C max(0, 1 − y f) − |α| (1 − y f)  −  b s

so that it is not lost in the rounding of two large numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .problems import Problem

# Kernel values that are held at a time: 128 MB.
BLOCK = 1 << 24
CLASSIFIERS = ("SVC", "NuSVC")
# Coefficients in float32 that mean C differ from it by less than this, relatively.
AT_BOUND = 1e-6


class Model(NamedTuple):
    """What a fitted estimator says of itself."""

    dual_coef: np.ndarray
    support: np.ndarray
    intercept: np.ndarray


@dataclass(frozen=True)
class Figures:
    """How good a model is, and how large.

    Attributes
    ----------
    support, bounded : int
        Samples with a coefficient, and those with one at its bound (in any pair of classes).
    primal, dual : float
        Summed over pairs of classes.
    relative_gap : float
        gap / max(|primal|, |dual|), of the worst pair.
    infeasibility : float
        The largest excess over the box or deviation from the demanded Σα, relative to Σ|α|, of the
        worst pair.
    kernel_entries : int
        Kernel values between support vectors and the samples of their pairs.
    """

    support: int
    bounded: int
    primal: float
    dual: float
    relative_gap: float
    infeasibility: float
    kernel_entries: int


class _Machine(NamedTuple):
    """One function: its samples and their targets, its coefficients (one a support vector)."""

    samples: np.ndarray
    targets: np.ndarray | None
    coef: np.ndarray
    intercept: float


class _Values(NamedTuple):
    primal: float
    dual: float
    gap: float
    infeasibility: float


def figures(problem: Problem, X: Any, y: np.ndarray | None, model: Model) -> Figures:
    """The figures of a model trained on X and y."""
    machines = list(_machines(X.shape[0], y, model, problem))
    coef = np.array([machine.coef for machine in machines])
    if problem.parameters.get("kernel") == "linear":
        sums = (X.astype(np.float64) @ (coef @ X[model.support]).T).T
    else:
        sums = _expansions(X, model.support, coef, problem.parameters["gamma"])
    values = [
        _values(problem, machine, model.support, column) for machine, column in zip(machines, sums)
    ]
    limit = _limit(problem)
    sizes = np.abs(coef) * np.array([[_rho(problem, machine)] for machine in machines])
    return Figures(
        support=int(np.any(coef != 0, axis=0).sum()),
        bounded=int(np.any(sizes >= limit * (1 - AT_BOUND), axis=0).sum()),
        primal=sum(v.primal for v in values),
        dual=sum(v.dual for v in values),
        relative_gap=max(v.gap / max(abs(v.primal), abs(v.dual)) for v in values),
        infeasibility=max(v.infeasibility for v in values),
        kernel_entries=_entries(machines, X.shape[0], model.support),
    )


def _machines(n: int, y: np.ndarray | None, model: Model, problem: Problem) -> Iterator[_Machine]:
    """The functions of a model; of several classes one for each pair, the first one positive."""
    coef = model.dual_coef.astype(np.float64)
    everything = np.arange(n)
    if problem.estimator not in CLASSIFIERS:
        targets = None if y is None else y.astype(np.float64)
        yield _Machine(everything, targets, coef[0], float(model.intercept[0]))
        return
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size == 2:
        yield _Machine(everything, 2.0 * codes - 1.0, coef[0], float(model.intercept[0]))
        return
    own = codes[model.support]
    for (i, j), intercept in zip(combinations(range(classes.size), 2), model.intercept):
        pair = np.zeros(own.size)
        pair[own == i] = coef[j - 1, own == i]
        pair[own == j] = coef[i, own == j]
        samples = np.flatnonzero((codes == i) | (codes == j))
        yield _Machine(samples, np.where(codes[samples] == i, 1.0, -1.0), pair, float(intercept))


def _expansions(X: Any, support: np.ndarray, coef: np.ndarray, gamma: float) -> np.ndarray:
    """Σ_i coef_i k(x_i, x) for every row of coefficients and every sample, block by block."""
    X = X.astype(np.float64)
    if sparse.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        X -= X.mean(axis=0)
        squares = np.einsum("ij,ij->i", X, X)
    right, right_squares = X[support], squares[support]
    result = np.zeros((len(coef), X.shape[0]))
    step = max(1, BLOCK // max(1, support.size))
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        block = X[rows] @ right.T
        block = block.toarray() if sparse.issparse(block) else block
        block *= -2.0
        block += squares[rows, None]
        block += right_squares
        np.maximum(block, 0.0, out=block)
        block *= -gamma
        np.exp(block, out=block)
        result[:, rows] = coef @ block.T
    return result


def _values(
    problem: Problem, machine: _Machine, support: np.ndarray, expansion: np.ndarray
) -> _Values:
    alpha = np.zeros(expansion.size)
    alpha[support] = machine.coef
    rho = _rho(problem, machine)
    alpha, b = rho * alpha[machine.samples], rho * machine.intercept
    f = rho * expansion[machine.samples] + b
    norm, size, n = float(alpha @ (f - b)), np.abs(alpha), alpha.size
    C, y, nu = _limit(problem), machine.targets, problem.parameters.get("nu", 0.0)
    low: Any = -C
    high: Any = C
    # The price of ρ or ε, the sum of α, and what the gap has beside losses and Σα.
    price = total = unspent = 0.0
    match problem.estimator:
        case "OneClassSVM":
            low, residual, earned = 0.0, -f, -alpha * f
            total = nu * n
            price, dual = total * b, 0.0
        case "SVC" | "NuSVC":
            low, high = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
            margin = rho if problem.estimator == "NuSVC" else 1.0
            residual = margin - y * f
            earned, dual = size * residual, size.sum()
            if problem.estimator == "NuSVC":
                price, dual = -nu * n * rho, 0.0
        case _:
            epsilon = problem.parameters.get("epsilon", 0.0)
            dual = y @ alpha - epsilon * size.sum()
            if problem.estimator == "NuSVR":
                epsilon = _tube(np.abs(y - f), nu)
                price = nu * n * C * epsilon
                unspent = price - epsilon * size.sum()
            residual, earned = np.abs(y - f) - epsilon, alpha * (y - f) - epsilon * size
    slack = C * np.maximum(0.0, residual)
    primal, dual = 0.5 * norm + slack.sum() + price, dual - 0.5 * norm
    gap = (slack - earned).sum() + b * (total - alpha.sum()) + unspent
    outside = np.maximum(low - alpha, alpha - high).max()
    broken = max(outside, abs(alpha.sum() - total), 0.0) / max(size.sum(), np.finfo(float).tiny)
    return _Values(float(primal), float(dual), float(gap), float(broken))


def _limit(problem: Problem) -> float:
    """The largest α: C, or 1 where ν has its place."""
    return problem.parameters.get("C", 1.0)


def _rho(problem: Problem, machine: _Machine) -> float:
    """What α and b were divided by."""
    if problem.estimator != "NuSVC":
        return 1.0
    return problem.parameters["nu"] * machine.samples.size / float(np.abs(machine.coef).sum())


def _tube(distances: np.ndarray, nu: float) -> float:
    """The ε with the least Σ max(0, distance − ε) + ν n ε."""
    outside = int(nu * distances.size)
    return float(np.sort(distances)[::-1][min(outside, distances.size - 1)])


def _entries(machines: list[_Machine], n: int, support: np.ndarray) -> int:
    """How many pairs (support vector, sample) occur together in a machine."""
    if len(machines) == 1:
        return int(np.count_nonzero(machines[0].coef)) * n
    needed = np.zeros((support.size, n), dtype=bool)
    for machine in machines:
        needed[np.ix_(machine.coef != 0, machine.samples)] = True
    return int(needed.sum())
