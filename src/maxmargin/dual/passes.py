"""What is asked of all variables of a problem, each answered in one compiled pass.

On a few hundred variables a dozen calls of NumPy take longer than the answer.
"""

from __future__ import annotations

import numpy as np

from ..runtime.jit import compiled_fused, compiled_strict


@compiled_fused
def are_two_classes(labels, penalty):  # type: ignore[no-untyped-def]
    """Whether labels are ±1, penalties not negative, and both classes have a positive one."""
    above, below = 0, 0
    for i in range(labels.size):
        if not (penalty[i] >= 0.0 and (labels[i] == 1.0 or labels[i] == -1.0)):
            return False
        above += labels[i] > 0.0 and penalty[i] > 0.0
        below += labels[i] < 0.0 and penalty[i] > 0.0
    return above > 0 and below > 0


# What `traits` tells, added up: all arrays are in order; a loss is a constraint (an infinite bound
# without ridge); α = 0 is feasible; no sum is demanded to be other than 0.
SOUND, CONSTRAINED, ZERO_FEASIBLE, ZERO_TOTALS = 1, 2, 4, 8


@compiled_fused
def traits(linear, lower, upper, ridge, group, totals, slack):  # type: ignore[no-untyped-def]
    """What is true of a problem; not even `SOUND` where these arrays make no feasible one: NaN, or
    something infinite other than bounds."""
    low, high, size = np.zeros(totals.size), np.zeros(totals.size), np.zeros(totals.size)
    constrained, inside = False, True
    for a in range(linear.size):
        if not (np.isfinite(linear[a]) and np.isfinite(ridge[a]) and ridge[a] >= 0.0):
            return 0
        if not (lower[a] <= upper[a] and lower[a] < np.inf and upper[a] > -np.inf):
            return 0
        g = group[a]
        if not 0 <= g < totals.size:
            return 0
        low[g] += lower[a]
        high[g] += upper[a]
        size[g] += abs(lower[a]) if lower[a] > -np.inf else 0.0
        size[g] += abs(upper[a]) if upper[a] < np.inf else 0.0
        constrained |= ridge[a] == 0.0 and (lower[a] == -np.inf or upper[a] == np.inf)
        inside &= lower[a] <= 0.0 <= upper[a]
    plain = True
    for g in range(totals.size):
        if not np.isfinite(totals[g]):
            return 0
        size[g] += abs(totals[g])
        if not low[g] - slack * size[g] <= totals[g] <= high[g] + slack * size[g]:
            return 0
        plain &= totals[g] == 0.0
    known = SOUND + (CONSTRAINED if constrained else 0) + (ZERO_TOTALS if plain else 0)
    return known + (ZERO_FEASIBLE if plain and inside else 0)


@compiled_fused
def meeting(alpha, gradient, lower, upper, group, bias):  # type: ignore[no-untyped-def]
    """Find where up and down meet in each group (`DualProblem.bias`); returns how far rising
    exceeds falling in the worst one."""
    groups = bias.size
    tops, bottoms = np.full(groups, -np.inf), np.full(groups, np.inf)
    sums, counts, level = np.zeros(groups), np.zeros(groups), np.zeros(groups)
    for a in range(alpha.size):
        g, value = group[a], gradient[a]
        rises, falls = alpha[a] < upper[a], alpha[a] > lower[a]
        if rises and not value <= tops[g]:
            tops[g] = value
        if falls and not value >= bottoms[g]:
            bottoms[g] = value
        if rises and falls:
            # Almost equal at the optimum: their differences lose nothing in a sum.
            if counts[g] == 0.0:
                level[g] = value
            sums[g] += value - level[g]
            counts[g] += 1.0
    violation = 0.0
    for g in range(groups):
        violation = max(violation, tops[g] - bottoms[g])
        if counts[g] > 0.0:
            bias[g] = level[g] + sums[g] / counts[g]
        elif np.isfinite(tops[g]) and np.isfinite(bottoms[g]):
            bias[g] = 0.5 * (tops[g] + bottoms[g])
        elif np.isfinite(tops[g]) or np.isfinite(bottoms[g]):
            bias[g] = tops[g] if np.isfinite(tops[g]) else bottoms[g]
    return violation


@compiled_strict
def gap_and_infeasibility(  # type: ignore[no-untyped-def]
    linear, lower, upper, ridge, group, totals, alpha, kernel_alpha, bias
):
    """The sum of `certificate`, and the largest excess over a bound or a sum as a part of Σ|α|."""
    samples, groups = kernel_alpha.size, totals.size
    sums, lost = np.zeros(groups), np.zeros(groups)
    gap, outside, size = 0.0, 0.0, 0.0
    for a in range(alpha.size):
        g, value, bend = group[a], alpha[a], ridge[a]
        outside = max(outside, lower[a] - value, value - upper[a])
        size += abs(value)
        # Compensated, as it is the rounding of these sums that the gap must not see.
        term = value - lost[g]
        total = sums[g] + term
        lost[g] = (total - sums[g]) - term
        sums[g] = total
        # The best response t maximises e·t − ½ridge·t² in the box.
        error = linear[a] - kernel_alpha[a % samples] - bias[g]
        if bend > 0.0:
            best = min(max(error / bend, lower[a]), upper[a])
        else:
            best = upper[a] if error > 0.0 else lower[a]
            if np.isinf(best):  # a constraint, and what holds is no reward
                other = lower[a] if error > 0.0 else upper[a]
                best = 0.0 if np.isinf(other) else other
        gap += (best - value) * (error - 0.5 * bend * (best + value))
    off = 0.0
    for g in range(groups):
        gap += bias[g] * (totals[g] - sums[g])
        off = max(off, abs(totals[g] - sums[g]))
        size = max(size, abs(totals[g]))
    return gap, max(outside, off) / size if size > 0.0 else 0.0


@compiled_strict
def gradient_and_value(linear, ridge, alpha, kernel_alpha, gradient):  # type: ignore[no-untyped-def]
    """gradient ← linear − Kα − ridge·α; returns the dual value ½ α·(linear + gradient)."""
    samples, total, lost = kernel_alpha.size, 0.0, 0.0
    for a in range(alpha.size):
        gradient[a] = linear[a] - kernel_alpha[a % samples] - ridge[a] * alpha[a]
        term = alpha[a] * (linear[a] + gradient[a]) - lost
        after = total + term
        lost = (after - total) - term
        total = after
    return 0.5 * total
