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
    wants = np.empty(gradient.size)
    eager = gather_wants(gradient, penalty, sign, limit, wants)
    if eager > count:
        wants = np.partition(wants[:eager], eager - count)
        limit = wants[eager - count]
        equal = np.count_nonzero(wants == limit)
        missing = np.count_nonzero(wants[eager - count :] == limit)
        if missing < equal:
            mark_equal(gradient, penalty, sign, limit, missing, equal, marks)
        else:
            limit = np.nextafter(limit, -np.inf)
    mark_above(gradient, penalty, sign, limit, marks)


@borrowing
def gather_wants(gradient, penalty, sign, limit, wants):
    """Write what is above the limit to the front; returns how many that are."""
    count = 0
    for a in range(gradient.size):
        wants[count] = want = sign * (gradient[a] + penalty[a])
        count += want > limit
    return count


@borrowing
def mark_above(gradient, penalty, sign, limit, marks):
    """Mark the samples of all variables that want more."""
    for a in range(gradient.size):
        if sign * (gradient[a] + penalty[a]) > limit:
            marks[a % marks.size] = True


@borrowing
def mark_equal(gradient, penalty, sign, want, count, there, marks):
    """Mark the samples of `count` of the variables that want just this, of so many that are there,
    evenly spread."""
    passed = 0
    for a in range(gradient.size):
        if sign * (gradient[a] + penalty[a]) == want:
            passed += count
            if passed >= there:
                passed -= there
                marks[a % marks.size] = True
