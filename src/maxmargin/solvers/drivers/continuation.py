"""Continuation in the box size, for kernels of low rank.

With a Gram matrix of rank r at most r + 1 variables need to be free; on noisy data all other
support vectors end at their bounds, however large these are. The length of a pair step is limited
by the curvature, so distant bounds take very many steps. In a box of the size of one such step,
variables reach their bounds at once, and the solution, scaled by the ratio of the boxes, is close
to that of the next larger box. If most variables stay free instead, the next box starts from the
unscaled solution.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...dual.problem import DualProblem, Float
from ..result import Solution
from ..settings import Settings


def in_box(problem: DualProblem, size: float) -> DualProblem:
    return replace(problem, lower=size * problem.lower, upper=size * problem.upper)


def coarse_settings(problem: DualProblem, settings: Settings, earlier: Solution | None) -> Settings:
    """Settings for a box before the last one; budgets are reduced by what `earlier` used."""
    tol = max(settings.tol, 0.1 * float(np.abs(problem.linear).mean()))
    return replace(settings.after(earlier, problem.samples), tol=tol, gap=np.inf)


def start_in(problem: DualProblem, found: Solution, smaller: DualProblem) -> Float:
    """Starting point, from the solution in a smaller box."""
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
    """The solution in a smaller box as a solution of the problem, for a run that ended there."""
    if np.isnan(found.gradient).any():
        return found  # it ended before the first gradient was known, with a bias of 0
    return replace(
        found,
        bias=problem.bias(found.alpha, found.gradient),
        violation=problem.violation(found.alpha, found.gradient),
    )
