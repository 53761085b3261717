"""Partial gradient ascent in the dual (lecture 000): along the gradient of any set of variables.

    d = P(α_I + ηG_I) − α_I,   then the exact line search along d inside the feasible set

with P the projection on the box and on the sum that the other variables leave to I. The smallest
set that can move at all has two variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import DualProblem, Float
from ..result import Solution
from .lectures import project
from .pairs.selection import Past, maximum_violating_pair
from .record import CLIPPED, FREE, Recorder

Sets = Callable[[Recorder], Iterator[NDArray[Any]]]
# Number of steps without a gain above rounding after which it ends.
PATIENCE = 1000


def partial_gradient(
    problem: DualProblem,
    K: Any,
    *,
    sets: str | Sequence[Any] = "violating",
    size: int = 10,
    tol: float = 1e-3,
    max_steps: int = 100_000,
    trace: bool | str = False,
    random_state: int = 0,
) -> Solution:
    """Ascend along the gradient of one set of variables after the other.

    Parameters
    ----------
    problem : DualProblem
    K : array of shape (samples, samples)
    sets : {"violating", "random"} or list of index arrays
        The variables with the largest gradients that may rise and the smallest that may fall, of
        the sum with the most violating pair; random ones; or sets that are used in turn.
    size : int
        Variables of a set, at least 2.
    tol : float
        Largest KKT violation of a pair at the end.
    max_steps : int
    trace : bool or "alpha"
    random_state : int

    Returns
    -------
    Solution
        "stuck" if the optimum cannot be reached with the given sets.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import partial_gradient
    >>> x = np.linspace(-1, 1, 20)
    >>> partial_gradient(hinge(np.sign(x), C=1.0).problem, np.outer(x, x), size=4).status
    'converged'
    """
    if size < 2:
        raise ValueError(f"size must be at least 2, got {size}: a sum must be kept")
    run, random = Recorder(problem, K, trace), np.random.default_rng(random_state)
    idle = 0
    while run.violation() > tol:
        if run.steps >= max_steps:
            return run.finished("step_limit")
        if isinstance(sets, str):
            chosen = _chosen(run, sets, size, random)
        else:
            chosen = np.asarray(sets[(run.steps + idle) % len(sets)])
        idle = 0 if _ascend(run, chosen) else idle + 1
        if idle > max(PATIENCE, len(sets)):
            return run.finished("stuck")
    return run.finished("converged")


def _chosen(run: Recorder, sets: str, size: int, random: np.random.Generator) -> NDArray[Any]:
    if sets == "random":
        return np.sort(random.choice(run.problem.size, min(size, run.problem.size), replace=False))
    if sets != "violating":
        raise ValueError(f'sets must be "violating", "random" or a list of sets, got {sets!r}')
    half, own = max(1, size // 2), _worst_group(run)
    rising = np.argsort(np.where(run.can_rise & own, -run.gradient, np.inf), kind="stable")[:half]
    falling = np.argsort(np.where(run.can_fall & own, run.gradient, np.inf), kind="stable")[:half]
    return np.union1d(rising, falling)


def _worst_group(run: Recorder) -> NDArray[np.bool_]:
    """The variables that share a sum with the most violating pair."""
    pair = maximum_violating_pair(run, Past([], CLIPPED, 1.0))
    group = run.problem.group
    return np.asarray(group == group[0 if pair is None else pair[0]])


def _ascend(run: Recorder, chosen: NDArray[Any]) -> bool:
    """Take one step; return whether there was anything to gain."""
    part = _restricted(run.problem, run.alpha, chosen)
    G, before = run.gradient[chosen], run.alpha[chosen]
    Q = np.array([run.q_row(int(a))[chosen] for a in chosen])
    rate = 1.0 / max(float(np.abs(Q).sum(axis=1).max()), 1e-300)
    direction = project(part, before + rate * G) - before
    slope, bend = float(G @ direction), float(direction @ Q @ direction)
    # A direction that is short compared with the gradient is a rounding error of the projection.
    if slope <= 0 or np.abs(direction).max() <= 1e-7 * rate * np.abs(G).max():
        return False
    longest = _longest(part, before, direction)
    step = slope / bend if bend > 0 else np.inf
    clipped = step >= longest
    run.move(chosen, min(step, longest) * direction, CLIPPED if clipped else FREE)
    return True


def _longest(part: DualProblem, alpha: Float, direction: Float) -> float:
    """How far the direction can be followed inside the box."""
    max_step = np.where(direction > 0, part.upper - alpha, alpha - part.lower)
    moving = direction != 0
    return float(np.min(max_step[moving] / np.abs(direction[moving]), initial=np.inf))


def _restricted(problem: DualProblem, alpha: Float, chosen: NDArray[Any]) -> DualProblem:
    """The feasible set of some variables, the others staying where they are."""
    totals = np.bincount(problem.group[chosen], alpha[chosen], minlength=problem.totals.size)
    return DualProblem(
        linear=np.zeros(chosen.size),
        lower=problem.lower[chosen],
        upper=problem.upper[chosen],
        ridge=np.zeros(chosen.size),
        group=problem.group[chosen],
        totals=totals.astype(np.float64),
        samples=chosen.size,
    )
