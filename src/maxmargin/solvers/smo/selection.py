"""Working-set selection: which pair (i, j) moves next, i up and j down.

Every policy returns (sample, i, j): a pair, or the sample whose Gram row it needs first
(sample ≥ 0), or no pair (i = -1). Ties are broken by the lowest index.

References: chapter 4.3 (`mvp`, `second_order`), 6.1 (`greedy`, `max_gain`), Algorithm 6.1
(`hybrid_max_gain`) of the thesis; Platt (1999) for `platt`; the lecture sketch for `random`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dual.problem import Float
from ...kernels.base import Array
from ...runtime.jit import inlined, largest, smallest
from . import state as r

Choice = tuple[int, int, int]

NO_ROW = -1
HYBRID_ETA = 1e-8
# Number of elements compared at a time without branching.
SPAN = 64


@inlined
def extremes_of(gradient: Float, rise: Float, fall: Float) -> tuple[float, float]:
    top, bottom = -np.inf, np.inf
    for a in range(gradient.size):
        top = largest(top, gradient[a] + rise[a])
        bottom = smallest(bottom, gradient[a] + fall[a])
    return top, bottom


@inlined
def find_extremes(gradient: Float, rise: Float, fall: Float, tops: Float, bottoms: Float) -> float:
    """Set the largest gradient that may rise and the smallest that may fall, a group each; returns
    ψ(α)."""
    violation = 0.0
    for g in range(tops.size):
        top, bottom = extremes_of(gradient, rise[g], fall[g])
        violation = largest(violation, top - bottom)
        tops[g], bottoms[g] = top, bottom
    return violation


@inlined
def widest(tops: Float, bottoms: Float) -> float:
    """ψ(α) from the extremes of each group."""
    violation = 0.0
    for g in range(tops.size):
        violation = largest(violation, tops[g] - bottoms[g])
    return violation


@inlined
def locate(gradient: Float, penalty: Float, value: float) -> int:
    """First variable whose penalised gradient is `value`; or -1."""
    last = gradient.size - SPAN
    start = 0
    while start <= last:
        here, extra = gradient[start : start + SPAN], penalty[start : start + SPAN]
        found = False
        for s in range(SPAN):
            found |= here[s] + extra[s] == value
        if found:
            break
        start += SPAN
    for a in range(start, gradient.size):
        if gradient[a] + penalty[a] == value:
            return a
    return -1


@inlined
def locate_score(scores: Array, value: Any) -> int:
    """First variable of that score, the largest of all; or -1."""
    last = scores.size - SPAN
    start = 0
    while start <= last:
        here = scores[start : start + SPAN]
        top = here[0]
        for s in range(SPAN):
            top = largest(top, here[s])
        if top >= value:
            break
        start += SPAN
    for a in range(start, scores.size):
        if scores[a] == value:
            return a
    return -1


@inlined
def curvature(v: r.Variables, row: Array, i: int, j: int, samples: int) -> float:
    """Q_ii + Q_jj − 2 Q_ij, row being the Gram row of i."""
    result: float = v.diagonal[i] + v.diagonal[j] - 2.0 * row[j % samples]
    return result


@inlined
def clipped_gain(slope: float, bend: float, max_step: float) -> float:
    """Gain of the truncated Newton step along a direction of that slope and curvature."""
    step = min(slope / bend, max_step)
    return step * (slope - 0.5 * bend * step)


@inlined
def pair_slope(v: r.Variables, i: int, j: int) -> float:
    """Derivative of the dual along e_i − e_j; −∞ if one of the two cannot move."""
    g = v.group[i]
    result: float = (v.gradient[i] + v.rise[g, i]) - (v.gradient[j] + v.fall[g, j])
    return result


@inlined
def pair_gain(v: r.Variables, i: int, j: int, bend: float, floor: float, exact: bool) -> float:
    """Gain of moving i up and j down: of the truncated step, or of the free Newton step."""
    slope = pair_slope(v, i, j)
    if slope <= 0.0:
        return 0.0
    bend = max(bend, floor)
    if not exact:
        return 0.5 * slope * slope / bend
    max_step = min(v.upper[i] - v.alpha[i], v.alpha[j] - v.lower[j])
    return clipped_gain(slope, bend, max_step)


@inlined
def newton_scores(
    gradient: Float,
    fall: Float,
    diagonal: Float,
    row: Array,
    scores: Array,
    top: float,
    q_i: float,
    floor: float,
    slope_unit: float,
    bend_unit: float,
) -> Any:
    """Write twice the unclipped gain (4.7) of each variable with i, in float32 and the given units;
    returns the largest."""
    best, zero = np.float32(0.0), np.float32(0.0)
    for s in range(gradient.size):
        slope = largest(np.float32((top - (gradient[s] + fall[s])) * slope_unit), zero)
        bend = np.float32(largest(q_i + diagonal[s] - 2.0 * row[s], floor) * bend_unit)
        score = np.float32(slope * slope / bend)
        scores[s] = score
        best = largest(best, score)
    return best


@inlined
def exact_partner(
    v: r.Variables, row: Array, i: int, g: int, samples: int, floor: float
) -> tuple[int, float]:
    """j of the largest truncated gain with i moving up, and that gain."""
    best, partner = 0.0, -1
    for a in range(v.gradient.size):
        if a != i and v.fall[g, a] < np.inf:
            bend = curvature(v, row, i, a, samples)
            gain = pair_gain(v, i, a, bend, floor, True)
            if gain > best:
                best, partner = gain, a
    return partner, best


@inlined
def second_order(
    v: r.Variables,
    rows: r.RowStore,
    tops: Float,
    bottoms: Float,
    samples: int,
    control: r.Control,
    tol: float,
    exact: bool | None,
) -> Choice:
    """i of the largest gradient and j of the largest gain with it, over all groups: the gain of the
    unclipped step, or of the truncated one if `exact` is not None."""
    best, i, j = -1.0, -1, -1
    bend_unit = 1.0 / control.scale
    for g in range(tops.size):
        top, width = tops[g], tops[g] - bottoms[g]
        if width <= tol:
            continue
        first = locate(v.gradient, v.rise[g], top)
        slot = rows.slot[first % samples]
        if slot < 0:
            return first % samples, -1, -1
        row = rows.values[slot]
        if exact is None:
            q_i, fall, score = v.diagonal[first], v.fall[g], np.float32(0.0)
            for start in range(0, v.gradient.size, samples):
                stop = start + samples
                here = newton_scores(
                    v.gradient[start:stop],
                    fall[start:stop],
                    v.diagonal[start:stop],
                    row,
                    v.scores[start:stop],
                    top,
                    q_i,
                    control.floor,
                    1.0 / width,
                    bend_unit,
                )
                score = largest(score, here)
            gain = np.float64(score) * width * width
            second = (
                locate_score(v.scores, score)
                if gain > 0.0
                else locate(v.gradient, fall, bottoms[g])
            )
        else:
            second, gain = exact_partner(v, row, first, g, samples, control.floor)
        if second >= 0 and gain > best:
            best, i, j = gain, first, second
    return NO_ROW, i, j


@inlined
def most_violating(v: r.Variables, tops: Float, bottoms: Float) -> Choice:
    """The maximum violating pair (4.5)."""
    worst = 0
    for g in range(1, tops.size):
        if tops[g] - bottoms[g] > tops[worst] - bottoms[worst]:
            worst = g
    i = locate(v.gradient, v.rise[worst], tops[worst])
    return NO_ROW, i, locate(v.gradient, v.fall[worst], bottoms[worst])


@inlined
def related_gain(
    v: r.Variables, row: Array, fixed: int, samples: int, floor: float, best: float, i: int, j: int
) -> tuple[float, int, int]:
    """The best of (best, i, j) and all pairs that contain `fixed`."""
    g = v.group[fixed]
    max_up = v.upper[fixed] - v.alpha[fixed]
    max_down = v.alpha[fixed] - v.lower[fixed]
    up, down = v.gradient[fixed] + v.rise[g, fixed], v.gradient[fixed] + v.fall[g, fixed]
    for a in range(v.gradient.size):
        if a == fixed:
            continue  # rounding may give a nonzero slope in compiled code
        slope = up - (v.gradient[a] + v.fall[g, a])
        rising = slope > 0.0
        if rising:
            max_step = min(max_up, v.alpha[a] - v.lower[a])
        else:
            slope = (v.gradient[a] + v.rise[g, a]) - down
            max_step = min(max_down, v.upper[a] - v.alpha[a])
            if slope <= 0.0:
                continue
        bend = max(curvature(v, row, fixed, a, samples), floor)
        gain = clipped_gain(slope, bend, max_step)
        if gain > best:
            best = gain
            if rising:
                i, j = fixed, a
            else:
                i, j = a, fixed
    return best, i, j


@inlined
def max_gain(
    v: r.Variables, rows: r.RowStore, memory: r.Memory, samples: int, floor: float
) -> Choice:
    """The largest gain among the pairs related to the previous one (6.1.2)."""
    # The literal -1 has another Numba type, for which the callee would be compiled again.
    nobody: Any = np.int64(-1)
    best, i, j = 0.0, nobody, nobody
    for k in range(2):
        fixed = memory.recent[0, k]
        slot = rows.slot[fixed % samples]
        if slot < 0:
            return fixed % samples, -1, -1
        best, i, j = related_gain(v, rows.values[slot], fixed, samples, floor, best, i, j)
    return NO_ROW, i, j


@inlined
def is_free(v: r.Variables, a: int) -> bool:
    """Whether variable a may move up and down, with the same gradient for both."""
    g = v.group[a]
    result: bool = v.rise[g, a] == v.fall[g, a]
    return result


@inlined
def well_inside(v: r.Variables, a: int) -> bool:
    """Whether variable a is at least the distance of Algorithm 6.1 away from both bounds."""
    if not is_free(v, a):
        return False
    width = v.upper[a] - v.lower[a]
    margin = HYBRID_ETA * width if np.isfinite(width) else 0.0
    result: bool = v.lower[a] + margin <= v.alpha[a] <= v.upper[a] - margin
    return result


@inlined
def greedy(v: r.Variables, rows: r.RowStore, samples: int, floor: float) -> Choice:
    """The largest gain of all pairs (6.1.1); needs the whole matrix."""
    nobody: Any = np.int64(-1)
    best, i, j = 0.0, nobody, nobody
    for a in range(v.gradient.size):
        row = rows.values[rows.slot[a % samples]]
        best, i, j = related_gain(v, row, a, samples, floor, best, i, j)
    return NO_ROW, i, j


@inlined
def violates(v: r.Variables, a: int, threshold: float, slack: float) -> bool:
    """Whether variable a violates its KKT condition at this threshold by more than the slack."""
    g, excess = v.group[a], v.gradient[a] - threshold
    result: bool = excess + v.rise[g, a] > slack or excess + v.fall[g, a] < -slack
    return result


@inlined
def platt(v: r.Variables, tops: Float, bottoms: Float, tol: float, memory: r.Memory) -> Choice:
    """Sweeps over all variables, then over the free ones while that finds violators; the
    partner is the one whose error differs most."""
    state = memory.state[0]
    for _ in range(4):
        for a in range(state.cursor, v.gradient.size):
            if state.sweep_all == 0 and not is_free(v, a):
                continue
            g = v.group[a]
            middle = 0.5 * (tops[g] + bottoms[g])
            if tops[g] - bottoms[g] > tol and violates(v, a, middle, 0.5 * tol):
                state.cursor = a + 1
                state.sweep_found = 1
                if v.gradient[a] + v.rise[g, a] > middle:
                    return NO_ROW, a, locate(v.gradient, v.fall[g], bottoms[g])
                return NO_ROW, locate(v.gradient, v.rise[g], tops[g]), a
        if state.sweep_all == 1:
            state.sweep_all = 0
        elif state.sweep_found == 0:
            state.sweep_all = 1
        state.cursor = state.sweep_found = 0
    return most_violating(v, tops, bottoms)


@inlined
def next_random(memory: r.Memory) -> int:
    """A linear congruential generator of 31 bits, its state kept between slabs."""
    state = memory.state[0]
    drawn = (state.random_state * 1103515245 + 12345) % 2147483648
    state.random_state = drawn
    result: int = drawn // 8
    return result


@inlined
def random_pair(
    v: r.Variables, tops: Float, bottoms: Float, tol: float, memory: r.Memory
) -> Choice:
    """A random variable that has a partner, and a random partner of it."""
    size = v.gradient.size
    start = next_random(memory) % size
    for k in range(size):
        i = (start + k) % size
        g = v.group[i]
        if v.gradient[i] + v.rise[g, i] - bottoms[g] <= tol:
            continue
        other = next_random(memory) % size
        for n in range(size):
            j = (other + n) % size
            if pair_slope(v, i, j) > tol:
                return NO_ROW, i, j
    return most_violating(v, tops, bottoms)


@inlined
def select(
    v: r.Variables,
    rows: r.RowStore,
    tops: Float,
    bottoms: Float,
    samples: int,
    control: r.Control,
    tol: float,
    memory: r.Memory,
) -> Choice:
    """The pair of the policy in force."""
    policy = control.selection
    floor = control.floor
    if memory.state[0].recent > 0 and policy in (r.MAX_GAIN, r.HYBRID_MAX_GAIN):
        previous_i, previous_j = memory.recent[0]
        g = v.group[previous_i]
        share = (tops[g] - bottoms[g]) / widest(tops, bottoms)
        if policy == r.MAX_GAIN:
            if tops[g] - bottoms[g] <= tol:
                return NO_ROW, -1, -1
            return max_gain(v, rows, memory, samples, floor)
        inside = well_inside(v, previous_i) or well_inside(v, previous_j)
        # Related pairs stay in one group, until its share of the violation falls below this.
        if inside and share > 0.5:
            missing, i, j = max_gain(v, rows, memory, samples, floor)
            if i >= 0 or missing >= 0:
                return missing, i, j
    if policy == r.MVP:
        return most_violating(v, tops, bottoms)
    if policy == r.GREEDY:
        return greedy(v, rows, samples, floor)
    if policy == r.PLATT:
        return platt(v, tops, bottoms, tol, memory)
    if policy == r.RANDOM:
        return random_pair(v, tops, bottoms, tol, memory)
    return second_order(v, rows, tops, bottoms, samples, control, tol, None)
