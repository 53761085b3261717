"""Slabs of pair steps and face steps by turns, up to the end and towards the exact optimum.

A face step is taken as soon as the pair steps since the last one cost as much. After convergence
face steps lead on towards the exact optimum: a part of what was paid for the solution may be paid
for exactness, and a little in any case. Where that is not enough, pair steps go on for a while.

Order of calls in `run_to_end`:

    until the end           goal_of: the violation to reach
      until it is reached   due_face, then small_face_step (large ones are the caller's)
                            run_slab: some pair steps
      polishes_now: whether exactness is worth while
"""

from ...runtime.jit import borrowing, inlined, largest
from ..drivers.working_set import EPSILON, rounding_of
from ..newton.compiled_step import LARGEST_SMALL, free_variables, small_face_step
from ..newton.step import UNBOUNDED
from . import state as r
from .loop import NOTHING, run_slab
from .selection import find_extremes
from .slabs import (
    FEWEST_ROUNDS,
    PACE,
    ROUND_COST,
    STEP_COST,
    VARIABLE_COST,
    account_face,
    due_face,
    face_cost,
)

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
    share, cost = POLISH_SHARE * reals[r.SPENT], face_cost(free, v.alpha.size, 1.0)
    if free > LARGEST_POLISHED or cost > largest(share, CHEAP_FACE):
        reals[r.POLISH_UNTIL] = OVER
        return reals[r.VIOLATION] > UNPOLISHED * control.tol
    reals[r.POLISH_UNTIL] = reals[r.SPENT] + largest(share, CHEAP_POLISH)
    # A face step comes first, also after another one: it may leave more rounding than wanted.
    reals[r.SINCE_FACE] += EPSILON
    return True


@inlined
def goal_of(v, control, until):
    """The violation to reach, where polishing ends at that cost; not less than rounding."""
    aim = POLISHED if until > 0.0 else UNPOLISHED if until == OVER else 1.0
    return largest(aim * control.tol, EPSILON * rounding_of(v.alpha, v.gradient, control.scale))


@borrowing
def run_to_end(v, rows, samples, control, max_steps, memory, special):
    """Up to so many pair steps; returns (event, sample asked for, violation).

    Face steps on few variables are taken in between. Large ones are left to the caller, and all of
    them if a trace is wanted.
    """
    integers, reals, size = memory.integers, memory.reals, v.alpha.size
    last = integers[r.CLOCK] + max_steps
    integers[r.TRACED_FROM] = integers[r.CLOCK]
    while True:
        polishing = reals[r.POLISH_UNTIL] > 0.0
        faces = r.POLISHING if polishing else control.faces
        stop = integers[r.CLOCK] + POLISHING_SLAB
        stop = stop if polishing and stop < last else last
        goal = goal_of(v, control, reals[r.POLISH_UNTIL])
        violation = find_extremes(v.gradient, v.rise, v.fall, memory.tops, memory.bottoms)
        event, missing = r.CONVERGED, NOTHING
        going = polishing or violation > goal
        while going:
            free = due_face(v, faces, memory)
            if free:
                rounds, gain, state = -1, 0.0, 0
                if free <= LARGEST_SMALL and (special is None or not special.kind.size):
                    most = int(reals[r.SINCE_FACE] / (ROUND_COST * free * free))
                    most = most if most > FEWEST_ROUNDS else FEWEST_ROUNDS
                    rounds, gain, state = small_face_step(
                        v,
                        rows,
                        samples,
                        free,
                        most,
                        integers[r.POTRF],
                        memory.numbers,
                        memory.indices,
                    )
                if rounds < 0:
                    event = r.FACE_DUE
                    break
                account_face(integers, reals, free, size, rounds, gain)
                if state == UNBOUNDED:
                    event = r.UNBOUNDED
                    break
            began, free_before = integers[r.CLOCK], integers[r.FREE_STEPS]
            steps = stop - began
            if faces != r.NO_FACES and steps > PACE:
                steps = PACE
            event, missing, violation = run_slab(
                v, rows, samples, control, goal, steps, memory, special
            )
            took = integers[r.CLOCK] - began
            cost = took * (STEP_COST + VARIABLE_COST * size)
            reals[r.SPENT] += cost
            reals[r.SINCE_FACE] += cost
            if took:
                reals[r.FREE_SHARE] = (integers[r.FREE_STEPS] - free_before) / took
            going = event == r.STEPS_DONE and integers[r.CLOCK] < stop
            if event == r.CONVERGED and polishing:
                # What pair steps leave of a polished point is not yet exact.
                going = due_face(v, faces, memory) > 0
        reals[r.VIOLATION] = violation
        if polishing and reals[r.SPENT] > reals[r.POLISH_UNTIL]:
            reals[r.POLISH_UNTIL] = OVER
        if event == r.STEPS_DONE and integers[r.CLOCK] < last:
            continue
        if event != r.CONVERGED or not polishes_now(v, control, memory):
            return event, missing, violation
