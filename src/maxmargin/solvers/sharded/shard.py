"""The computations of one shard: pure functions of its samples, its state and the messages to it.

The state of a shard is the vector (Kα)_i of its samples in float64. All of α that is not 0 belongs
to *members*, samples that the driver knows; it sends their α with every call. So a state can be
recomputed from the samples and the members alone, wherever the samples are.

Samples that satisfy their condition by more than a leash, which the driver shortens as violations
fall, are set aside: their part of the vector is not updated, and nothing is said about them, until
the state is rebuilt. Where sums are interpolated (`kernels.vector.chebyshev`) no sample is set
aside, as an update costs little.

Variables are arrays of shape (copies, samples): one row, or two for regression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dual.machines import part_of
from ...dual.problem import DualProblem, Float, Int
from ...kernels import Gaussian, Kernel
from ...kernels.base import count, take
from ...kernels.row_sums import add_rows
from ...kernels.vector.base import VectorKernel
from ...kernels.vector.chebyshev import Interpolation
from ...runtime.parallel import in_parts, single_threaded_blas
from ...runtime.sizes import BLOCK_ENTRIES
from .inputs import stacked
from .records import Members, Taken


class Part(NamedTuple):
    """Samples of a shard.

    Attributes
    ----------
    X : inputs
    y : array or None
        Labels or targets.
    weight : float array or None
        None stands for ones.
    """

    X: Any
    y: Any = None
    weight: Any = None


@dataclass(frozen=True)
class ShardTask:
    """One dual problem over all shards, from which every shard can set up its part.

    Attributes
    ----------
    kernel : Kernel
    machine : {"hinge", "squared_hinge", "epsilon_svr", "one_class"}
    C, epsilon : float
    positive : tuple
        Labels of the positive class.
    negative : tuple or None
        Labels of the negative class; None stands for all others.
    factors : dict
        Weights of classes by label; those absent have 1.
    offset : float
        Subtracted from the targets of regression.
    """

    kernel: Kernel
    machine: str
    C: float = 1.0
    epsilon: float = 0.0
    positive: tuple[Any, ...] = ()
    negative: tuple[Any, ...] | None = None
    factors: tuple[tuple[Any, float], ...] = ()
    offset: float = 0.0

    def posed(self, part: Part) -> Posed:
        """The samples of a part that belong to the problem, and their variables."""
        weight = np.ones(count(part.X)) if part.weight is None else np.asarray(part.weight)
        weight = np.maximum(weight, 0.0).astype(np.float64)
        if self.machine == "one_class":
            return Posed(part.X, None, part_of(self.machine, None, weight))
        y = np.asarray(part.y)
        if self.machine == "epsilon_svr":
            targets = y.astype(np.float64) - self.offset
            problem = part_of(self.machine, targets, self.C * weight, self.epsilon)
            return Posed(part.X, None, problem)
        above = np.isin(y, self.positive)
        rows = None
        if self.negative is not None:
            inside = above | np.isin(y, self.negative)
            if not inside.all():
                rows = np.flatnonzero(inside)
                y, weight, above = y[rows], weight[rows], above[rows]
        for label, factor in self.factors:
            if factor != 1.0:
                weight = np.where(y == label, factor * weight, weight)
        labels = np.where(above, 1.0, -1.0)
        problem = part_of(self.machine, labels, self.C * weight)
        return Posed(part.X if rows is None else take(part.X, rows), rows, problem)


class Posed(NamedTuple):
    """Inputs and variables of a part; `rows` are their places in it, None for all."""

    X: Any
    rows: Int | None
    problem: DualProblem | None

    @property
    def samples(self) -> int:
        return 0 if self.problem is None else self.problem.samples


class Proposal(NamedTuple):
    """The answer of a shard to a change of α.

    Attributes
    ----------
    highest, lowest : float arrays
        For each group the largest gradient of variables that may rise, and the smallest of those
        that may fall.
    gap : float
        Its contribution to the duality gap at the given bias.
    gradient : float array of shape (copies, members)
    taken : Taken
        The most violating samples that are not members.
    violation : float array
        Their violations.
    drift : float
        The largest change of (Kα)_i of a sample that is kept up to date; 0 for a rebuilt state.
    """

    highest: Float
    lowest: Float
    gap: float
    gradient: Float
    taken: Taken
    violation: Float
    drift: float = 0.0


class ShardState(NamedTuple):
    """(Kα)_i of all samples, and the places of those that are kept up to date; None for all."""

    values: Float
    near: Int | None = None


class Step(NamedTuple):
    """The new state of a shard, and its proposal."""

    state: ShardState
    proposal: Proposal


def sampled(part: Part, task: ShardTask, share: float, least: int, seed: int) -> Taken:
    """A random sample with samples of each class: this share of all, but at least `least`."""
    posed = task.posed(part)
    if posed.problem is None:
        return _taken(part, posed, np.empty(0, dtype=np.int64), task)
    n, random = posed.samples, np.random.default_rng(seed)
    size = min(n, max(least, int(np.ceil(share * n))))
    present = (posed.problem.lower < posed.problem.upper).reshape(-1, n).any(axis=0)
    kind = posed.problem.upper[:n] > 0
    chosen = []
    for members in (np.flatnonzero(present & kind), np.flatnonzero(present & ~kind)):
        fair = size * members.size / max(1, int(present.sum()))
        # A quarter of each class at least, if there are enough.
        wanted = min(members.size, int(np.ceil(max(fair, 0.25 * size))))
        chosen.append(random.choice(members, wanted, replace=False))
    return _taken(part, posed, np.sort(np.concatenate(chosen)), task)


def fetched(part: Part, task: ShardTask, rows: Int) -> Taken:
    """The samples of a part at these rows."""
    posed = task.posed(part)
    places = rows if posed.rows is None else np.searchsorted(posed.rows, rows)
    return _taken(part, posed, places, task)


def advanced(
    part: Part,
    state: ShardState | None,
    task: ShardTask,
    members: Members,
    blocks: list[Any],
    deltas: list[Float],
    dtype: Any,
    bias: Float,
    most: int,
    leash: float = np.inf,
    kept: Iterable[tuple[Any, Float]] = (),
) -> Step:
    """Kα + K·Δ for the changes Δ of the samples in `blocks`, and a proposal with a limited number
    of candidates. Without a state it is rebuilt.

    `kept` has more changes, of members whose kernel values are known, see `kernel_rows`.
    """
    posed = task.posed(part)
    if posed.problem is None:
        nothing = np.empty(0, dtype=np.int64)
        groups = np.full(bias.size, np.inf)
        empty = np.empty((_copies(task), 0))
        taken = _taken(part, posed, nothing, task)
        proposal = Proposal(-groups, groups, 0.0, empty, taken, np.empty(0))
        return Step(ShardState(np.empty(0)), proposal)
    near, changes = None, _changes(blocks, deltas)
    if interpolation_at(task.kernel, posed.X) is not None:
        changes = _joined(changes)
    elif state is not None:
        near = _near(posed.problem, state, members, bias, leash)
    X = posed.X if near is None else take(posed.X, near)
    change = np.zeros(count(X))
    for Z, coef in changes:
        change += kernel_sums(task.kernel, X, Z, coef, dtype)
    for rows, coef in kept:
        whole = np.zeros(posed.samples)
        moved = np.flatnonzero(coef)
        add_rows(whole, rows, moved, coef[moved])
        change += whole if near is None else whole[near]
    drift = 0.0 if state is None else float(np.abs(change).max(initial=0.0))
    values = np.zeros(posed.samples) if state is None else state.values.copy()
    values[slice(None) if near is None else near] += change
    state = ShardState(values, near)
    proposal = _proposal(part, posed, state, task, members, bias, most)
    return Step(state, proposal._replace(drift=drift))


def kernel_rows(part: Part, task: ShardTask, Z: Any, dtype: Any) -> NDArray[Any]:
    """k(z_j, x_i) for all samples x_i of a part that belong to the problem, a row for each z_j."""
    X, kernel = task.posed(part).X, task.kernel
    rows = np.empty((count(Z), count(X)), dtype)
    write = kernel.evaluator(X, dtype, Z) if isinstance(kernel, VectorKernel) else None

    def some_rows(first: int, last: int) -> None:
        own = slice(first, last)
        if write is None:
            rows[own] = kernel(take(Z, own), X)
        else:
            write(Z[own], rows[own])

    width = X.shape[1] if getattr(X, "ndim", 1) == 2 else 1
    with single_threaded_blas():
        in_parts(some_rows, rows.shape[0], rows.size, width)
    return rows


def _changes(blocks: list[Any], deltas: list[Float]) -> Iterator[tuple[Any, Float]]:
    """Inputs and changes of the samples of each block that change."""
    for inputs, delta in zip(blocks, deltas):
        moved = np.flatnonzero(delta)
        if moved.size:
            yield inputs if moved.size == delta.size else take(inputs, moved), delta[moved]


def _joined(changes: Iterator[tuple[Any, Float]]) -> Iterator[tuple[Any, Float]]:
    """All changes at once, where a sum costs the same for any number of terms."""
    found = list(changes)
    if found:
        yield stacked([Z for Z, _ in found]), np.concatenate([coef for _, coef in found])


def _near(
    problem: DualProblem, state: ShardState, members: Members, bias: Float, leash: float
) -> Int | None:
    """The samples to keep up to date: of those that were, members and the ones that satisfy their
    condition by at most the leash."""
    if not np.isfinite(leash):
        return state.near
    # Members aside, α is 0.
    alpha = np.zeros(problem.linear.size)
    pull = problem.gradient(alpha, state.values) - bias[problem.group]
    above = np.where(problem.can_rise(alpha), pull, -np.inf)
    below = np.where(problem.can_fall(alpha), -pull, -np.inf)
    close = np.maximum(above, below) >= -leash
    kept = np.asarray(close.reshape(problem.copies, -1).any(axis=0))
    kept[members.places] = True
    if state.near is None:
        return np.flatnonzero(kept) if kept.mean() < 0.9 else None
    near: Int = state.near[kept[state.near]]
    return near


def _proposal(
    part: Part,
    posed: Posed,
    state: ShardState,
    task: ShardTask,
    members: Members,
    bias: Float,
    most: int,
) -> Proposal:
    problem = posed.problem
    assert problem is not None
    alpha, gradient = _point(problem, state.values, members)
    known = _known(problem, state)
    rises, falls = problem.can_rise(alpha) & known, problem.can_fall(alpha) & known
    highest, lowest = np.full(bias.size, -np.inf), np.full(bias.size, np.inf)
    for g in range(bias.size):
        own = problem.group == g
        highest[g] = gradient.max(initial=-np.inf, where=own & rises)
        lowest[g] = gradient.min(initial=np.inf, where=own & falls)
    pull = gradient - bias[problem.group]
    violation = np.where(rises, pull, 0.0)
    violation = np.maximum(violation, np.where(falls, -pull, 0.0))
    violation = violation.reshape(problem.copies, -1)
    of_sample = violation.max(axis=0)
    of_sample[members.places] = 0.0
    wanted = np.flatnonzero(of_sample > 0.0)
    if wanted.size > most:
        order = np.argpartition(of_sample[wanted], wanted.size - most)
        wanted = np.sort(wanted[order[wanted.size - most :]])
    return Proposal(
        highest=highest,
        lowest=lowest,
        gap=_gap(problem, alpha, gradient, bias, known),
        gradient=gradient.reshape(problem.copies, -1)[:, members.places],
        taken=_taken(part, posed, wanted, task),
        violation=of_sample[wanted],
    )


def gap_part(
    part: Part, state: ShardState, task: ShardTask, members: Members, bias: Float
) -> float:
    """The contribution to the duality gap at a bias."""
    problem = task.posed(part).problem
    if problem is None:
        return 0.0
    point = _point(problem, state.values, members)
    return _gap(problem, *point, bias, _known(problem, state))


def _known(problem: DualProblem, state: ShardState) -> Any:
    """Which variables have a gradient that is up to date."""
    if state.near is None:
        return np.ones(problem.linear.size, dtype=bool)
    known = np.zeros((problem.copies, problem.samples), dtype=bool)
    known[:, state.near] = True
    return known.ravel()


def _point(problem: DualProblem, values: Float, members: Members) -> tuple[Float, Float]:
    """α and its gradient."""
    variables = np.zeros((problem.copies, problem.samples))
    variables[:, members.places] = members.alpha
    alpha = variables.ravel()
    return alpha, problem.gradient(alpha, values)


def _gap(problem: DualProblem, alpha: Float, gradient: Float, bias: Float, known: Any) -> float:
    """Σ_a loss_a − (e_a·α_a − ½ridge_a·α_a²) of known variables, see `dual.certificate`."""
    ridge = problem.ridge
    error = gradient + ridge * alpha - bias[problem.group]
    best = np.where(error > 0.0, problem.upper, problem.lower)
    bent = ridge > 0.0
    if bent.any():
        free = np.divide(error, ridge, out=np.zeros_like(error), where=bent)
        best = np.where(bent, np.clip(free, problem.lower, problem.upper), best)
    terms = (best - alpha) * (error - 0.5 * ridge * (best + alpha))
    return float(np.sum(terms, where=known))


def _copies(task: ShardTask) -> int:
    return 2 if task.machine == "epsilon_svr" else 1


def _taken(part: Part, posed: Posed, places: Int, task: ShardTask) -> Taken:
    rows = places if posed.rows is None else posed.rows[places]
    y = np.zeros(places.size) if part.y is None else np.asarray(part.y)[rows]
    problem, X = posed.problem, take(posed.X, places)
    if problem is None:
        empty = np.empty((_copies(task), 0))
        return Taken(places, rows, y, X, empty, empty, empty, empty, empty.astype(np.int64))

    def of(array: Any) -> Any:
        return array.reshape(problem.copies, -1)[:, places]

    variables = (problem.linear, problem.lower, problem.upper, problem.ridge, problem.group)
    return Taken(places, rows, y, X, *(of(array) for array in variables))


def kernel_sums(kernel: Kernel, X: Any, Z: Any, coef: Float, dtype: Any) -> Float:
    """Σ_j coef_j k(x_i, z_j) for all x_i, with bounded memory: from kernel values in `dtype`, or
    by interpolation in float64 where it is faster."""
    points = interpolation_at(kernel, X)
    if points is not None and points.pays(count(X), coef.size):
        return points.sums(X, Z, coef)
    total = np.zeros(count(X))
    width = max(1, BLOCK_ENTRIES // 64)  # a product of fewer rows is slow
    for left in range(0, coef.size, width):
        columns = slice(left, left + width)
        _add_sums(total, kernel, X, take(Z, columns), coef[columns], dtype)
    return total


def interpolation_at(kernel: Kernel, X: Any) -> Interpolation | None:
    """A method of sums at X that costs little for any number of terms, for kernels that have it."""
    return kernel.interpolation(X) if isinstance(kernel, Gaussian) else None


def _add_sums(total: Float, kernel: Kernel, X: Any, Z: Any, coef: Float, dtype: Any) -> None:
    step = max(1, BLOCK_ENTRIES // coef.size)
    write = kernel.evaluator(Z, dtype, X) if isinstance(kernel, VectorKernel) else None

    def some_rows(first: int, last: int) -> None:
        block: NDArray[Any] = np.empty((min(step, last - first), coef.size), dtype)
        for start in range(first, last, step):
            stop = min(start + step, last)
            rows = block[: stop - start]
            if write is None:
                rows[...] = kernel(take(X, slice(start, stop)), Z)
            else:
                write(X[start:stop], rows)
            total[start:stop] += rows.astype(np.float64, copy=False) @ coef

    width = Z.shape[1] if getattr(Z, "ndim", 1) == 2 else 1
    with single_threaded_blas():
        in_parts(some_rows, total.size, total.size * coef.size, width, least=min(step, 1024))
