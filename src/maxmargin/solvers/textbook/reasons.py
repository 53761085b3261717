"""Why a pair was chosen: the scores that selection policies compare, for every candidate.

The compiled loop keeps no scores. They are functions of α and the gradient before a step, and are
recomputed here, in float64, by the formulas of `pairs.selection`:

    slope = G_i − G_j      g̃ = slope² / (2·curvature)      g   (the same with the step in the box)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import DualProblem, Float
from .pairs.selection import FLOOR, Pair

# The score that each policy of `solve` compares, and over which pairs.
FIRST_FIXED, RELATED, EVERY = "first fixed", "related", "every"
COMPARED: dict[str, tuple[str, str]] = {
    "mvp": ("slope", FIRST_FIXED),
    "second_order": ("newton gain", FIRST_FIXED),
    "max_gain": ("gain", RELATED),
    "hybrid_max_gain": ("gain", RELATED),
    "greedy": ("gain", EVERY),
    "platt": ("slope", FIRST_FIXED),
    "random": ("slope", EVERY),
}


class Candidate(NamedTuple):
    """A pair and its score."""

    i: int
    j: int
    score: float


class Reason(NamedTuple):
    """The reasons for choosing a pair.

    Attributes
    ----------
    measure : {"slope", "newton gain", "gain"}
    candidates : list of Candidate
        Best first; the chosen pair is among them wherever the policy compares it.
    slope, curvature : float
        Of the chosen pair.
    newton : float
        Its step to the free optimum, infinite without curvature.

    Examples
    --------
    >>> from maxmargin.solvers.textbook import Reason
    >>> Reason("slope", [], slope=2.0, curvature=4.0, newton=0.5).newton
    0.5
    """

    measure: str
    candidates: list[Candidate]
    slope: float
    curvature: float
    newton: float


def reason(
    problem: DualProblem,
    K: Float,
    alpha: Float,
    gradient: Float,
    pair: Pair,
    *,
    selection: str = "second_order",
    last: Pair | None = None,
    most: int = 8,
) -> Reason:
    """The reasons for choosing a pair at α.

    Parameters
    ----------
    problem : DualProblem
    K : array of shape (samples, samples)
    alpha, gradient : float arrays
        Before the step.
    pair : (int, int)
        The chosen pair: i increases, j decreases.
    selection : str
        The policy of `solve`.
    last : (int, int), optional
        The previous pair, which "max_gain" and "hybrid_max_gain" use.
    most : int
        Candidates to return.

    Returns
    -------
    Reason

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import reason
    >>> x = np.array([-2.0, -1.0, 1.0, 3.0])
    >>> problem = hinge(np.sign(x), C=1.0).problem
    >>> found = reason(problem, np.outer(x, x), np.zeros(4), problem.linear, (2, 1))
    >>> found.candidates[0]
    Candidate(i=2, j=1, score=0.5)
    """
    if selection not in COMPARED:
        raise ValueError(f"selection must be one of {sorted(COMPARED)}, got {selection!r}")
    measure, scope = COMPARED[selection]
    firsts = _firsts(problem, scope, pair, last)
    rising, falling = problem.can_rise(alpha), problem.can_fall(alpha)
    found: list[Candidate] = []
    for i, sign in firsts:
        allowed = falling if sign > 0 else rising
        if not (rising if sign > 0 else falling)[i]:
            continue
        scores = _scores(problem, K, alpha, gradient, i, sign, measure)
        usable = np.flatnonzero(allowed & (scores > 0) & (problem.group == problem.group[i]))
        best = usable[np.argsort(-scores[usable], kind="stable")[:most]]
        for j in best.tolist():
            a, b = (i, j) if sign > 0 else (j, i)
            found.append(Candidate(a, b, float(scores[j])))
    slope, curvature = _of_pair(problem, K, gradient, pair)
    unique = {(one.i, one.j): one for one in found}
    ordered = sorted(unique.values(), key=lambda one: -one.score)
    newton = slope / curvature if curvature > FLOOR else np.inf
    return Reason(measure, ordered[:most], slope, curvature, newton)


def _firsts(
    problem: DualProblem, scope: str, pair: Pair, last: Pair | None
) -> list[tuple[int, float]]:
    """Variables whose pairs are compared, with +1 where they rise and −1 where they fall."""
    if scope == FIRST_FIXED:
        return [(pair[0], 1.0)]
    if scope == RELATED:
        return [(a, sign) for a in dict.fromkeys(last or pair) for sign in (1.0, -1.0)]
    return [(a, 1.0) for a in range(problem.size)]


def _scores(
    problem: DualProblem,
    K: Float,
    alpha: Float,
    gradient: Float,
    a: int,
    sign: float,
    measure: str,
) -> Float:
    """Of the pairs of variable a with every other."""
    slope = sign * (gradient[a] - gradient)
    if measure == "slope":
        return np.asarray(slope)
    diagonal = problem.of_samples(np.diagonal(K)) + problem.ridge
    row = problem.of_samples(K[a % problem.samples])
    bend = np.maximum(diagonal[a] + diagonal - 2.0 * row, FLOOR)
    newton = slope / bend
    if measure == "gain":
        own = problem.upper[a] - alpha[a] if sign > 0 else alpha[a] - problem.lower[a]
        others = alpha - problem.lower if sign > 0 else problem.upper - alpha
        newton = np.minimum(newton, np.minimum(own, others))
    gains: NDArray[np.float64] = newton * (slope - 0.5 * bend * newton)
    gains = np.where(slope > 0, gains, 0.0)
    gains[a] = 0.0
    return gains


def _of_pair(problem: DualProblem, K: Float, gradient: Float, pair: Pair) -> tuple[float, float]:
    (i, j), n = pair, problem.samples
    a, b = i % n, j % n
    bend = K[a, a] + K[b, b] - 2.0 * K[a, b] + problem.ridge[i] + problem.ridge[j]
    return float(gradient[i] - gradient[j]), float(bend)
