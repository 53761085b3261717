"""Records shared by Python and the compiled loop."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dual.batch import Parts
from ...dual.problem import Float, Int
from ...kernels.base import Array

# Events: why the compiled loop returned.
CONVERGED, STEPS_DONE, ROW_MISSING, STUCK, UNBOUNDED, TARGET_REACHED, FACE_DUE = range(7)

# Selection policies.
SECOND_ORDER, MVP, MAX_GAIN, HYBRID_MAX_GAIN, GREEDY, PLATT, RANDOM = range(7)
SELECTIONS = {
    "second_order": SECOND_ORDER,
    "mvp": MVP,
    "max_gain": MAX_GAIN,
    "hybrid_max_gain": HYBRID_MAX_GAIN,
    "greedy": GREEDY,
    "platt": PLATT,
    "random": RANDOM,
}

# When face steps are taken: never, when free steps dominate, or after every few steps.
NO_FACES, FACES, POLISHING = range(3)

# What follows convergence: nothing, or polishing.
RETURN, POLISH = range(2)

# Kinds of step, as the trace records them.
FREE, CLIPPED, PLANNED, FACE = range(4)
STEP_KINDS = ("free", "clipped", "planned", "face")


def fields(annotations: dict[str, str]) -> list[tuple[str, Any]]:
    """List the fields of a structure as its annotations declare them."""
    kinds = {"int": ctypes.c_int64, "float": ctypes.c_double}
    return [(name, kinds[kind]) for name, kind in annotations.items()]


class State(ctypes.Structure):
    """What the loop needs from slab to slab.

    Compiled code sees `State` and `Counters` as NumPy records, whose fields Numba resolves when it
    compiles. Python reads and writes the same memory as ctypes structures, because a field of a
    NumPy record takes 3 µs.
    """

    pending_i: int  # pair selected before a missing row was reported, or -1
    pending_j: int
    recent: int  # number of recent pairs stored
    last_kind: int  # kind of the previous step
    cursor: int  # position of Platt's sweep
    sweep_all: int  # whether Platt's sweep is over all variables
    sweep_found: int  # whether the sweep has found a violator
    random_state: int
    traced_from: int  # the step that the trace begins with
    ratio: float  # of the previous step to its Newton step
    dual: float
    spent: float  # cost of all steps
    since_face: float  # cost of the pair steps since the last face step
    patience: float  # pair steps cost this multiple of a face step before the next one
    free_share: float  # fraction of unclipped steps in the last slab
    violation: float
    polish_until: float  # the cost at which polishing ends; 0 before it begins
    _fields_ = fields(__annotations__)


class Counters(ctypes.Structure):
    """What people read about a run."""

    steps: int  # also the time stamp of row use
    free_steps: int  # unclipped steps, planned ones included
    planned_steps: int
    negative_steps: int  # along directions of negative curvature
    face_rounds: int
    _fields_ = fields(__annotations__)


# Their NumPy types. As `np.record` they have attributes in Python too, for runs without compiler.
STATE = np.dtype((np.record, np.dtype(State)))
COUNTERS = np.dtype((np.record, np.dtype(Counters)))


class Variables(NamedTuple):
    """The variables of a loop, as arrays.

    `rise` and `fall` have one row per group: 0 where the variable belongs to the group and may rise
    (fall), else −∞ (+∞), so that extrema need no branches.

    A variable with a kink κ > 0 has the cost κ|α|: it stands for the two variables of one sample.
    Its gradient is κ less for α > 0 and κ more for α < 0, which `rise` and `fall` hold instead of
    0, and its bounds are those of its current side, so that steps end at 0.
    """

    alpha: Float
    gradient: Float
    lower: Float
    upper: Float
    ridge: Float
    diagonal: Float  # of Q, ridge included
    group: Int
    rise: Float
    fall: Float
    scores: NDArray[np.float32]  # float32 scratch
    kink: Float
    lowest: Float  # the lower bound of both sides together
    highest: Float


class RowStore(NamedTuple):
    """Gram rows in memory: row of sample s is ``values[slot[s]]``, absent where slot is -1.

    The loop computes absent rows itself if there is a source: the points of a Gaussian, one column
    each, or a Gram matrix of more samples, in which `places` are the rows of these.
    """

    values: Array
    slot: Int
    used: Int  # time stamp of last use, per slot
    source: Array  # empty if there is none
    places: Int
    # Number of rows computed from the source, and its current limit; hides `tuple.count`.
    count: Int  # type: ignore[assignment]


class Control(NamedTuple):
    """Settings of the loop."""

    selection: int
    planning: int  # number of recent pairs planned with; 0 takes Newton steps
    overstep: float  # factor on the Newton step
    tol: float
    scale: float  # largest diagonal entry of K: the unit of curvature
    floor: float  # smaller curvatures are treated as rounding
    target: float  # dual value that ends the run
    faces: int  # when to take face steps
    ending: int  # what follows convergence
    potrf: int  # the address of LAPACK's function


class Memory(NamedTuple):
    """State of the loop that persists between slabs."""

    state: NDArray[Any]  # one `State`
    counters: NDArray[Any]  # one `Counters`
    recent: Int  # (N + 1, 2) most recent pairs, newest first
    recent_bend: Float  # (N + 1,) curvature along each of them
    tops: Float  # largest gradient that may rise, per group
    bottoms: Float  # smallest gradient that may fall, per group
    numbers: Float  # scratch memory of small face steps
    indices: Int


# Columns of the ledger of a batch: event, steps, rounds of face steps, steps of negative curvature,
# rows.
ENDED, STEPS, ROUNDS, BENT, ROWS, LEDGER = range(6)


class Batch(NamedTuple):
    """Small problems solved in one call, and their results."""

    parts: Parts
    alpha: Float  # the solutions, one after the other
    sums: Float  # Kα
    ledger: Float  # one row per problem


class StepTrace(NamedTuple):
    """One entry per step; empty arrays if there is no trace."""

    violation: Float
    gain: Float
    kind: Int
    ratio: Float
    pair: Int  # the variables that rose and fell, as the loop numbers them
    after: Float  # their α after the step
