"""The face step for many free variables: all that would leave the box are fixed at once.

With the free variables F, the groups A and variables V fixed at their bounds, the optimum α_F + d
of the rest satisfies

    Q_FF d + Bλ = G_F,   Bᵀd = c      (B: Aᵀ and the unit vectors of V, c: 0 and the moves of V)

    Lᵀd = x − Sλ,   (SᵀS) λ = Sᵀx − c,   x = L⁻¹ G_F,   S = L⁻¹ B,   LLᵀ = Q_FF

so that one factorisation suffices for any V. V grows until all other variables stay inside. The
next step reuses the factor: new variables are added as a border, and those that are no longer free
are fixed where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.linalg.lapack import dposv

from ...dual.problem import Float, Int
from ...linalg.bordered import Factor
from ..drivers.working_set import MOST_SAMPLES, Active, Bool, marked
from ..rows.lru import FullRows
from .step import FaceResult, curvature


class Rules(NamedTuple):
    """When a projected step goes on, and when its factor is reused."""

    # If more than this fraction of the variables has to be fixed, the step is left to pair steps.
    most_stopped: float = 0.25
    # Relative shift of the diagonal: rounded Gram matrices are not quite positive definite.
    jitter: float = 1e-7
    # Largest number of sets V that are tried.
    most_rounds: int = 10
    # A step has converged if at most this fraction of the spread of the gradients is left.
    converged: float = 0.1
    # A factor is reused while at most these fractions of its variables were added later, and have
    # left.
    most_bordered: float = 0.15
    most_left: float = 0.1


RULES = Rules()


def wide_face_step(
    active: Active, must_end: Callable[[], bool] | None = None, known: Factor | None = None
) -> FaceResult:
    """Move the free variables of an `Active` set to their optimum, fixing those that would leave
    the box at their bounds. The new point is feasible and not worse.

    With float32 rows the factorisation is in float32 if that is precise enough. `known` is a factor
    of nearly the same variables, reused if possible; the result holds the latest one.
    """
    rounds, gain = 0, 0.0
    attempts: list[tuple[Factor | None, np.dtype[Any]]]
    attempts = [(None, dtype) for dtype in precisions(active)]
    if known is not None:
        attempts.insert(0, (known, known.dtype))
    for factor, dtype in attempts:
        attempt = newton_step(active, dtype, must_end, factor)
        rounds, gain = rounds + attempt.rounds, gain + attempt.gain
        if attempt.converged:
            return FaceResult(rounds, gain, False, attempt.factor)
    return FaceResult(rounds, gain, False)


def precisions(active: Active) -> list[np.dtype[Any]]:
    matrix = cast(FullRows, active.rows).matrix
    return list(dict.fromkeys([matrix.dtype, np.dtype(np.float64)]))


class Attempt(NamedTuple):
    rounds: int
    gain: float
    converged: bool
    factor: Factor | None = None


def newton_step(
    active: Active,
    dtype: Any,
    must_end: Callable[[], bool] | None = None,
    known: Factor | None = None,
) -> Attempt:
    """A step with a factor in this precision, or with the known one, taken if its gain is positive.

    It has converged if little is left of the spread of the gradients, or if it was cut short for
    another reason than precision.
    """
    v = active.v
    F = active.free()
    nothing, failed = Attempt(0, 0.0, True), Attempt(0, 0.0, False)
    if F.size < 2:
        return nothing
    factor, E = new_factor(active, F, dtype) if known is None else grown_factor(active, F, known)
    if must_end is not None and must_end():
        return nothing
    if factor is None:
        return failed
    moving = marked(F, v.alpha.size)[E]
    F, idle = E[moving], np.flatnonzero(~moving)
    alpha, lower, upper, group = v.alpha[F], v.lower[F], v.upper[F], v.group[F]
    before = active.slopes(F)
    gradient, lowest, highest = np.zeros((3, E.size))
    gradient[moving] = levelled(before, group)
    lowest[moving], highest[moving] = lower - alpha, upper - alpha
    way = stopped_newton(factor, gradient, lowest, highest, v.group[E], idle)
    if way is None:
        return nothing if known is None else failed
    direction, reaction, rounds = way
    slope, bend = float(direction @ gradient), float(direction @ (gradient - reaction))
    if not slope > 0.0:
        return failed
    step = min(1.0, slope / bend) if bend > 0.0 else 1.0
    aim = np.clip(alpha + step * direction[moving], lower, upper)
    reached = balanced(aim, alpha, lower, upper, group)
    kinks = before - v.gradient[F]
    active.place(F, reached)
    after = v.gradient[F] + kinks
    gain = 0.5 * float((reached - alpha) @ (before + after))
    if gain < 0.0:
        active.place(F, alpha)
        return failed
    inside = (lower < reached) & (reached < upper)
    left = levelled(after[inside], group[inside])
    converged = (
        step < 1.0 or np.abs(left).max(initial=0.0) <= RULES.converged * np.abs(gradient).max()
    )
    return Attempt(rounds, gain, bool(converged), factor)


def no_longer_free(known: Factor | None, free: Bool) -> Int:
    """Samples of a factor that are no longer free, which a block has to hold if it is to reuse the
    factor; none of them if they are too many for that. `free` is a mask of all samples."""
    if known is None:
        return np.empty(0, dtype=np.int64)
    samples = known.names % MOST_SAMPLES
    left = np.unique(samples[~free[samples]])
    return left if left.size <= RULES.most_left * np.count_nonzero(free) else left[:0]


def new_factor(active: Active, F: Int, dtype: Any) -> tuple[Factor | None, Int]:
    """A new factor of some variables (None if it fails), and its variables."""
    Q = curvature(active, F, dtype=dtype)
    Q.flat[:: F.size + 1] *= 1.0 + RULES.jitter
    return Factor.of(Q, active.names()[F]), F


def grown_factor(active: Active, F: Int, known: Factor) -> tuple[Factor | None, Int]:
    """The known factor extended to these variables (None if not possible), and its variables."""
    names = active.names()
    E = np.searchsorted(names, known.names)
    if E.max() >= names.size or (names[E] != known.names).any():
        return None, F
    new = np.setdiff1d(F, E, assume_unique=True)
    left = E.size + new.size - F.size
    grown = new.size + known.bordered > RULES.most_bordered * E.size
    if grown or left > RULES.most_left * E.size:
        return None, F
    if new.size:
        rows = cast(FullRows, active.rows).matrix[new % active.size]
        corner = curvature(active, new, dtype=known.dtype)
        corner.flat[:: new.size + 1] *= 1.0 + RULES.jitter
        if not known.border(rows[:, E % active.size].T, corner, names[new]):
            return None, F
    return known, np.append(E, new)


def levelled(gradient: Float, group: Int) -> Float:
    """The gradient without its mean in each group, which the sum constraints cancel anyway."""
    totals, counts = np.bincount(group, gradient), np.bincount(group)
    return gradient - (totals / np.maximum(counts, 1))[group]


def stopped_newton(
    factor: Factor,
    gradient: Float,
    lowest: Float,
    highest: Float,
    group: Int,
    idle: Sequence[int] | Int = (),
) -> tuple[Float, Float, int] | None:
    """The direction d of the system above with lowest ≤ d ≤ highest, its Bλ, and the number of
    rounds; None if too many variables have to be fixed. Variables in `idle` do not move."""
    size = gradient.size
    present = np.unique(group)
    B = (group[:, None] == present).astype(np.float64)
    stopped = np.asarray(idle, dtype=np.int64)
    c = np.zeros(present.size + stopped.size)
    both = factor.forward(np.column_stack([gradient, B, units(size, stopped)]))
    x, S = both[:, 0], both[:, 1:]
    for rounds in range(1, RULES.most_rounds + 1):
        _, multipliers, trouble = dposv(S.T @ S, S.T @ x - c)
        if trouble:
            return None
        d = factor.back(x - S @ multipliers)
        d[stopped] = c[present.size :]
        out = np.flatnonzero((d < lowest) | (d > highest))
        if not out.size:
            reaction = B @ multipliers[: present.size]
            reaction[stopped] += multipliers[present.size :]
            return d, reaction, rounds
        stopped = np.append(stopped, out)
        if stopped.size - len(idle) > RULES.most_stopped * size:
            return None
        S = np.hstack([S, factor.forward(units(size, out))])
        c = np.append(c, np.where(d[out] < lowest[out], lowest[out], highest[out]))
    return None


def balanced(reached: Float, alpha: Float, lower: Float, upper: Float, group: Int) -> Float:
    """The point `reached`, with the sum over each group restored to that of α by moving the
    variable farthest from its bounds; the rounding of a sum is far smaller than that distance."""
    slack = np.minimum(reached - lower, upper - reached)
    for g in np.unique(group):
        members = np.flatnonzero(group == g)
        excess = float((reached[members] - alpha[members]).sum())
        if not slack[members].max() > abs(excess):
            slack[members] = (reached - lower if excess > 0.0 else upper - reached)[members]
        widest = members[np.argmax(slack[members])]
        reached[widest] -= excess
    return np.clip(reached, lower, upper)


def units(size: int, places: Int) -> Float:
    """The unit vectors of some places, as columns."""
    columns = np.zeros((size, len(places)))
    columns[places, np.arange(len(places))] = 1.0
    return columns
