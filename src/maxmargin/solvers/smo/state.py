"""The plain records that travel between Python and the compiled loop."""

from typing import NamedTuple

import numpy as np

from ...dual.batch import Parts

# Events: why the compiled loop came back.
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

# When face steps are taken: never, where free steps dominate, or after every few steps.
NO_FACES, FACES, POLISHING = range(3)

# What follows convergence: nothing, or polishing.
RETURN, POLISH = range(2)

# Kinds of step, as the trace records them.
FREE, CLIPPED, PLANNED, FACE = range(4)
STEP_KINDS = ("free", "clipped", "planned", "face")

# Slots of the integer memory that outlives a slab.
(
    CLOCK,  # steps taken so far; also the time stamp of row use
    PENDING_I,  # a pair chosen before a row went missing, or -1
    PENDING_J,
    RECENT,  # how many recent pairs are known
    LAST_KIND,  # kind of the previous step
    CURSOR,  # where Platt's sweep stands
    SWEEP_ALL,  # whether Platt's sweep is over all variables
    SWEEP_FOUND,  # whether it has found a violator
    RANDOM_STATE,
    FREE_STEPS,  # planned ones included
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
    PATIENCE,  # cost of pair steps, in face steps, before the next face step
    FREE_SHARE,  # of the last pair steps
    VIOLATION,
    POLISH_UNTIL,  # the cost at which polishing ends; 0 before it begins
    REALS,
) = range(9)


class Variables(NamedTuple):
    """The variables a loop works on, and what it knows of each.

    `rise` and `fall` have a row a group: 0 where the variable belongs to the group and may rise
    (fall), else −∞ (+∞), so that extrema are taken without branches.

    A variable with a kink κ > 0 pays κ|α|: two variables of one sample, folded into one. Its
    gradient is κ less for α > 0 and κ more for α < 0, which `rise` and `fall` say instead of 0, and
    its bounds are those of the side it is on, so that steps end at 0.
    """

    alpha: np.ndarray
    gradient: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ridge: np.ndarray
    diagonal: np.ndarray  # of Q, ridge included
    group: np.ndarray
    rise: np.ndarray
    fall: np.ndarray
    scores: np.ndarray  # float32 scratch
    kink: np.ndarray
    lowest: np.ndarray  # the lower bound of both sides together
    highest: np.ndarray


class RowStore(NamedTuple):
    """Gram rows in memory: row of sample s is ``values[slot[s]]``, absent where slot is -1.

    Absent rows the loop makes itself where it has a source: of a Gaussian, the points it is about,
    a column each; else a Gram matrix of more samples, among which these have their `places`.
    """

    values: np.ndarray
    slot: np.ndarray
    used: np.ndarray  # time stamp of last use, a slot each
    source: np.ndarray  # empty if there is none
    places: np.ndarray
    count: np.ndarray  # the rows present that came from there, and how many there may be


class Control(NamedTuple):
    """What the loop is told."""

    selection: int
    planning: int  # number of recent pairs planned with; 0 takes Newton steps
    overstep: float  # factor on the Newton step
    tol: float
    scale: float  # largest diagonal entry of K: the unit of curvature
    floor: float  # smallest curvature believed
    target: float  # dual value that ends the run
    faces: int  # when to take face steps
    ending: int  # what follows convergence


class Memory(NamedTuple):
    """What the loop remembers from slab to slab."""

    integers: np.ndarray
    reals: np.ndarray
    recent: np.ndarray  # (N + 1, 2) most recent pairs, newest first
    recent_bend: np.ndarray  # (N + 1,) curvature along each of them
    tops: np.ndarray  # largest gradient that may rise, a group each
    bottoms: np.ndarray  # smallest gradient that may fall
    numbers: np.ndarray  # what small face steps work with
    indices: np.ndarray


# What is written down of each problem of a batch: why the loop came back, steps, rounds of face
# steps, steps of negative curvature, rows.
ENDED, STEPS, ROUNDS, BENT, ROWS, LEDGER = range(6)


class Batch(NamedTuple):
    """Small problems solved in one call, and what becomes of them."""

    parts: Parts
    alpha: np.ndarray  # the solutions, one after the other
    sums: np.ndarray  # Kα
    ledger: np.ndarray  # a row for each problem


class StepTrace(NamedTuple):
    """One entry a step; empty arrays when no trace is wanted."""

    violation: np.ndarray
    gain: np.ndarray
    kind: np.ndarray
    ratio: np.ndarray
    pair: np.ndarray  # the variables that rose and fell, as the loop numbers them
    after: np.ndarray  # their α after the step
