"""What pair steps and face steps cost, and when a face step is due."""

from __future__ import annotations

from ...runtime.jit import from_python, inlined
from ..costs import (
    FACE_COST,
    FLOP_COST,
    GATHER_COST,
    LARGEST_FACE,
    LARGEST_SMALL,
    MANY_PATIENCE,
    ROUND_COST,
    SMALL_FACE,
    SMALL_FACE_COST,
)
from ..newton.compiled_step import free_variables
from . import state as r
from .loop import forget_pairs

# Pair steps between two checks whether a face step is due; when polishing, it is.
PACE = 20
# Smallest number of rounds of a face step.
FEWEST_ROUNDS = 30


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
