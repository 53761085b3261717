"""Step length of a pair: the truncated Newton step (4.4), or a step planned ahead.

Planning ahead (chapter 7) chooses the step along the current pair that is best if a recent pair
(p, r) is taken next. With w₁, w₂ the slopes along both and Q their 2 × 2 curvature,

    μ₁ = (Q₂₂w₁ − Q₁₂w₂) / det Q        μ₂ = (w₂ − Q₁₂μ₁) / Q₂₂              (7.4)

It is used only after a free Newton step and if neither step meets a bound (Algorithm 7.3).
"""

from __future__ import annotations

import numpy as np

from ...dual.problem import Float
from ...kernels.base import Array
from ...runtime.jit import inlined, largest, smallest
from . import state as r
from .selection import curvature, pair_gain, pair_slope

# A planned step within this relative range of the Newton step is a gain by itself (Algorithm 7.2).
PLANNING_ETA = 0.9
# If det Q / (Q₁₁Q₂₂) is below this, it is rounding.
SMALLEST_DETERMINANT = 1e-10


@inlined
def coupling(
    v: r.Variables, row_i: Array, row_j: Array, i: int, j: int, p: int, q: int, samples: int
) -> float:
    """v_Bᵀ Q v_B' of the pairs B = (i, j) and B' = (p, q)."""
    sp, sq = p % samples, q % samples
    value = np.float64(row_i[sp]) - row_i[sq] - row_j[sp] + row_j[sq]
    if i == p:
        value += v.ridge[i]
    if i == q:
        value -= v.ridge[i]
    if j == p:
        value -= v.ridge[j]
    if j == q:
        value += v.ridge[j]
    result: float = value
    return result


@inlined
def stays_inside(v: r.Variables, a: int, move: float) -> bool:
    result: bool = v.lower[a] < v.alpha[a] + move < v.upper[a]
    return result


@inlined
def at_kink(v: r.Variables, a: int) -> bool:
    result: bool = v.alpha[a] == 0.0 and v.kink[a] > 0.0
    return result


@inlined
def level(v: r.Variables, a: int) -> float:
    """The gradient of variable a on its current side of the kink."""
    result: float = v.gradient[a] + (v.kink[a] if v.alpha[a] < 0.0 else -v.kink[a])
    return result


@inlined
def moved_by(a: int, i: int, j: int, step: float) -> float:
    """The change of variable a by a step along (i, j)."""
    if a == i:
        return step
    if a == j:
        return -step
    return 0.0


@inlined
def planned_step(
    v: r.Variables,
    row_i: Array,
    row_j: Array,
    i: int,
    j: int,
    slope: float,
    bend: float,
    samples: int,
    control: r.Control,
    memory: r.Memory,
) -> tuple[bool, float]:
    """(found, step): the planned step of the largest double-step gain over recent pairs."""
    best, step, found = 0.0, 0.0, False
    if at_kink(v, i) or at_kink(v, j):
        return found, step
    for n in range(min(control.planning, memory.state[0].recent)):
        p, q = memory.recent[n]
        if at_kink(v, p) or at_kink(v, q):
            continue
        q22 = memory.recent_bend[n]
        q12 = coupling(v, row_i, row_j, i, j, p, q, samples)
        determinant = bend * q22 - q12 * q12
        if q22 <= control.floor or determinant <= SMALLEST_DETERMINANT * bend * q22:
            continue
        w2 = level(v, p) - level(v, q)
        first = (q22 * slope - q12 * w2) / determinant
        second = (w2 - q12 * first) / q22
        if not (
            stays_inside(v, i, first)
            and stays_inside(v, j, -first)
            and stays_inside(v, p, moved_by(p, i, j, first) + second)
            and stays_inside(v, q, moved_by(q, i, j, first) - second)
        ):
            continue
        gain = first * (slope - 0.5 * bend * first) + second * (
            w2 - q12 * first - 0.5 * q22 * second
        )
        if gain > best:
            best, step, found = gain, first, True
    return found, step


@inlined
def better_recent_pair(
    v: r.Variables,
    row_i: Array,
    i: int,
    j: int,
    samples: int,
    control: r.Control,
    memory: r.Memory,
    exact: bool,
) -> tuple[int, int]:
    """The pair (i, j), or the recent pair of the last plan if its gain is larger."""
    floor = control.floor
    best = pair_gain(v, i, j, curvature(v, row_i, i, j, samples), floor, exact)
    for n in range(1, min(control.planning + 1, memory.state[0].recent)):
        p, q = memory.recent[n]
        if pair_slope(v, p, q) < 0.0:
            p, q = q, p
        gain = pair_gain(v, p, q, memory.recent_bend[n], floor, exact)
        if gain > best:
            best, i, j = gain, p, q
    return i, j


@inlined
def set_penalties(v: r.Variables, a: int) -> None:
    """Update `rise`, `fall` and bounds of variable a after a move."""
    g, alpha, kink = v.group[a], v.alpha[a], v.kink[a]
    if kink > 0.0:
        v.upper[a] = 0.0 if alpha < 0.0 else v.highest[a]
        v.lower[a] = 0.0 if alpha > 0.0 else v.lowest[a]
    v.rise[g, a] = (kink if alpha < 0.0 else -kink) if alpha < v.upper[a] else -np.inf
    v.fall[g, a] = (-kink if alpha > 0.0 else kink) if alpha > v.lower[a] else np.inf


@inlined
def move_pair(v: r.Variables, i: int, j: int, step: float) -> None:
    """α_i += step, α_j −= step; bounds are hit exactly."""
    up = v.upper[i] - v.alpha[i]
    down = v.alpha[j] - v.lower[j]
    v.alpha[i] = v.upper[i] if step >= up else v.alpha[i] + step
    v.alpha[j] = v.lower[j] if step >= down else v.alpha[j] - step
    set_penalties(v, i)
    set_penalties(v, j)


@inlined
def update_gradient(
    v: r.Variables,
    row_i: Array,
    row_j: Array,
    i: int,
    j: int,
    step: float,
    samples: int,
    tops: Float,
    bottoms: Float,
) -> float:
    """G −= step·Q(e_i − e_j), and the extremes of the new gradient in the same pass; ψ(α)."""
    v.gradient[i] -= step * v.ridge[i]
    v.gradient[j] += step * v.ridge[j]
    violation = 0.0
    for g in range(tops.size):
        top, bottom, rise, fall = -np.inf, np.inf, v.rise[g], v.fall[g]
        for start in range(0, v.gradient.size, samples):
            stop = start + samples
            high, low = moved_extremes(
                v.gradient[start:stop], rise[start:stop], fall[start:stop], row_i, row_j, step
            )
            top, bottom = largest(top, high), smallest(bottom, low)
        tops[g], bottoms[g] = top, bottom
        violation = largest(violation, top - bottom)
        step = 0.0
    return violation


@inlined
def moved_extremes(
    gradient: Float, rise: Float, fall: Float, row_i: Array, row_j: Array, step: float
) -> tuple[float, float]:
    top, bottom = -np.inf, np.inf
    for s in range(gradient.size):
        value = gradient[s] - step * (np.float64(row_i[s]) - np.float64(row_j[s]))
        gradient[s] = value
        top = largest(top, value + rise[s])
        bottom = smallest(bottom, value + fall[s])
    return top, bottom
