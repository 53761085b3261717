"""A batch of small problems in one call of the loop: where one ends, the next begins.

A pair of classes with a hundred samples is solved in less time than Python takes to pose it.
"""

import numpy as np

from ..compiled import called
from . import records as r
from .active import EPSILON, begin, rounding_of
from .smo import forget_pairs


@called
def begin_problem(batch, k, room, control, memory):
    """The variables of a problem at α = 0, its rows, for which there is some room, its size, and
    what the loop is told."""
    parts = batch.parts
    start, stop = parts.ends[k - 1] if k else 0, parts.ends[k]
    places, size = parts.places[start:stop], stop - start
    diagonal, scale = np.empty(size), 0.0
    for s in range(size):
        diagonal[s] = parts.matrix[places[s], places[s]]
        scale = max(scale, abs(diagonal[s]))
    lower, upper = parts.lower[start:stop].copy(), parts.upper[start:stop].copy()
    v = r.Variables(
        np.zeros(size),
        parts.linear[start:stop].copy(),
        lower,
        upper,
        parts.ridge[start:stop].copy(),
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
    values = room.reshape(-1)[: size * size].reshape((size, size))
    count = np.empty(2, np.int64)
    count[0], count[1] = 0, size
    slot = np.full(size, -1, np.int64)
    store = r.RowStore(values, slot, np.zeros(size, np.int64), parts.matrix, places, count)
    clear(memory)
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
    )
    return v, store, size, told


@called
def clear(memory):
    """Forget everything but the address of LAPACK's function."""
    integers, reals = memory.integers, memory.reals
    potrf = integers[r.POTRF]
    for i in range(integers.size):
        integers[i] = 0
    for i in range(reals.size):
        reals[i] = 0.0
    integers[r.POTRF], integers[r.SWEEP_ALL], reals[r.PATIENCE] = potrf, 1, 1.0
    forget_pairs(integers)


@called
def end_problem(batch, k, v, rows, control, memory, event):
    """Write down what became of a problem."""
    start = batch.parts.ends[k - 1] if k else 0
    integers, ledger, value = memory.integers, batch.ledger[k], 0.0
    for a in range(v.alpha.size):
        batch.alpha[start + a], batch.gradient[start + a] = v.alpha[a], v.gradient[a]
        value += v.alpha[a] * (batch.parts.linear[start + a] + v.gradient[a])
    updates = integers[r.CLOCK] + integers[r.FACE_ROUNDS]
    ledger[r.ENDED], ledger[r.STEPS] = event, integers[r.CLOCK]
    ledger[r.ROUNDS], ledger[r.BENT] = integers[r.FACE_ROUNDS], integers[r.NEGATIVE]
    ledger[r.ROWS], ledger[r.VALUE] = rows.count[0], 0.5 * value
    ledger[r.DRIFT] = updates * EPSILON * rounding_of(v.alpha, v.gradient, control.scale)
