"""Records shared by Python and the compiled loop."""

from __future__ import annotations

from typing import NamedTuple

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

# Slots of the integer memory that outlives a slab.
(
    CLOCK,  # number of steps so far; also the time stamp of row use
    PENDING_I,  # pair selected before a missing row was reported, or -1
    PENDING_J,
    RECENT,  # number of recent pairs stored
    LAST_KIND,  # kind of the previous step
    CURSOR,  # position of Platt's sweep
    SWEEP_ALL,  # whether Platt's sweep is over all variables
    SWEEP_FOUND,  # whether the sweep has found a violator
    RANDOM_STATE,
    FREE_STEPS,  # unclipped steps, planned ones included
    PLANNED_STEPS,
    NEGATIVE,  # steps along directions of negative curvature
    FACE_ROUNDS,
    POTRF,  # the address of LAPACK's function
    TRACED_FROM,  # the step that the trace begins with
    INTEGERS,
) = range(16)

# Slots of the real memory.
(
    RATIO,
    DUAL,
    SPENT,  # cost of all steps
    SINCE_FACE,  # cost of the pair steps since the last face step
    PATIENCE,  # pair steps cost this multiple of a face step before the next one
    FREE_SHARE,  # fraction of unclipped steps in the last slab
    VIOLATION,
    POLISH_UNTIL,  # the cost at which polishing ends; 0 before it begins
    REALS,
) = range(9)


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


class Memory(NamedTuple):
    """State of the loop that persists between slabs."""

    integers: Int
    reals: Float
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
