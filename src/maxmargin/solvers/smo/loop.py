"""The compiled loop of sequential minimal optimisation, run a slab of steps at a time.

    until ψ(α) ≤ tol:   select a pair (i, j)
                        μ ← step along e_i − e_j
                        α ← α + μ(e_i − e_j),   G ← G − μQ(e_i − e_j)

The loop allocates nothing and knows nothing of clocks, caches or callbacks: it returns an event
(see `state`) and is called again.

With `special` None, pairs are selected by second order and take Newton steps, and nothing else is
compiled. Otherwise `special` is the trace, which may be empty.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64
from numba.types import Tuple

from ...dual.problem import Float
from ...runtime.jit import called_by_symbol, from_python, inlined, smallest
from ..rows.on_demand import compute_row
from . import state as r
from .selection import Choice, curvature, find_extremes, pair_slope, second_order, select
from .step import PLANNING_ETA, better_recent_pair, move_pair, planned_step, update_gradient

NOTHING = -1


@inlined
def choose_specially(
    v: r.Variables,
    rows: r.RowStore,
    tops: Float,
    bottoms: Float,
    samples: int,
    control: r.Control,
    tol: float,
    memory: r.Memory,
) -> Choice:
    """(missing row, i, j): the pending pair if there is one, else by the policy in force, modified
    by Algorithm 7.2 after a planned step."""
    state = memory.state[0]
    i, j = state.pending_i, state.pending_j
    after_planning = state.last_kind == r.PLANNED
    exact = after_planning and abs(state.ratio - 1.0) > PLANNING_ETA
    missing = NOTHING
    if i < 0:
        if exact and control.selection == r.SECOND_ORDER:
            missing, i, j = second_order(v, rows, tops, bottoms, samples, control, tol, exact)
        else:
            missing, i, j = select(v, rows, tops, bottoms, samples, control, tol, memory)
    if after_planning and missing < 0 and i >= 0:
        slot = rows.slot[i % samples]
        if slot >= 0:
            row = rows.values[slot]
            i, j = better_recent_pair(v, row, i, j, samples, control, memory, exact)
    if missing < 0:
        # Policies with a state must not be called twice for one step.
        state.pending_i, state.pending_j = i, j
    return missing, i, j


@inlined
def forget_pairs(memory: r.Memory) -> None:
    """Discard pending and planned pairs after something else has moved the variables."""
    state = memory.state[0]
    state.pending_i = state.pending_j = -1
    state.recent = state.cursor = 0
    state.last_kind = r.CLIPPED


forget = from_python(forget_pairs)


@inlined
def remember_pair(memory: r.Memory, i: int, j: int, bend: float, kind: int, ratio: float) -> None:
    """Record a step for policies and planning that use recent pairs."""
    recent = memory.recent
    state, counters = memory.state[0], memory.counters[0]
    for n in range(recent.shape[0] - 1, 0, -1):
        recent[n, 0], recent[n, 1] = recent[n - 1, 0], recent[n - 1, 1]
        memory.recent_bend[n] = memory.recent_bend[n - 1]
    recent[0, 0], recent[0, 1] = i, j
    memory.recent_bend[0] = bend
    state.pending_i = state.pending_j = -1
    state.recent = min(state.recent + 1, recent.shape[0])
    counters.planned_steps += kind == r.PLANNED
    state.ratio = ratio


@called_by_symbol(Tuple((int64, int64, float64)))
def run_slab(
    v: r.Variables,
    rows: r.RowStore,
    samples: int,
    control: r.Control,
    tol: float,
    max_steps: int,
    memory: r.Memory,
    special: r.StepTrace | None,
) -> tuple[int, int, float]:
    """Up to ``max_steps`` steps, until the violation is at most `tol`; returns (event, sample whose
    row is missing, violation)."""
    tops, bottoms = memory.tops, memory.bottoms
    state, counters = memory.state[0], memory.counters[0]
    violation = find_extremes(v.gradient, v.rise, v.fall, tops, bottoms)
    for _ in range(max_steps):
        if violation <= tol:
            return r.CONVERGED, NOTHING, violation
        missing, i, j, slot_i, slot_j = NOTHING, -1, -1, 0, 0
        while True:  # until all rows are present, or one cannot be computed here
            if i >= 0:
                missing = NOTHING
            elif special is None:
                missing, i, j = second_order(v, rows, tops, bottoms, samples, control, tol, None)
            else:
                missing, i, j = choose_specially(
                    v, rows, tops, bottoms, samples, control, tol, memory
                )
            if i >= 0:
                slot_i, slot_j = rows.slot[i % samples], rows.slot[j % samples]
                if slot_i < 0 or slot_j < 0:
                    missing = (i if slot_i < 0 else j) % samples
            if missing < 0 or not compute_row(rows, missing):
                break
        if missing >= 0:
            return r.ROW_MISSING, missing, violation
        if i < 0:
            return r.STUCK, NOTHING, violation
        clock = counters.steps
        rows.used[slot_i] = rows.used[slot_j] = clock
        row_i, row_j = rows.values[slot_i], rows.values[slot_j]

        slope, bend = pair_slope(v, i, j), curvature(v, row_i, i, j, samples)
        max_step = smallest(v.upper[i] - v.alpha[i], v.alpha[j] - v.lower[j])
        kind, step, believed = r.CLIPPED, max_step, bend
        if bend <= control.floor:
            # The curvature of the kernel is only rounding here; the ridge is exact.
            believed = v.ridge[i] + v.ridge[j]
        if bend < -1e3 * control.floor:
            counters.negative_steps += 1
        elif believed > 0.0:
            newton = control.overstep * slope / believed
            if newton < max_step:
                kind, step = r.FREE, newton
            if special is not None and control.planning and state.last_kind == r.FREE:
                found, planned = planned_step(
                    v, row_i, row_j, i, j, slope, believed, samples, control, memory
                )
                if found:
                    kind, step = r.PLANNED, planned
        if step == np.inf:
            return r.UNBOUNDED, NOTHING, violation
        gain = step * (slope - 0.5 * bend * step)
        if special is not None:
            ratio = step * max(bend, control.floor) / slope
            if special.kind.size:
                k = clock - state.traced_from
                special.violation[k], special.gain[k] = violation, gain
                special.kind[k], special.ratio[k] = kind, ratio
                special.pair[k, 0], special.pair[k, 1] = i, j
            remember_pair(memory, i, j, bend, kind, ratio)

        move_pair(v, i, j, step)
        if special is not None and special.kind.size:
            k = clock - state.traced_from
            special.after[k, 0], special.after[k, 1] = v.alpha[i], v.alpha[j]
        violation = update_gradient(v, row_i, row_j, i, j, step, samples, tops, bottoms)
        counters.steps = clock + 1
        state.last_kind = kind
        counters.free_steps += kind != r.CLIPPED
        state.dual += gain
        if state.dual >= control.target:
            return r.TARGET_REACHED, NOTHING, violation
    return r.STEPS_DONE, NOTHING, violation
