"""Queries over all variables of a problem, each in one compiled pass.

For a few hundred variables the overhead of a dozen NumPy calls exceeds the computation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.jit import borrowing_fused, borrowing_strict

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def are_two_classes(labels: NDArray[np.float64], penalty: NDArray[np.float64]) -> bool:
    """Whether labels are ±1, penalties not negative, and both classes have a positive one."""
    if not ((penalty >= 0.0).all() and (np.abs(labels) == 1.0).all()):
        return False
    above = (labels > 0.0)[penalty > 0.0]
    return bool(above.any() and not above.all())


# Flags returned by `traits`: all arrays are valid; a loss is a constraint (an infinite bound
# without ridge); α = 0 is feasible; all totals are 0.
SOUND, CONSTRAINED, ZERO_FEASIBLE, ZERO_TOTALS = 1, 2, 4, 8


@borrowing_fused
def traits(
    linear: Float, lower: Float, upper: Float, ridge: Float, group: Int, totals: Float, slack: float
) -> int:
    """The flags of a problem; without `SOUND` if these arrays do not form a feasible problem (NaN,
    infinite values other than bounds)."""
    constrained, inside, plain = False, True, True
    for a in range(linear.size):
        low, high, bend = lower[a], upper[a], ridge[a]
        if not (abs(linear[a]) < np.inf and 0.0 <= bend < np.inf):
            return 0
        if not (low <= high and low < np.inf and high > -np.inf):
            return 0
        if not 0 <= group[a] < totals.size:
            return 0
        constrained |= bend == 0.0 and (low == -np.inf or high == np.inf)
        inside &= low <= 0.0 <= high
    for g in range(totals.size):
        total = totals[g]
        least, most, size = 0.0, 0.0, abs(total)
        for a in range(linear.size):
            if group[a] == g:
                least += lower[a]
                most += upper[a]
                size += abs(lower[a]) if lower[a] > -np.inf else 0.0
                size += abs(upper[a]) if upper[a] < np.inf else 0.0
        if not (abs(total) < np.inf and least - slack * size <= total <= most + slack * size):
            return 0
        plain &= total == 0.0
    known = SOUND + (CONSTRAINED if constrained else 0) + (ZERO_TOTALS if plain else 0)
    return known + (ZERO_FEASIBLE if plain and inside else 0)


@borrowing_fused
def meeting(
    alpha: Float, gradient: Float, lower: Float, upper: Float, group: Int, bias: Float
) -> float:
    """Compute the bias of each group (`DualProblem.bias`); returns the violation ψ(α) of the worst
    group."""
    violation = 0.0
    for g in range(bias.size):
        top, bottom, total, count, level = -np.inf, np.inf, 0.0, 0, 0.0
        for a in range(alpha.size):
            if group[a] != g:
                continue
            value = gradient[a]
            rises, falls = alpha[a] < upper[a], alpha[a] > lower[a]
            if rises and not value <= top:
                top = value
            if falls and not value >= bottom:
                bottom = value
            if rises and falls:
                # Almost equal at the optimum, so that summing differences loses no digits.
                if count == 0:
                    level = value
                total += value - level
                count += 1
        if not top - bottom <= violation:
            violation = top - bottom
        if count > 0:
            bias[g] = level + total / count
        elif abs(top) < np.inf and abs(bottom) < np.inf:
            bias[g] = 0.5 * (top + bottom)
        elif abs(top) < np.inf:
            bias[g] = top
        elif abs(bottom) < np.inf:
            bias[g] = bottom
    return violation


@borrowing_strict
def gap_and_infeasibility(
    linear: Float,
    lower: Float,
    upper: Float,
    ridge: Float,
    group: Int,
    totals: Float,
    alpha: Float,
    kernel_alpha: Float,
    bias: Float,
) -> tuple[float, float]:
    """The sum of `certificate`, and the largest excess over a bound or a sum as a part of Σ|α|."""
    samples = kernel_alpha.size
    gap, excess, size = 0.0, 0.0, 0.0
    for a in range(alpha.size):
        value, bend, low, high = alpha[a], ridge[a], lower[a], upper[a]
        if low - value > excess:
            excess = low - value
        if value - high > excess:
            excess = value - high
        size += abs(value)
        # The best response t maximises e·t − ½ridge·t² in the box.
        error = linear[a] - kernel_alpha[a % samples] - bias[group[a]]
        best, other = (high, low) if error > 0.0 else (low, high)
        if bend > 0.0:
            best = error / bend
            best = low if best < low else high if best > high else best
        elif abs(best) == np.inf:  # a constraint contributes nothing when it holds
            best = 0.0 if abs(other) == np.inf else other
        gap += (best - value) * (error - 0.5 * bend * (best + value))
    for g in range(totals.size):
        # Compensated summation, so that rounding of the sums does not show in the gap.
        total, lost = 0.0, 0.0
        for a in range(alpha.size):
            if group[a] == g:
                term = alpha[a] - lost
                after = total + term
                lost = (after - total) - term
                total = after
        gap += bias[g] * (totals[g] - total)
        off = abs(totals[g] - total)
        excess = off if off > excess else excess
        size = abs(totals[g]) if abs(totals[g]) > size else size
    return gap, excess / size if size > 0.0 else 0.0


@borrowing_strict
def gradient_and_value(
    linear: Float, ridge: Float, alpha: Float, kernel_alpha: Float, gradient: Float
) -> float:
    """gradient ← linear − Kα − ridge·α; returns the dual value ½ α·(linear + gradient)."""
    samples, total, lost = kernel_alpha.size, 0.0, 0.0
    for a in range(alpha.size):
        gradient[a] = linear[a] - kernel_alpha[a % samples] - ridge[a] * alpha[a]
        term = alpha[a] * (linear[a] + gradient[a]) - lost
        after = total + term
        lost = (after - total) - term
        total = after
    return 0.5 * total
