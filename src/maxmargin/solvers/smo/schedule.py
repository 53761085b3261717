"""The schedule of pair steps and face steps, up to convergence and on to the exact optimum.

A face step is due as soon as the pair steps since the last one have cost as much. After convergence
face steps polish the solution towards the exact optimum, within a fraction of the cost so far or a
small fixed budget. If that is not enough, pair steps continue for a while.

Order of calls in `run_to_end`:

    until the end           goal_of: the violation to reach
      until it is reached   due_face, then small_face_step (large ones are the caller's)
                            run_slab: a slab of pair steps
      polishes_now: whether to polish
"""

from typing import Any

import numpy as np
from numba import int64

from ...dual.certificate import gap_and_infeasibility, gradient_and_value
from ...dual.problem import meeting
from ...runtime.buffers import buffer
from ...runtime.jit import borrowing_with, from_python, inlined, largest
from ..costs import (
    CHEAP_FACE,
    CHEAP_POLISH,
    FACE_COST,
    FLOP_COST,
    GATHER_COST,
    LARGEST_FACE,
    LARGEST_POLISHED,
    LARGEST_SMALL,
    MANY_PATIENCE,
    POLISH_SHARE,
    ROUND_COST,
    SMALL_FACE,
    SMALL_FACE_COST,
    STEP_COST,
    VARIABLE_COST,
)
from ..drivers.working_set import EPSILON, rounding_of
from ..newton.compiled_step import SCRATCH_VECTORS, free_variables, small_face_step
from ..newton.step import UNBOUNDED
from . import state as r
from .loop import NOTHING, forget_pairs, run_slab
from .selection import find_extremes

# Pair steps between two checks whether a face step is due; when polishing, it is.
PACE = 20
# Smallest number of rounds of a face step.
FEWEST_ROUNDS = 30
# Polishing aims at this fraction of tol.
POLISHED = 1e-6
# Without polishing, pair steps aim at this fraction of the allowed violation.
UNPOLISHED = 0.75
# Marks that polishing has ended.
OVER = -1.0


def blank_memory(planning: int, groups: int) -> tuple[r.Memory, r.State, r.Counters]:
    """Make the loop memory before the first step; its state and counters as Python sees them."""
    state, counters = r.State(sweep_all=1, patience=1.0), r.Counters()
    memory = r.Memory(
        state=np.frombuffer(state, r.STATE),
        counters=np.frombuffer(counters, r.COUNTERS),
        recent=np.zeros((planning + 1, 2), dtype=np.int64),
        recent_bend=np.zeros(planning + 1),
        tops=np.zeros(groups),
        bottoms=np.zeros(groups),
        numbers=buffer(((SCRATCH_VECTORS + groups) * LARGEST_SMALL,), np.float64),
        indices=np.empty(4 * LARGEST_SMALL, np.int64),
    )
    return memory, state, counters


@inlined
def face_cost(free: int, size: int, rounds: float) -> float:
    """Cost of a face step on `free` of `size` variables, in `rounds` rounds."""
    square = float(free * free)
    cost = (GATHER_COST + rounds * ROUND_COST) * square + GATHER_COST * free * size
    cost += SMALL_FACE_COST if free <= LARGEST_SMALL else FACE_COST
    return cost + FLOP_COST * square * free / 3.0


@inlined
def due_face(v: r.Variables, faces: int, memory: r.Memory) -> int:
    """The number of free variables if a face step on them is due, else 0."""
    state = memory.state[0]
    if faces == r.NO_FACES or state.since_face == 0.0:
        return 0
    if faces == r.FACES and state.free_share <= 0.5:
        return 0
    if state.last_kind == r.PLANNED:
        return 0  # the second step of a planned pair comes first
    free = free_variables(v)
    if free < 2 or free > LARGEST_FACE:
        return 0
    patience = state.patience * (1.0 if free <= SMALL_FACE else MANY_PATIENCE)
    waits = state.since_face <= patience * face_cost(free, v.alpha.size, 0.0)
    return 0 if waits and faces != r.POLISHING else free


@inlined
def account_face(memory: r.Memory, free: int, size: int, rounds: int, gain: float) -> None:
    """Record a face step."""
    state, counters = memory.state[0], memory.counters[0]
    state.spent += face_cost(free, size, float(rounds))
    state.since_face = 0.0
    state.patience = 1.0 if rounds else 2.0 * state.patience
    if rounds:
        state.dual += gain
        counters.face_rounds += rounds
        forget_pairs(memory)


note_face = from_python(account_face)


@inlined
def polishes_now(v: r.Variables, control: r.Control, memory: r.Memory) -> bool:
    """Whether to continue after convergence: polishing begins, with its cost limit set, or, if it
    would cost too much, pair steps go on to a slightly smaller violation."""
    state = memory.state[0]
    if control.ending != r.POLISH or state.polish_until != 0.0:
        return False
    if state.violation <= 1e-2 * POLISHED * control.tol:  # well below its aim already
        return False
    free = free_variables(v)
    share, cost = POLISH_SHARE * state.spent, face_cost(free, v.alpha.size, 1.0)
    if free > LARGEST_POLISHED or cost > largest(share, CHEAP_FACE):
        state.polish_until = OVER
        result: bool = state.violation > UNPOLISHED * control.tol
        return result
    state.polish_until = state.spent + largest(share, CHEAP_POLISH)
    # Begin with a face step even directly after another one, which may have left rounding.
    state.since_face += EPSILON
    return True


@inlined
def goal_of(v: r.Variables, control: r.Control, until: float) -> float:
    """The violation to reach, given the cost limit of polishing; not below rounding."""
    aim = POLISHED if until > 0.0 else UNPOLISHED if until == OVER else 1.0
    noise = EPSILON * rounding_of(v.alpha, v.gradient, control.scale)
    goal: float = largest(aim * control.tol, noise)
    return goal


def independent_parts(types: tuple[Any, ...]) -> list[tuple[Any, tuple[Any, ...]]]:
    """What a second process compiles while `run_to_end` is compiled for arguments of these types:
    the face step, and the certificate that follows."""
    v, rows, _, _, _, memory, _ = types
    numbers, group = v[0], v[6]
    return [
        (small_face_step, (v, rows, *[int64] * 4, memory[6], memory[7])),
        (gap_and_infeasibility, (*[numbers] * 4, group, *[numbers] * 4)),
        (meeting, (*[numbers] * 4, group, numbers)),
        (gradient_and_value, (numbers,) * 5),
    ]


@borrowing_with(independent_parts)
def run_to_end(
    v: r.Variables,
    rows: r.RowStore,
    samples: int,
    control: r.Control,
    max_steps: int,
    memory: r.Memory,
    special: r.StepTrace | None,
) -> tuple[int, int, float]:
    """Up to `max_steps` pair steps; returns (event, sample whose row is missing, violation).

    Face steps on few variables are taken in between. Larger ones, and all of them if there is a
    trace, are left to the caller.
    """
    state, counters = memory.state[0], memory.counters[0]
    size = v.alpha.size
    last = counters.steps + max_steps
    state.traced_from = counters.steps
    while True:
        polishing = state.polish_until > 0.0
        faces = r.POLISHING if polishing else control.faces
        stop = counters.steps + 50  # the next check of the polishing cost
        stop = stop if polishing and stop < last else last
        goal = goal_of(v, control, state.polish_until)
        violation = find_extremes(v.gradient, v.rise, v.fall, memory.tops, memory.bottoms)
        event, missing = r.CONVERGED, NOTHING
        going = polishing or violation > goal
        while going:
            free = due_face(v, faces, memory)
            if free:
                rounds, gain, ended = -1, 0.0, 0
                if free <= LARGEST_SMALL and (special is None or not special.kind.size):
                    most = int(state.since_face / (ROUND_COST * free * free))
                    most = most if most > FEWEST_ROUNDS else FEWEST_ROUNDS
                    rounds, gain, ended = small_face_step(
                        v,
                        rows,
                        samples,
                        free,
                        most,
                        control.potrf,
                        memory.numbers,
                        memory.indices,
                    )
                if rounds < 0:
                    event = r.FACE_DUE
                    break
                account_face(memory, free, size, rounds, gain)
                if ended == UNBOUNDED:
                    event = r.UNBOUNDED
                    break
            began, free_before = counters.steps, counters.free_steps
            steps = stop - began
            if faces != r.NO_FACES and steps > PACE:
                steps = PACE
            event, missing, violation = run_slab(
                v, rows, samples, control, goal, steps, memory, special
            )
            took = counters.steps - began
            cost = took * (STEP_COST + VARIABLE_COST * size)  # speed only
            state.spent += cost
            state.since_face += cost
            if took:
                state.free_share = (counters.free_steps - free_before) / took
            going = event == r.STEPS_DONE and counters.steps < stop
            if event == r.CONVERGED and polishing:
                # A point reached by pair steps is not exact: another face step follows if due.
                going = due_face(v, faces, memory) > 0
        state.violation = violation
        if polishing and state.spent > state.polish_until:
            state.polish_until = OVER
        if event == r.STEPS_DONE and counters.steps < last:
            continue
        if event != r.CONVERGED or not polishes_now(v, control, memory):
            return event, missing, violation
