"""Which variables violate most: so many of those that want to rise, or to fall, beyond a limit."""

from __future__ import annotations

import numpy as np

from ...runtime.jit import borrowing


def mark_most(gradient, penalty, sign, limit, count, marks):
    """Mark the samples of the `count` variables with the largest sign·(gradient + penalty) above a
    limit, or of all of them if they are fewer.

    Variable a is of sample a % len(marks). Of variables that want the same, some are marked that
    stand apart from each other.
    """
    scores = np.empty(gradient.size)
    above = gather_scores(gradient, penalty, sign, limit, scores)
    if above > count:
        scores = np.partition(scores[:above], above - count)
        limit = scores[above - count]
        equal = np.count_nonzero(scores == limit)
        missing = np.count_nonzero(scores[above - count :] == limit)
        if missing < equal:
            mark_equal(gradient, penalty, sign, limit, missing, equal, marks)
        else:
            limit = np.nextafter(limit, -np.inf)
    mark_above(gradient, penalty, sign, limit, marks)


@borrowing
def gather_scores(gradient, penalty, sign, limit, scores):
    """Write what is above the limit to the front; returns how many that are."""
    count = 0
    for a in range(gradient.size):
        scores[count] = score = sign * (gradient[a] + penalty[a])
        count += score > limit
    return count


@borrowing
def mark_above(gradient, penalty, sign, limit, marks):
    """Mark the samples of all variables that want more."""
    for a in range(gradient.size):
        if sign * (gradient[a] + penalty[a]) > limit:
            marks[a % marks.size] = True


@borrowing
def mark_equal(gradient, penalty, sign, score, count, there, marks):
    """Mark the samples of `count` of the variables that want just this, of so many that are there,
    evenly spread."""
    passed = 0
    for a in range(gradient.size):
        if sign * (gradient[a] + penalty[a]) == score:
            passed += count
            if passed >= there:
                passed -= there
                marks[a % marks.size] = True
