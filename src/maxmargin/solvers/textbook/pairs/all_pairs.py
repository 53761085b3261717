"""The sweep over all pairs (lecture 004): every pair in order, until none can be improved."""

from __future__ import annotations

from typing import Any

from ....dual.problem import DualProblem
from ...result import Solution
from ..record import CLIPPED, Recorder
from .selection import Past
from .smo import step_along


def all_pairs(
    problem: DualProblem,
    K: Any,
    *,
    tol: float = 1e-3,
    max_steps: int = 100_000,
    trace: bool | str = False,
) -> Solution:
    """Optimise every pair (i, j) in order, repeatedly.

    Parameters
    ----------
    problem : DualProblem
    K : array of shape (samples, samples)
    tol : float
        Largest KKT violation of a pair at the end.
    max_steps : int
    trace : bool or "alpha"

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import all_pairs
    >>> x = np.linspace(-1, 1, 20)
    >>> all_pairs(hinge(np.sign(x), C=1.0).problem, np.outer(x, x)).status
    'converged'
    """
    run, past = Recorder(problem, K, trace), Past([], CLIPPED, 1.0)
    while run.violation() > tol:
        before = run.steps
        for i in range(problem.size):
            for j in range(problem.size):
                slope = run.gradient[i] - run.gradient[j]
                if i == j or slope <= 0 or problem.group[i] != problem.group[j]:
                    continue
                if run.reach(i, j) <= 0:
                    continue
                kind, length, newton = step_along(run, (i, j), past, "newton")
                run.move_pair(i, j, length, kind, length / newton if newton > 0 else 1.0)
                if run.steps >= max_steps:
                    return run.finished("step_limit")
        if run.steps == before:
            return run.finished("stuck")
    return run.finished("converged")
