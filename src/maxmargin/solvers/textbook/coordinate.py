"""One variable at a time: coordinate ascent in the dual without bias, for any kernel (report 001).

    α_i ← clip(α_i + G_i / Q_ii, lower_i, upper_i)

Without a bias there is no sum constraint, so that single variables may move. The projected gradient
P_i is G_i, or 0 where it points out of the box. An epoch visits every variable once, in a fixed or
random order, or always takes the one with the largest gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dual.problem import DualProblem
from ..result import Solution
from .record import CLIPPED, FREE, Recorder

ORDERS = ("cyclic", "permuted", "largest")
RULES = ("weights", "spread", "both", "change")


def coordinate_ascent(
    problem: DualProblem,
    K: Any,
    *,
    order: str = "permuted",
    rule: str = "spread",
    tol: float = 1e-3,
    max_steps: int = 100_000,
    trace: bool | str = False,
    random_state: int = 0,
) -> Solution:
    """Solve a machine without bias: the sums of the problem are ignored.

    Parameters
    ----------
    problem : DualProblem
        Of any machine; `totals` and `group` are ignored.
    K : array of shape (samples, samples)
    order : {"cyclic", "permuted", "largest"}
    rule : {"weights", "spread", "both", "change"}
        Which epoch is the last: ‖w_new − w_old‖ < tol; the largest minus the smallest projected
        gradient in the epoch < tol; both of these, as in report 001; max|Δα| ≤ tol.
    tol : float
    max_steps : int
    trace : bool or "alpha"
    random_state : int

    Returns
    -------
    Solution
        "converged" if the rule holds and no projected gradient exceeds tol, "stuck" if the rule
        holds only because steps have become short. `bias` is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import coordinate_ascent
    >>> x = np.array([-1.0, 1.0])
    >>> coordinate_ascent(hinge(x, C=1.0).problem, np.outer(x, x)).alpha
    array([-1.,  0.])
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {ORDERS}, got {order!r}")
    if rule not in RULES:
        raise ValueError(f"rule must be one of {RULES}, got {rule!r}")
    run, random = Recorder(problem, K, trace, summed=False), np.random.default_rng(random_state)
    diagonal = problem.of_samples(np.diagonal(run.K.matrix)) + problem.ridge
    while True:
        before, met = run.alpha.copy(), []
        variables = random.permutation(problem.size) if order == "permuted" else None
        for k in range(problem.size):
            if order == "largest":
                i = _best(run, diagonal)
            else:
                i = int(variables[k]) if variables is not None else k
            met.append(float(run.projected_gradient()[i]))
            if met[-1] == 0.0:
                continue
            status = _step(run, i, float(diagonal[i]))
            if status is None and run.steps >= max_steps:
                status = "step_limit"
            if status is not None:
                return run.finished(status)
        if _is_over(run, before, met, rule, tol):
            return run.finished("converged" if run.violation() <= tol else "stuck")


def _step(run: Recorder, i: int, curvature: float) -> str | None:
    """Take the exact step of variable i; return a reason to end, or None."""
    G, alpha = float(run.gradient[i]), float(run.alpha[i])
    limit = run.problem.upper[i] if G > 0 else run.problem.lower[i]
    newton = G / curvature if curvature > 0 else np.copysign(np.inf, G)
    step = float(np.clip(newton, -abs(limit - alpha), abs(limit - alpha)))
    if np.isinf(step):
        return "unbounded"
    run.move_one(i, step, FREE if step == newton else CLIPPED, step / newton)
    return None


def _best(run: Recorder, diagonal: Any) -> int:
    """The variable whose step gains most."""
    G = run.projected_gradient()
    max_step = np.where(G > 0, run.problem.upper - run.alpha, run.alpha - run.problem.lower)
    step = np.minimum(np.abs(G) / np.maximum(diagonal, 1e-300), max_step)
    return int(np.argmax(step * (np.abs(G) - 0.5 * diagonal * step)))


def _is_over(run: Recorder, before: Any, met: list[float], rule: str, tol: float) -> bool:
    change = np.asarray(run.alpha - before)
    if rule == "change":
        return bool(np.abs(change).max() <= tol)
    coef = run.problem.per_sample(change)
    weights = float(np.sqrt(max(float(coef @ run.K.matrix @ coef), 0.0))) < tol
    spread = max(met) - min(met) < tol
    return {"weights": weights, "spread": spread, "both": weights and spread}[rule]
