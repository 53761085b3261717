"""SMO of the thesis (Algorithm 4.2), with all selections and steps of chapters 4 to 7.

    until ψ(α) ≤ tol:   select a pair (i, j);   μ ← step;   α ← α + μ(e_i − e_j)

The steps: `newton` (4.4); `plan_7_1`, planned ahead with the last pair wherever the last step was
not itself planned; `plan_7_3`, only after a free step. With w₁, w₂ the slopes along the current and
the last pair and Q their 2 × 2 curvature, μ = (Q₂₂w₁ − Q₁₂w₂)/det Q (7.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dual.problem import DualProblem
from ...result import Solution
from ...smo.step import SMALLEST_DETERMINANT
from ..record import CLIPPED, FREE, PLANNED, Recorder
from .selection import FLOOR, POLICIES, Pair, Past

STEPS = ("newton", "plan_7_1", "plan_7_3")


def smo(
    problem: DualProblem,
    K: Any,
    *,
    selection: str = "second_order",
    step: str = "newton",
    overstep: float = 1.0,
    tol: float = 1e-3,
    max_steps: int = 100_000,
    trace: bool | str = False,
    alpha: Any = None,
) -> Solution:
    """Sequential minimal optimisation in plain Python, for reading and tracing.

    Parameters
    ----------
    problem : DualProblem
    K : array of shape (samples, samples)
    selection : str
        One of `POLICIES`.
    step : {"newton", "plan_7_1", "plan_7_3"}
    overstep : float
        Factor on the Newton step (7.2.3).
    tol : float
        Largest KKT violation of a pair at the end.
    max_steps : int
    trace : bool or "alpha"
        Record every step, and with it all of α.
    alpha : array, optional
        Where to start.

    Returns
    -------
    Solution
        "stuck" if the policy finds no pair although the point is not optimal, which can happen
        with maximum gain (6.1.4). Its `trace` is a `DetailedTrace`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import smo
    >>> x = np.linspace(-1, 1, 20)
    >>> solution = smo(hinge(np.sign(x), C=1.0).problem, np.outer(x, x), trace=True)
    >>> solution.status, solution.trace.rows()[0]["pair"]
    ('converged', [10, 9])
    """
    if selection not in POLICIES:
        raise ValueError(f"selection must be one of {sorted(POLICIES)}, got {selection!r}")
    if step not in STEPS:
        raise ValueError(f"step must be one of {STEPS}, got {step!r}")
    run = Recorder(problem, K, trace, alpha)
    policy = POLICIES[selection]
    past = Past([], CLIPPED, 1.0)
    while run.violation() > tol:
        if run.steps >= max_steps:
            return run.finished("step_limit")
        pair = policy(run, past)
        if pair is None:
            return run.finished("stuck")
        kind, length, newton = step_along(run, pair, past, step, overstep)
        if np.isinf(length):
            return run.finished("unbounded")
        ratio = length / newton if newton > 0 else np.nan
        run.move_pair(*pair, length, kind, ratio)
        past = Past([*past.pairs, pair], kind, ratio)
    return run.finished("converged")


def step_along(
    run: Recorder, pair: Pair, past: Past, step: str, overstep: float = 1.0
) -> tuple[int, float, float]:
    """(kind, length, Newton length) of the step along a pair."""
    slope = float(run.gradient[pair[0]] - run.gradient[pair[1]])
    bend, reach = run.curvature(*pair), run.reach(*pair)
    newton = slope / bend if bend > FLOOR else np.inf
    may_plan = past.kind == FREE if step == "plan_7_3" else past.kind != PLANNED
    if step != "newton" and past.pairs and may_plan and np.isfinite(newton):
        planned = planned_length(run, pair, past.pairs[-1])
        if planned is not None:
            return PLANNED, planned, newton
    if overstep * newton >= reach:
        return CLIPPED, reach, newton
    return FREE, overstep * newton, newton


def planned_length(run: Recorder, pair: Pair, next_pair: Pair) -> float | None:
    """(7.4), if neither this step nor the planned one ends at a bound."""
    (i, j), (p, q) = pair, next_pair
    w1, w2 = run.gradient[i] - run.gradient[j], run.gradient[p] - run.gradient[q]
    q11, q22 = run.curvature(i, j), run.curvature(p, q)
    row_i, row_j = run.q_row(i), run.q_row(j)
    q12 = float(row_i[p] - row_i[q] - row_j[p] + row_j[q])
    determinant = q11 * q22 - q12 * q12
    if determinant <= SMALLEST_DETERMINANT * q11 * q22:
        return None
    first = float((q22 * w1 - q12 * w2) / determinant)
    second = float((w2 - q12 * first) / q22)
    between = run.alpha.copy()
    between[i] += first
    between[j] -= first
    after = between.copy()
    after[p] += second
    after[q] -= second
    inside = all(
        run.problem.lower[a] < point[a] < run.problem.upper[a]
        for point, places in ((between, (i, j)), (after, (p, q)))
        for a in places
    )
    return first if inside else None
