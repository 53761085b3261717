"""Small boxes first, where the kernel has few dimensions.

With a Gram matrix of rank r at most r + 1 variables need to be free; of noisy data all other
support vectors end at their bounds, however large. Pair steps are as long as the curvature
allows, and to bounds far away they take very many. In a box of the size of such a step variables
arrive at once, and the solution, multiplied by the ratio of the boxes, is nearly that of the next
one. Where variables stay free instead, the next one begins with the solution as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...dual.problem import DualProblem, Float
from ..result import Progress, Solution
from ..settings import Settings

# The solution in a smaller box may violate by this part of the size of the linear term.
COARSE_TOL = 0.1


def in_box(problem: DualProblem, size: float) -> DualProblem:
    return replace(problem, lower=size * problem.lower, upper=size * problem.upper)


def coarse_settings(problem: DualProblem, settings: Settings, earlier: Solution | None) -> Settings:
    """The settings for a box that is not the last one, after an earlier one."""
    tol = max(settings.tol, COARSE_TOL * float(np.abs(problem.linear).mean()))
    return replace(after(problem, settings, earlier), tol=tol, gap=np.inf)


def after(problem: DualProblem, settings: Settings, earlier: Solution | None) -> Settings:
    """What is left of the budgets; the callback is told the cost of everything so far."""
    if earlier is None:
        return settings
    callback = settings.callback

    def told(progress: Progress) -> object:
        return callback(  # type: ignore[misc]
            progress._replace(
                steps=progress.steps + earlier.steps,
                seconds=progress.seconds + earlier.seconds,
                rows=progress.rows + earlier.kernel_evaluations // problem.samples,
            )
        )

    return replace(
        settings,
        max_steps=max(0.0, settings.max_steps - earlier.steps),
        max_seconds=max(0.0, settings.max_seconds - earlier.seconds),
        callback=None if callback is None else told,
    )


def start_in(problem: DualProblem, found: Solution, smaller: DualProblem) -> Float:
    """Where to begin, from the solution in a smaller box."""
    alpha = found.alpha
    at_bound = (alpha <= smaller.lower) | (alpha >= smaller.upper)
    if 2.0 * np.abs(alpha[at_bound]).sum() < np.abs(alpha).sum():
        return alpha
    grown = alpha * (width(problem) / width(smaller))
    grown = np.where(alpha >= smaller.upper, problem.upper, grown)
    return np.where(alpha <= smaller.lower, problem.lower, grown)


def width(problem: DualProblem) -> float:
    return float(np.abs(problem.upper - problem.lower).max())


def read_in(problem: DualProblem, found: Solution) -> Solution:
    """The solution in a smaller box, where a run ended, as a point of the problem."""
    return replace(
        found,
        bias=problem.bias(found.alpha, found.gradient),
        violation=problem.violation(found.alpha, found.gradient),
    )
