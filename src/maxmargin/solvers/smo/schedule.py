"""Slabs up to the end: after convergence, face steps lead on towards the exact optimum.

A part of what was paid for the solution may be paid for exactness, and a little in any case. Where
that is not enough, pair steps go on for a while.
"""

import numpy as np

from ...runtime.jit import compiled, inlined, merged
from ..drivers.working_set import EPSILON, find_extremes, rounding_of
from ..newton.compiled_step import free_variables
from . import state as r
from .batch import begin_problem, end_problem
from .loop import NOTHING
from .slabs import face_cost, run_slabs

# The end is polished down to this part of tol, unless no more than a small part of that is left
# already.
POLISHED, EXACT = 1e-6, 1e-2
# A face step is to cost no more than this part of the solution for it, or than these seconds; where
# one is not enough, all together that part, or so many seconds.
POLISH_SHARE, CHEAP_FACE, CHEAP_POLISH = 0.25, 4e-4, 5e-3
# Of the violation allowed, pair steps leave this part where the end is not polished.
UNPOLISHED = 0.75
# Steps while polishing before its cost is looked at.
POLISHING_SLAB = 50
# More free variables than this are left within tol: exactness would cost more than the solution.
LARGEST_POLISHED = 1000
# In place of the cost at which polishing ends, where it has ended.
OVER = -1.0


@inlined
def polishes_now(v, control, memory):
    """Whether polishing begins here, or what is done in its place; then it has."""
    reals = memory.reals
    if control.ending != r.POLISH or reals[r.POLISH_UNTIL] != 0.0:
        return False
    if reals[r.VIOLATION] <= EXACT * POLISHED * control.tol:
        return False
    free = free_variables(v)
    share, cost = POLISH_SHARE * reals[r.SPENT], face_cost(free, v.alpha.size, np.int64(1))
    if free > LARGEST_POLISHED or cost > max(share, CHEAP_FACE):
        reals[r.POLISH_UNTIL] = OVER
        return reals[r.VIOLATION] > UNPOLISHED * control.tol
    reals[r.POLISH_UNTIL] = reals[r.SPENT] + max(share, CHEAP_POLISH)
    # A face step comes first, also after another one: it may leave more rounding than wanted.
    reals[r.SINCE_FACE] += EPSILON
    return True


@inlined
def goal_of(v, control, until):
    """The violation to reach, where polishing ends at that cost; not less than rounding."""
    aim = POLISHED if until > 0.0 else UNPOLISHED if until == OVER else 1.0
    return max(aim * control.tol, EPSILON * rounding_of(v.alpha, v.gradient, control.scale))


@inlined
def aiming_at(control, tol, faces):
    return r.Control(
        control.selection,
        control.planning,
        control.overstep,
        tol,
        control.scale,
        control.floor,
        control.target,
        faces,
        control.ending,
    )


@merged
def run_one(v, rows, samples, control, max_steps, memory, trace, special):
    """Up to so many pair steps; returns (event, sample asked for, violation)."""
    integers, reals = memory.integers, memory.reals
    first = integers[r.CLOCK]
    last = first + max_steps
    while True:
        polishing = reals[r.POLISH_UNTIL] > 0.0
        goal = goal_of(v, control, reals[r.POLISH_UNTIL])
        event, missing = r.CONVERGED, NOTHING
        reals[r.VIOLATION] = find_extremes(v.gradient, v.rise, v.fall, memory.tops, memory.bottoms)
        if polishing or reals[r.VIOLATION] > goal:
            steps = last - integers[r.CLOCK]
            event, missing, reals[r.VIOLATION] = run_slabs(
                v,
                rows,
                samples,
                aiming_at(control, goal, r.POLISHING if polishing else control.faces),
                min(steps, POLISHING_SLAB) if polishing else steps,
                memory,
                trace,
                first,
                special,
            )
        if polishing and reals[r.SPENT] > reals[r.POLISH_UNTIL]:
            reals[r.POLISH_UNTIL] = OVER
        if event == r.STEPS_DONE and integers[r.CLOCK] < last:
            continue
        if event != r.CONVERGED or not polishes_now(v, control, memory):
            return event, missing, reals[r.VIOLATION]


@compiled
def run_to_end(v, rows, samples, control, max_steps, memory, trace, special, batch):
    """The same; where there is a batch, in place of v for each of its problems, from its α on."""
    problems = batch.parts.ends.size
    event, missing, violation, room = r.CONVERGED, NOTHING, 0.0, rows.values
    for k in range(max(problems, 1)):
        if problems:
            v, rows, samples, control = begin_problem(batch, k, room, control, memory)
        event, missing, violation = run_one(
            v, rows, samples, control, max_steps, memory, trace, special
        )
        if problems:
            end_problem(batch, k, v, rows, memory, event)
    return event, missing, violation
