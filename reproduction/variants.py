"""Variants of SMO that the thesis tries and the library does not have, in one plain compiled loop.

Selection: second order; the same, but the pair of two steps ago where it gains more (the ablation
of section 7.2.2); hybrid maximum gain with two rows, one row, the ten last pairs' rows or all rows
computed so far (section 6.3.5). The stop: ψ(α) ≤ tol, or, as the thesis stops maximum gain, a
Newton step below tol. The Gram matrix is in memory; which rows a cache of so many rows would have
had to compute again is counted beside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

SECOND_ORDER, REVISITING, TWO_ROWS, ONE_ROW, TEN_PAIRS, WHOLE_CACHE = range(6)
SELECTIONS = {
    "second order": SECOND_ORDER,
    "second order, pair of two steps ago": REVISITING,
    "two rows": TWO_ROWS,
    "one row": ONE_ROW,
    "ten pairs": TEN_PAIRS,
    "whole cache": WHOLE_CACHE,
}
STOPS = ("violation", "newton")
HYBRID_ETA = 1e-8
RECENT = 10
SMALLEST_CURVATURE = 1e-12


class Ending(NamedTuple):
    """How a run of a variant ended."""

    alpha: np.ndarray
    dual: float
    violation: float
    steps: int
    fall_backs: int
    row_misses: int


def run_variant(
    matrix: np.ndarray,
    y: np.ndarray,
    C: float,
    selection: str,
    *,
    stop: str = "violation",
    tol: float = 1e-3,
    cache_rows: int | None = None,
    max_steps: int = 100_000_000,
) -> Ending:
    """Maximise yᵀα − ½αᵀKα between 0 and y·C with Σα = 0 by one of the variants."""
    if selection not in SELECTIONS:
        raise ValueError(f"selection must be one of {list(SELECTIONS)}, got {selection!r}")
    if stop not in STOPS:
        raise ValueError(f"stop must be one of {STOPS}, got {stop!r}")
    signs = np.asarray(y, dtype=np.float64)
    lower, upper = np.minimum(0.0, C * signs), np.maximum(0.0, C * signs)
    rows = matrix.shape[0] if cache_rows is None else max(2, cache_rows)
    alpha, gradient, steps, fall_backs, misses = _loop(
        matrix, signs, lower, upper, SELECTIONS[selection], stop == "newton", tol, rows, max_steps
    )
    rising, falling = alpha < upper, alpha > lower
    violation = max(0.0, float(gradient[rising].max() - gradient[falling].min()))
    dual = float(0.5 * alpha @ (signs + gradient))
    return Ending(alpha, dual, violation, steps, fall_backs, misses)


@njit(cache=True, nogil=True)
def _loop(K, linear, lower, upper, selection, newton_stop, tol, cache_rows, max_steps):
    n = linear.size
    alpha, gradient = np.zeros(n), linear.copy()
    used = np.full(n, -1)  # when a row was last used, −1 where it is not in the cache
    cached = np.full(cache_rows, -1)  # samples whose rows are in the cache
    recent_i, recent_j = np.full(RECENT, -1), np.full(RECENT, -1)
    steps, fall_backs, misses, count = 0, 0, 0, 0
    while steps < max_steps:
        i, j = -1, -1
        related = selection >= TWO_ROWS and steps > 0
        if related:
            related = _inside(alpha, lower, upper, recent_i[0]) or _inside(
                alpha, lower, upper, recent_j[0]
            )
        if related:
            if selection == WHOLE_CACHE:
                i, j = _best_of_rows(K, gradient, alpha, lower, upper, cached, count)
            else:
                pairs = RECENT if selection == TEN_PAIRS else 1
                rows = np.empty(2 * pairs, dtype=np.int64)
                held = 0
                for k in range(pairs):
                    if recent_i[k] >= 0:
                        rows[held], rows[held + 1] = recent_i[k], recent_j[k]
                        held += 2
                if selection == ONE_ROW:
                    # The element that came with the last step; so each is used twice.
                    rows[0] = _newer(recent_i, recent_j)
                    held = 1
                i, j = _best_of_rows(K, gradient, alpha, lower, upper, rows, held)
            if not newton_stop:
                if _violation(gradient, alpha, lower, upper) <= tol:
                    break
                if i < 0:
                    i, j = _second_order(K, gradient, alpha, lower, upper)
                    fall_backs += 1
            elif i < 0 or _newton(K, gradient, i, j) < tol:
                if selection != ONE_ROW:
                    break
                # One row sees too little to end by: the fall-back is asked.
                i, j = _second_order(K, gradient, alpha, lower, upper)
                fall_backs += 1
                if i < 0 or _newton(K, gradient, i, j) < tol:
                    break
        else:
            if _violation(gradient, alpha, lower, upper) <= tol:
                break
            i, j = _second_order(K, gradient, alpha, lower, upper)
            fall_backs += selection >= TWO_ROWS
            if selection == REVISITING and steps > 1:
                p, q = recent_i[1], recent_j[1]
                if alpha[p] < upper[p] and alpha[q] > lower[q] and gradient[p] > gradient[q]:
                    old = _newton(K, gradient, p, q) * (gradient[p] - gradient[q])
                    new = _newton(K, gradient, i, j) * (gradient[i] - gradient[j])
                    if old > new:
                        i, j = p, q
        if i < 0:
            break
        step = _newton(K, gradient, i, j)
        to_i, to_j = upper[i] - alpha[i], alpha[j] - lower[j]
        step = min(step, min(to_i, to_j))
        alpha[i] = upper[i] if step == to_i else alpha[i] + step
        alpha[j] = lower[j] if step == to_j else alpha[j] - step
        row_i, row_j = K[i], K[j]
        for a in range(n):
            gradient[a] -= step * (row_i[a] - row_j[a])
        for k in range(RECENT - 1, 0, -1):
            recent_i[k], recent_j[k] = recent_i[k - 1], recent_j[k - 1]
        recent_i[0], recent_j[0] = i, j
        for a in (i, j):
            if used[a] < 0:
                misses += 1
                if count < cache_rows:
                    cached[count] = a
                    count += 1
                else:
                    oldest = 0
                    for k in range(count):
                        if used[cached[k]] < used[cached[oldest]]:
                            oldest = k
                    used[cached[oldest]] = -1
                    cached[oldest] = a
            used[a] = steps
        steps += 1
    return alpha, gradient, steps, fall_backs, misses


@njit(cache=True, nogil=True)
def _bend(K, i, j):
    return K[i, i] + K[j, j] - 2.0 * K[i, j]


@njit(cache=True, nogil=True)
def _newton(K, gradient, i, j):
    return (gradient[i] - gradient[j]) / max(_bend(K, i, j), SMALLEST_CURVATURE)


@njit(cache=True, nogil=True)
def _inside(alpha, lower, upper, a):
    """Whether a variable is farther from its bounds than HMG's fall-back asks for."""
    margin = HYBRID_ETA * (upper[a] - lower[a])
    return lower[a] + margin <= alpha[a] <= upper[a] - margin


@njit(cache=True, nogil=True)
def _newer(recent_i, recent_j):
    """The element of the last pair that the pair before did not have."""
    i, j = recent_i[0], recent_j[0]
    return j if i == recent_i[1] or i == recent_j[1] else i


@njit(cache=True, nogil=True)
def _violation(gradient, alpha, lower, upper):
    top, bottom = -np.inf, np.inf
    for a in range(gradient.size):
        if alpha[a] < upper[a] and gradient[a] > top:
            top = gradient[a]
        if alpha[a] > lower[a] and gradient[a] < bottom:
            bottom = gradient[a]
    return top - bottom


@njit(cache=True, nogil=True)
def _second_order(K, gradient, alpha, lower, upper):
    i = -1
    for a in range(gradient.size):
        if alpha[a] < upper[a] and (i < 0 or gradient[a] > gradient[i]):
            i = a
    best, j = 0.0, -1
    for a in range(gradient.size):
        slope = gradient[i] - gradient[a]
        if alpha[a] > lower[a] and slope > 0.0:
            gain = slope * slope / max(_bend(K, i, a), SMALLEST_CURVATURE)
            if gain > best:
                best, j = gain, a
    return (i, j) if j >= 0 else (-1, -1)


@njit(cache=True, nogil=True)
def _best_of_rows(K, gradient, alpha, lower, upper, rows, count):
    """The pair of the largest truncated gain that has one of these samples."""
    best, i, j = 0.0, -1, -1
    for k in range(count):
        r = rows[k]
        row, q = K[r], K[r, r]
        rises, falls = alpha[r] < upper[r], alpha[r] > lower[r]
        for a in range(gradient.size):
            slope = gradient[r] - gradient[a]
            if slope > 0.0 and rises and alpha[a] > lower[a]:
                room = min(upper[r] - alpha[r], alpha[a] - lower[a])
            elif slope < 0.0 and falls and alpha[a] < upper[a]:
                room = min(alpha[r] - lower[r], upper[a] - alpha[a])
            else:
                continue
            bend = max(q + K[a, a] - 2.0 * row[a], SMALLEST_CURVATURE)
            size = abs(slope)
            step = min(size / bend, room)
            gain = step * (size - 0.5 * bend * step)
            if gain > best:
                best = gain
                i, j = (r, a) if slope > 0.0 else (a, r)
    return i, j
