"""Selection of the most violating variables, upwards or downwards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import Float
from ...runtime.jit import borrowing

Bool = NDArray[np.bool_]


def mark_most(
    gradient: Float, penalty: Float, sign: float, limit: float, count: int, marks: Bool
) -> None:
    """Mark the samples of the `count` variables with the largest score above a limit, or of all of
    them if they are fewer. The score is sign·(gradient + penalty).

    Variable a belongs to sample a % len(marks). Ties are broken evenly over the variables.
    """
    scores = np.empty(gradient.size)
    above = gather_scores(gradient, penalty, sign, limit, scores)
    if above > count:
        scores = np.partition(scores[:above], above - count)
        limit = scores[above - count]
        equal = int(np.count_nonzero(scores == limit))
        missing = int(np.count_nonzero(scores[above - count :] == limit))
        if missing < equal:
            mark_equal(gradient, penalty, sign, limit, missing, equal, marks)
        else:
            limit = np.nextafter(limit, -np.inf)
    mark_above(gradient, penalty, sign, limit, marks)


@borrowing
def gather_scores(gradient: Float, penalty: Float, sign: float, limit: float, scores: Float) -> int:
    """Write the scores above the limit to the front of `scores`; returns their number."""
    count = 0
    for a in range(gradient.size):
        scores[count] = score = sign * (gradient[a] + penalty[a])
        count += score > limit
    return count


@borrowing
def mark_above(gradient: Float, penalty: Float, sign: float, limit: float, marks: Bool) -> None:
    """Mark the samples of all variables with a score above the limit."""
    for a in range(gradient.size):
        if sign * (gradient[a] + penalty[a]) > limit:
            marks[a % marks.size] = True


@borrowing
def mark_equal(
    gradient: Float, penalty: Float, sign: float, score: float, count: int, there: int, marks: Bool
) -> None:
    """Mark the samples of `count` of the `there` variables with just this score, evenly spread."""
    passed = 0
    for a in range(gradient.size):
        if sign * (gradient[a] + penalty[a]) == score:
            passed += count
            if passed >= there:
                passed -= there
                marks[a % marks.size] = True
