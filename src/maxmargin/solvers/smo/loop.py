"""The compiled loop of sequential minimal optimisation, run a slab of steps at a time.

    until ψ(α) ≤ tol:   select a pair (i, j)
                        μ ← step along e_i − e_j
                        α ← α + μ(e_i − e_j),   G ← G − μQ(e_i − e_j)

The loop owns no memory and knows nothing of time, caches or people: it returns an event
(`records`) and is called again.
"""

import numpy as np

from ...runtime.jit import borrowing, inlined
from ..rows.on_demand import arrives
from . import state as r
from .selection import curvature, extremes, pair_slope, second_order, select, widest
from .step import PLANNING_ETA, better_recent_pair, move_pair, planned_step, update_gradient

NOTHING = -1


@inlined
def choose_pair(v, rows, tops, bottoms, samples, control, memory, special):
    """(missing row, i, j) by selection."""
    integers = memory.integers
    i, j = integers[r.PENDING_I], integers[r.PENDING_J]
    if special is None:
        missing = NOTHING
        if i < 0:
            missing, i, j = second_order(v, rows, tops, bottoms, samples, control, None)
    else:
        missing, i, j = choose_specially(v, rows, tops, bottoms, samples, control, memory, i, j)
    if missing >= 0 or i < 0:
        return missing, -1, -1
    integers[r.PENDING_I], integers[r.PENDING_J] = i, j
    missing = NOTHING
    for a in (j, i):
        slot = rows.slot[a % samples]
        if slot < 0:
            missing = a % samples
        else:
            rows.used[slot] = integers[r.CLOCK]
    return missing, i, j


@inlined
def choose_specially(v, rows, tops, bottoms, samples, control, memory, i, j):
    """The same by any policy, unless there is a pair; after a planned step as modified by
    Algorithm 7.2."""
    after_planning = memory.integers[r.LAST_KIND] == r.PLANNED
    exact = after_planning and abs(memory.reals[r.RATIO] - 1.0) > PLANNING_ETA
    missing = NOTHING
    if i < 0:
        if exact and control.selection == r.SECOND_ORDER:
            missing, i, j = second_order(v, rows, tops, bottoms, samples, control, exact)
        else:
            missing, i, j = select(v, rows, tops, bottoms, samples, control, memory)
    if after_planning and missing < 0 and i >= 0:
        slot = rows.slot[i % samples]
        if slot >= 0:
            row = rows.values[slot]
            i, j = better_recent_pair(v, row, i, j, samples, control, memory, exact)
    return missing, i, j


@borrowing
def forget_pairs(integers):
    """What was chosen or planned before something else moved the variables."""
    integers[r.PENDING_I] = integers[r.PENDING_J] = -1
    integers[r.RECENT] = integers[r.CURSOR] = 0
    integers[r.LAST_KIND] = r.CLIPPED


@inlined
def remember(memory, i, j, bend, kind, ratio):
    recent, integers = memory.recent, memory.integers
    for n in range(recent.shape[0] - 1, 0, -1):
        recent[n, 0], recent[n, 1] = recent[n - 1, 0], recent[n - 1, 1]
        memory.recent_bend[n] = memory.recent_bend[n - 1]
    recent[0, 0], recent[0, 1] = i, j
    memory.recent_bend[0] = bend
    integers[r.PENDING_I] = integers[r.PENDING_J] = -1
    integers[r.CLOCK] += 1
    integers[r.RECENT] = min(integers[r.RECENT] + 1, recent.shape[0])
    integers[r.LAST_KIND] = kind
    integers[r.FREE_STEPS] += kind != r.CLIPPED
    integers[r.PLANNED_STEPS] += kind == r.PLANNED
    memory.reals[r.RATIO] = ratio


@inlined
def step_size(v, row_i, row_j, i, j, slope, bend, samples, control, memory, special):
    """(kind, step) along the pair; an infinite step means that the dual is unbounded."""
    room = min(v.upper[i] - v.alpha[i], v.alpha[j] - v.lower[j])
    if bend <= control.floor:
        if bend < -1e3 * control.floor:
            memory.integers[r.NEGATIVE] += 1
            return r.CLIPPED, room
        # What the kernel has of curvature here is rounding; the ridge is exact.
        bend = v.ridge[i] + v.ridge[j]
        if bend == 0.0:
            return r.CLIPPED, room
    if special is not None and control.planning > 0 and memory.integers[r.LAST_KIND] == r.FREE:
        found, step = planned_step(v, row_i, row_j, i, j, slope, bend, samples, control, memory)
        if found:
            return r.PLANNED, step
    step = control.overstep * slope / bend
    if step >= room:
        return r.CLIPPED, room
    return r.FREE, step


@inlined
def run_slab(v, rows, samples, control, max_steps, memory, trace, traced_from, special):
    """Up to ``max_steps`` steps; returns (event, sample asked for, violation).

    The trace begins with the step `traced_from`.
    Where nothing is `special` (None), pairs are selected by second order and take Newton steps, and
    no more than that is compiled.
    """
    tops, bottoms = memory.tops, memory.bottoms
    for g in range(tops.size):
        tops[g], bottoms[g] = extremes(v, g)
    violation = widest(tops, bottoms)
    for _ in range(max_steps):
        if violation <= control.tol:
            return r.CONVERGED, NOTHING, violation
        while True:
            missing, i, j = choose_pair(v, rows, tops, bottoms, samples, control, memory, special)
            if missing < 0 or not arrives(rows, missing):
                break
        if missing >= 0:
            return r.ROW_MISSING, missing, violation
        if i < 0:
            return r.STUCK, NOTHING, violation

        row_i = rows.values[rows.slot[i % samples]]
        row_j = rows.values[rows.slot[j % samples]]
        slope = pair_slope(v, i, j)
        bend = curvature(v, row_i, i, j, samples)
        kind, step = step_size(
            v, row_i, row_j, i, j, slope, bend, samples, control, memory, special
        )
        if np.isinf(step):
            return r.UNBOUNDED, NOTHING, violation
        gain = step * (slope - 0.5 * bend * step)
        ratio = step * max(bend, control.floor) / slope
        if trace.kind.size:
            k = memory.integers[r.CLOCK] - traced_from
            trace.violation[k], trace.gain[k] = violation, gain
            trace.kind[k], trace.ratio[k] = kind, ratio

        move_pair(v, i, j, step)
        update_gradient(v, row_i, row_j, i, j, step, samples, tops, bottoms)
        remember(memory, i, j, bend, kind, ratio)
        violation = widest(tops, bottoms)
        memory.reals[r.DUAL] += gain
        if memory.reals[r.DUAL] >= control.target:
            return r.TARGET_REACHED, NOTHING, violation
    return r.STEPS_DONE, NOTHING, violation
