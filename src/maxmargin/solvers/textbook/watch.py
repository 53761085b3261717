"""`watch`: the steps of `solve` itself, one by one, as the textbook solvers tell theirs.

`solve` runs compiled and tells little of each step. A run of k steps is the beginning of a run of
k + 1 steps, so that a small run is repeated with one step more each time, and the difference of α
tells the pair. That takes quadratic time and is meant for problems that people look at.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...dual.certificate import certify_expansion
from ...dual.problem import DualProblem
from ..result import Solution
from ..solver import as_gram, solve
from .record import NONE, CountedMatrix, DetailedTrace

MOST_STEPS = 2000


def watch(
    problem: DualProblem,
    gram: Any,
    *,
    max_steps: int = MOST_STEPS,
    alpha: bool = False,
    **options: Any,
) -> Solution:
    """Run `solve` and return its solution with a `DetailedTrace`.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram or array of shape (samples, samples)
    max_steps : int
        At most 2000: the time grows with its square.
    alpha : bool
        Whether to keep all of α after every step.
    **options
        Of `solve`: `selection`, `planning`, `overstep`, `tol`, `random_state`. Shrinking and face
        steps are off, as they move many variables at once.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import watch
    >>> x = np.linspace(-1, 1, 20)
    >>> solution = watch(hinge(np.sign(x), C=1.0).problem, np.outer(x, x))
    >>> row = solution.trace.rows()[0]
    >>> row["pair"], row["kind"]
    ([10, 9], 'clipped')
    """
    if not 0 < max_steps <= MOST_STEPS:
        raise ValueError(f"max_steps must be in 1 … {MOST_STEPS}, got {max_steps}")
    K = np.asarray(as_gram(gram).matrix(), dtype=np.float64)
    fixed = {"driver": "full", "shrinking": False, "face": False, **options}
    whole = solve(problem, K, trace=True, max_steps=max_steps, **fixed)
    told = whole.trace
    assert told is not None
    points = [problem.feasible()]
    for k in range(1, whole.steps):
        points.append(solve(problem, K, max_steps=k, **fixed).alpha)
    if whole.steps:
        points.append(whole.alpha)
    matrix, entries = CountedMatrix(K), []
    for before, after in pairwise(points):
        change = after - before
        i, j = int(np.argmax(change)), int(np.argmin(change))
        i, j = (i, j) if change[i] > 0 > change[j] else (NONE, NONE)
        for a in (i, j):
            if a >= 0:
                matrix.row(a % problem.samples)
        Kalpha = K @ problem.per_sample(after)
        gradient = problem.gradient(after, Kalpha)
        pair = [(point[i], point[j]) if i >= 0 else (np.nan, np.nan) for point in (before, after)]
        gap = certify_expansion(problem, after, Kalpha).gap
        bias = float(problem.bias(after, gradient)[0])
        entries.append((i, j, *pair, gap, bias, matrix.evaluations))
    columns = list(zip(*entries)) or [()] * 7
    steps = len(entries)
    trace = DetailedTrace(
        violation=told.violation[:steps],
        dual=told.dual[:steps],
        kind=told.kind[:steps],
        ratio=told.ratio[:steps],
        active=told.active[:steps],
        free=told.free[:steps],
        i=np.array(columns[0], dtype=int),
        j=np.array(columns[1], dtype=int),
        before=np.array(columns[2], dtype=float).reshape(-1, 2),
        after=np.array(columns[3], dtype=float).reshape(-1, 2),
        gap=np.array(columns[4], dtype=float),
        bias=np.array(columns[5], dtype=float),
        kernel_evaluations=np.array(columns[6], dtype=int),
        alpha=np.array(points) if alpha else None,
    )
    return replace(whole, trace=trace)
