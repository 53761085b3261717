"""A slab: pair steps, and face steps as soon as the pair steps since the last one cost as much."""

import numpy as np

from ...runtime.jit import compiled, inlined, merged
from ..newton.compiled_step import (
    LARGEST_OWN,
    LARGEST_SMALL,
    free_variables,
    in_memory,
    small_face_step,
)
from ..newton.step import LARGEST_FACE, UNBOUNDED
from . import state as r
from .loop import NOTHING, forget_pairs, run_slab

# Seconds that a pair step costs and each variable of it, a face step in compiled code and one from
# Python, a multiplication in our own factor and in LAPACK's, a gathered entry, and an entry of the
# factor in a round: only their ratios matter.
STEP_COST, VARIABLE_COST = 3e-7, 1.3e-9
SMALL_FACE_COST, FACE_COST, OWN_FLOP_COST, FLOP_COST = 2e-6, 1e-4, 1.7e-10, 5e-11
GATHER_COST, ROUND_COST = 2e-9, 1e-9
# Before a step on more free variables than these, pair steps cost so many times as much: which
# variables are free in the end is to be clearer by then.
FEW, MANY_PATIENCE = 40, 8.0
# Pair steps between two questions whether a face step is due; when polishing, one is.
PACE = 20
# Rounds of a face step, at least.
FEWEST_ROUNDS = 30


@inlined
def face_cost(free, size, rounds):
    """Of a face step on so many free variables out of so many, in that many rounds."""
    call = SMALL_FACE_COST if free <= LARGEST_SMALL else FACE_COST
    flop = OWN_FLOP_COST if free <= LARGEST_OWN else FLOP_COST
    factor = flop * free**3 / 3 + GATHER_COST * free * (free + size)
    return call + factor + rounds * ROUND_COST * free**2


@inlined
def due_face(v, control, memory):
    """The number of free variables if a face step on them is due, else 0."""
    reals = memory.reals
    if control.faces == r.NO_FACES or reals[r.SINCE_FACE] == 0.0:
        return 0
    if control.faces == r.FACES and reals[r.FREE_SHARE] <= 0.5:
        return 0
    if memory.integers[r.LAST_KIND] == r.PLANNED:
        return 0  # the step that it was planned with comes first
    free = free_variables(v)
    if not 2 <= free <= LARGEST_FACE:
        return 0
    if control.faces == r.POLISHING:
        return free
    patience = reals[r.PATIENCE] * (1.0 if free <= FEW else MANY_PATIENCE)
    return (
        free if reals[r.SINCE_FACE] > patience * face_cost(free, v.alpha.size, np.int64(0)) else 0
    )


@compiled
def account_face(memory, free, size, rounds, gain):
    """Take note of a face step."""
    integers, reals = memory.integers, memory.reals
    reals[r.SPENT] += face_cost(free, size, rounds)
    reals[r.SINCE_FACE] = 0.0
    reals[r.PATIENCE] = 1.0 if rounds else 2.0 * reals[r.PATIENCE]
    if rounds:
        reals[r.DUAL] += gain
        integers[r.FACE_ROUNDS] += rounds
        forget_pairs(integers)


@inlined
def account_steps(memory, before, free_before, size):
    """Take note of pair steps."""
    integers, reals = memory.integers, memory.reals
    took = integers[r.CLOCK] - before
    cost = took * (STEP_COST + VARIABLE_COST * size)
    reals[r.SPENT] += cost
    reals[r.SINCE_FACE] += cost
    if took:
        reals[r.FREE_SHARE] = (integers[r.FREE_STEPS] - free_before) / took


@merged
def run_slabs(v, rows, samples, control, max_steps, memory, trace, traced_from, special):
    """Up to so many pair steps; returns (event, sample asked for, violation).

    Face steps on few variables are taken in between. Large ones are left to the caller, and all of
    them if a trace is wanted.
    """
    integers, reals, size = memory.integers, memory.reals, v.alpha.size
    last = integers[r.CLOCK] + max_steps
    while True:
        free = due_face(v, control, memory)
        if free:
            if trace.kind.size or free > LARGEST_SMALL or not in_memory(v, rows, samples):
                return r.FACE_DUE, NOTHING, reals[r.VIOLATION]
            most = max(FEWEST_ROUNDS, int(reals[r.SINCE_FACE] / (ROUND_COST * free**2)))
            rounds, gain, state = small_face_step(v, rows, samples, free, most, integers[r.POTRF])
            account_face(memory, free, size, rounds, gain)
            if state == UNBOUNDED:
                return r.UNBOUNDED, NOTHING, reals[r.VIOLATION]
        began, free_before = integers[r.CLOCK], integers[r.FREE_STEPS]
        steps = last - began if control.faces == r.NO_FACES else min(PACE, last - began)
        event, missing, reals[r.VIOLATION] = run_slab(
            v, rows, samples, control, steps, memory, trace, traced_from, special
        )
        account_steps(memory, began, free_before, size)
        polishing = control.faces == r.POLISHING
        if event == r.CONVERGED and polishing and due_face(v, control, memory):
            continue  # what pair steps leave of a polished point is not yet exact
        if event != r.STEPS_DONE or integers[r.CLOCK] >= last:
            return event, missing, reals[r.VIOLATION]
