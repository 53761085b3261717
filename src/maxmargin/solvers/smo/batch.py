"""A batch of small problems solved in one compiled call, one after the other.

A pair of classes with a hundred samples is solved in less time than Python takes to set it up.
"""

from __future__ import annotations

import numpy as np

from ...dual.problem import Float, Int
from ...kernels.base import Array
from ...kernels.row_sums import sum_rows
from ...runtime.jit import called, compiled, inlined
from ..drivers.working_set import begin
from ..rows.on_demand import compute_row
from . import state as r
from .loop import forget_pairs
from .schedule import run_to_end


@compiled
def run_batch(
    batch: r.Batch, buffer: Float, control: r.Control, max_steps: int, memory: r.Memory
) -> None:
    """Solve all problems of a batch, each from its α; `buffer` is memory for rows."""
    for k in range(batch.parts.ends.size):
        v, rows, size, told = begin_problem(batch, k, buffer, control, memory)
        event, _, _ = run_to_end(v, rows, size, told, max_steps, memory, None)
        end_problem(batch, k, v, rows, memory, event)


@called
def begin_problem(
    batch: r.Batch, k: int, buffer: Float, control: r.Control, memory: r.Memory
) -> tuple[r.Variables, r.RowStore, int, r.Control]:
    """Variables of problem k at the α and Kα of the batch, its rows (in `buffer`), its size, and
    the control record of the loop."""
    parts = batch.parts
    start, stop = parts.ends[k - 1] if k else 0, parts.ends[k]
    places, size = parts.places[start:stop], stop - start
    source, among, scale = parts.matrix, places, 0.0
    diagonal = np.ones(size)
    if parts.points.size:
        source, among = columns_of(parts.points, places), places[:0]
        scale = 1.0
    else:
        for s in range(size):
            diagonal[s] = source[places[s], places[s]]
            scale = max(scale, abs(diagonal[s]))
    lower, upper = parts.lower[start:stop].copy(), parts.upper[start:stop].copy()
    alpha, ridge = batch.alpha[start:stop].copy(), parts.ridge[start:stop].copy()
    gradient, sums, dual = parts.linear[start:stop].copy(), batch.sums[start:stop], 0.0
    for a in range(size):
        gradient[a] -= sums[a] + ridge[a] * alpha[a]
    for a in range(size):
        dual += 0.5 * alpha[a] * (parts.linear[start + a] + gradient[a])
    v = r.Variables(
        alpha,
        gradient,
        lower,
        upper,
        ridge,
        diagonal,
        np.zeros(size, np.int64),
        np.empty((1, size)),
        np.empty((1, size)),
        np.empty(size, np.float32),
        np.zeros(size),
        lower,
        upper,
    )
    begin(v)
    slot, count = np.full(size, -1, np.int64), np.empty(2, np.int64)
    count[0] = 0
    if is_all_of(source, among):
        values, count[1] = source, 0
        for s in range(size):
            slot[s] = s
    else:
        values, count[1] = buffer.reshape(-1)[: size * size].reshape((size, size)), size
    store = r.RowStore(values, slot, np.zeros(size, np.int64), source, among, count)
    for s in range(size):
        if alpha[s] != 0.0 and slot[s] < 0:
            compute_row(store, s)
    clear(memory)
    memory.state[0].dual = dual
    scale = scale if scale > 0.0 else 1.0
    told = r.Control(
        control.selection,
        control.planning,
        control.overstep,
        control.tol,
        scale,
        control.floor / control.scale * scale,
        control.target,
        control.faces,
        control.ending,
        control.potrf,
    )
    return v, store, size, told


@inlined
def is_all_of(matrix: Array, places: Int) -> bool:
    """Whether these places are all samples of the matrix, in their order."""
    same = matrix.shape[0] == places.size
    for s in range(places.size):
        same = same and places[s] == s
    result: bool = same
    return result


@inlined
def clear(memory: r.Memory) -> None:
    """Reset state and counters to those before the first step."""
    state, counters = memory.state[0], memory.counters[0]
    state.sweep_all, state.sweep_found, state.random_state, state.traced_from = 1, 0, 0, 0
    state.ratio = state.dual = state.spent = state.since_face = 0.0
    state.free_share = state.violation = state.polish_until = 0.0
    state.patience = 1.0
    counters.steps = counters.free_steps = counters.planned_steps = 0
    counters.negative_steps = counters.face_rounds = 0
    forget_pairs(memory)


@called
def columns_of(points: Array, places: Int) -> Array:
    """A copy of some columns."""
    some = np.empty((points.shape[0], places.size), points.dtype)
    for k in range(points.shape[0]):
        row, whole = some[k], points[k]
        for s in range(places.size):
            row[s] = whole[places[s]]
    return some


@called
def end_problem(
    batch: r.Batch, k: int, v: r.Variables, rows: r.RowStore, memory: r.Memory, event: int
) -> None:
    """Write the result of a problem to the ledger and recompute its sums Kα."""
    start, stop = batch.parts.ends[k - 1] if k else 0, batch.parts.ends[k]
    counters, ledger = memory.counters[0], batch.ledger[k]
    alpha, sums = batch.alpha[start:stop], batch.sums[start:stop]
    slots, weights, present = np.empty(alpha.size, np.int64), np.empty(alpha.size), 0
    for a in range(alpha.size):
        alpha[a], sums[a] = v.alpha[a], 0.0
        if alpha[a] != 0.0:
            slots[present], weights[present] = rows.slot[a], alpha[a]
            present += 1
    sum_rows(sums, rows.values, slots[:present], weights[:present], 0, sums.size)
    ledger[r.ENDED], ledger[r.STEPS] = event, counters.steps
    ledger[r.ROUNDS], ledger[r.BENT] = counters.face_rounds, counters.negative_steps
    ledger[r.ROWS] = rows.count[0]
