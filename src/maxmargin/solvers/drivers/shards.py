"""All samples, as the driver `blocks` sees them: α, gradients, and some rows of the Gram matrix.

The driver makes four requests only: the violation, the most violating samples, the block of given
samples, and the application of a change of α. Rows never leave this module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...dual.problem import DualProblem, Float, Int
from ...kernels.base import Array, Gram
from ...kernels.row_sums import KnownSums
from ...runtime.buffers import buffer
from ...runtime.jit import borrowing, compiled
from ...runtime.parallel import in_parts
from .. import costs
from ..plan import Plan
from ..rows.lru import FullRows
from .block_cache import BlockRowCache
from .working_set import Active, Bool, marked


@compiled
def assemble(
    block: Array,
    last: Array,
    known: Int,
    values: Array,
    slots: Int,
    columns: Int,
    alone: Int,
    new: Int,
    small: Array,
    start: int,
    stop: int,
) -> None:
    """Fill the rows of the block that are available without kernel evaluations.

    Entries between samples of the last block are copied from there, others from the cached row of
    a sample. Samples in `alone` have no cached row; those of them that are `new` to the block have
    a row of `small`, with a column for each of `alone`. `complete` fills the rest by symmetry.
    """
    for i in range(start, stop):
        if known[i] >= 0:
            old = last[known[i]]
            for j in range(known.size):
                block[i, j] = old[max(known[j], 0)]
            if slots[i] >= 0:
                row = values[slots[i]]
                for j in new:
                    block[i, j] = row[columns[j]]
        elif slots[i] >= 0:
            row = values[slots[i]]
            for j in range(known.size):
                block[i, j] = row[columns[j]]
    for k in range(new.size):
        if start <= new[k] < stop:
            for t in range(alone.size):
                block[new[k], alone[t]] = small[k, t]


@compiled
def complete(
    block: Array, known: Int, slots: Int, apart: Int, new: Int, fresh: Int, start: int, stop: int
) -> None:
    """Fill the remaining entries of some rows by symmetry: columns of samples `fresh` to the block,
    which have cached rows; columns of `new` samples in rows without a cached row; and, in rows of
    new samples, columns of all samples `apart` that have one.
    """
    for i in range(start, stop):
        if known[i] >= 0:
            for j in fresh:
                block[i, j] = block[j, i]
            if slots[i] < 0:
                for j in new:
                    block[i, j] = block[j, i]
        elif slots[i] < 0:
            for j in apart:
                block[i, j] = block[j, i]


def mark_most(
    gradient: Float, rise: Float, fall: Float, top: float, bottom: float, count: int, marks: Bool
) -> None:
    """Mark the samples of the variables that violate most: the `count` with the largest gradient
    above `bottom` of those that may rise, the `count` with the smallest below `top` of those that
    may fall, or all of them where they are fewer.

    Variable a belongs to sample a % len(marks). Ties are broken evenly over the variables.
    """
    scores, limits = np.empty((2, gradient.size)), [bottom, -top]
    above_limits = gather_scores(gradient, rise, fall, top, bottom, scores)
    for k, (sign, penalty, above) in enumerate(zip((1.0, -1.0), (rise, fall), above_limits)):
        if above <= count:
            continue
        best = np.partition(scores[k, :above], above - count)
        limit = best[above - count]
        equal = int(np.count_nonzero(best == limit))
        missing = int(np.count_nonzero(best[above - count :] == limit))
        if missing < equal:
            mark_equal(gradient, penalty, sign, limit, missing, equal, marks)
        else:
            limit = np.nextafter(limit, -np.inf)
        limits[k] = limit
    mark_above(gradient, rise, fall, limits[0], limits[1], marks)


@borrowing
def gather_scores(
    gradient: Float, rise: Float, fall: Float, top: float, bottom: float, scores: Float
) -> tuple[int, int]:
    """Write the gradients above `bottom` that may rise to the front of the first line of `scores`,
    those below `top` that may fall, with the other sign, to the second; returns their numbers."""
    up = down = 0
    for a in range(gradient.size):
        scores[0, up] = score = gradient[a] + rise[a]
        up += score > bottom
        scores[1, down] = score = -(gradient[a] + fall[a])
        down += score > -top
    return up, down


@borrowing
def mark_above(
    gradient: Float, rise: Float, fall: Float, least_up: float, least_down: float, marks: Bool
) -> None:
    """Mark the samples of all variables with a score above the limits."""
    for a in range(gradient.size):
        if gradient[a] + rise[a] > least_up or -(gradient[a] + fall[a]) > least_down:
            marks[a % marks.size] = True


@borrowing
def mark_equal(
    gradient: Float, penalty: Float, sign: float, score: float, count: int, there: int, marks: Bool
) -> None:
    """Mark the samples of `count` of the `there` variables with just this score, evenly spread."""
    passed = 0
    for a in range(gradient.size):
        if sign * (gradient[a] + penalty[a]) == score:
            passed += count
            if passed >= there:
                passed -= there
                marks[a % marks.size] = True


def _copy_rows(to: Array, rows: Array, start: int, stop: int) -> None:
    to[start:stop] = rows[start:stop]


class Samples:
    """All samples: their α and gradient, and rows of their Gram matrix.

    Samples that have settled at a bound are left out of rows and gradients until `return_all`: they
    are not *live*. Samples are identified by their index in the problem.

    A row is computed when its sample moves, not when it enters a block: half of the samples in
    blocks do not move. If the plan says `recompute`, the kernel values of a block are computed even
    if they are in cached rows, which are too long to stay in the processor's cache.
    """

    def __init__(
        self,
        problem: DualProblem,
        gram: Gram,
        alpha: Float,
        plan: Plan,
        pause: Callable[[], object],
    ) -> None:
        self.problem, self.alpha, self.block_size = problem, alpha, plan.block
        self.recompute = plan.recompute
        self.diagonal = gram.diagonal()
        self.rows = BlockRowCache(gram, plan.row_bytes, plan.block, pause, plan.features)
        # Coefficients at the last reconstruction of all gradients.
        self.returned_with: Float | None = None
        # Of the live samples as they are, if known: which have a free variable, extreme gradients.
        self.is_free: Bool | None = None
        self.extremes: Float | None = None
        self.in_last = np.full(problem.samples, -1)  # place of each sample in the last block
        self.seen = np.zeros(problem.samples, dtype=bool)  # samples that have been in a block
        self.last = np.zeros(0, dtype=np.int64)  # the last block, and its matrix
        self.last_matrix = np.zeros((0, 0), dtype=gram.dtype)
        self.gradient = problem.gradient(alpha, self._pull())
        self.live = Active.of(problem, self.rows, self.diagonal, alpha, self.gradient)
        self.complete = True

    def violation(self) -> float:
        """ψ of the live samples; the extreme gradients behind it are noted for the next block."""
        self.extremes = np.empty((2, self.problem.totals.size))
        return self.live.violation(*self.extremes)

    def most_violating(self, count: int) -> Int:
        """About `count` samples: the most violating ones upwards and downwards, in each group."""
        v, marks = self.live.v, np.zeros(self.live.size, dtype=np.bool_)
        tops, bottoms = self.live.extremes() if self.extremes is None else self.extremes
        share = max(1, count // (2 * tops.size))
        for g in range(tops.size):
            mark_most(v.gradient, v.rise[g], v.fall[g], tops[g], bottoms[g], share, marks)
        return self.live.samples[marks]

    def block(self, samples: Int) -> Active:
        """These samples as an `Active` set of their own."""
        whole = self.live.size == self.problem.samples
        places = samples if whole else np.searchsorted(self.live.samples, samples)
        self.seen[samples] = True
        anew = self.recompute and self.rows.gram.tiled
        matrix = self.rows.among(places) if anew else self._read_off(samples, places)
        # The loop is compiled for float64: to convert a block takes less than one pass over it.
        values = buffer(matrix.shape, np.float64)
        if samples.size <= self.block_size:
            values[...] = matrix
        else:  # in memory that earlier blocks have not touched, which takes longer
            in_parts(partial(_copy_rows, values, matrix), samples.size, matrix.size)
        return self.live.part(places, FullRows(matrix, values=values))

    def _read_off(self, samples: Int, places: Int) -> Array:
        """The matrix of these samples, from the last block and cached rows where possible."""
        known = self.in_last[samples]
        slots = np.full(places.size, -1) if self.recompute else self.rows.slot[places]
        alone, apart = np.flatnonzero(slots < 0), np.flatnonzero(slots >= 0)
        new, fresh = alone[known[alone] < 0], apart[known[apart] < 0]
        small = self.rows.between(places[new], places[alone])
        matrix = buffer((samples.size, samples.size), small.dtype)
        last, values = self.last_matrix, self.rows.values

        def read(start: int, stop: int) -> None:
            assemble(matrix, last, known, values, slots, places, alone, new, small, start, stop)

        def mirror(start: int, stop: int) -> None:
            complete(matrix, known, slots, apart, new, fresh, start, stop)

        in_parts(read, samples.size, matrix.size)
        in_parts(mirror, samples.size, matrix.size)
        self._remember(samples, matrix)
        return matrix

    def apply(self, part: Active) -> None:
        """Copy the α of a block, and update the gradients of all live samples."""
        alpha = part.v.alpha.reshape(-1, part.size)
        variables = part.variables.reshape(-1, part.size)
        moved = (alpha != self.live.v.alpha[variables]).any(axis=0)
        places, alpha, variables = variables[0, moved], alpha[:, moved], variables[:, moved]
        protected = self.live.has_free() if self.is_free is None else self.is_free
        most, self.is_free, self.extremes = self.rows.most, None, None
        # If memory is short, only some rows fit at a time.
        for first in range(0, places.size, most):
            some = slice(first, first + most)
            self.rows.ensure(places[some], protected)
            self.live.place(variables[:, some].ravel(), alpha[:, some].ravel())
        self.complete = self.live.size == self.problem.samples

    def _pull(self) -> Float:
        """Kα, whose rows stay in memory as far as they fit."""
        support, coefficients = self._expansion()
        pull = np.zeros(self.problem.samples)
        most = min(self.block_size, self.rows.most)
        for first in range(0, support.size, most):
            part = slice(first, first + most)
            self.rows.ensure(support[part])
            pull += self.rows.combine(support[part], coefficients[part])
        return pull

    def settle(self) -> None:
        """Leave out the samples that have settled, if enough have."""
        if self.returned_with is not None:
            return
        most = 1.0 - costs.LEAST_SETTLED
        if not self.rows.full:
            # There is memory for more rows, and values at settled samples are computed in the end:
            # few samples of many have to stay, and to have α ≠ 0.
            if not self.recompute or self.live.size < costs.MANY_SAMPLES:
                return
            most = 0.25
            if np.count_nonzero(self.live.v.alpha) > most * self.live.size:
                return
        keep = self.live.staying()
        if 2 <= keep.size < most * self.live.size:
            self.live.write(self.alpha, self.gradient)
            self.rows.restrict(keep)
            self.live, self.is_free = self.live.part(keep, self.rows), None
            self.complete = False

    def return_all(self) -> None:
        """Reconstruct all gradients; samples that are not settled after all become live again."""
        if self.returned_with is None:
            self.refresh()
            return
        problem = self.problem
        self.live.write(self.alpha, self.gradient)
        away = np.setdiff1d(np.arange(problem.samples), self.live.samples, assume_unique=True)
        variables = (np.arange(problem.copies)[:, None] * problem.samples + away).ravel()
        coefficients = problem.per_sample(self.alpha)
        change = coefficients - self.returned_with
        moved = np.flatnonzero(change)
        pull = self.rows.expansion(moved, change[moved], away)
        self.gradient[variables] -= np.tile(pull, problem.copies)
        self.returned_with = coefficients
        self._revive()

    def refresh(self) -> None:
        """Recompute all gradients, free of accumulated rounding."""
        self.live.write(self.alpha, self.gradient)
        pull = self.rows.sums(*self._expansion())
        self.gradient = self.problem.gradient(self.alpha, pull)
        self.returned_with = self.problem.per_sample(self.alpha)
        self.rows.gram.keep_sums(KnownSums(self.returned_with, pull))
        self._revive()

    def _revive(self) -> None:
        self.is_free = self.extremes = None
        self.live = Active.of(self.problem, self.rows, self.diagonal, self.alpha, self.gradient)
        keep = self.live.staying()
        self.rows.reset(None)
        if 2 <= keep.size < (1.0 - costs.LEAST_SETTLED) * self.live.size:
            self.rows.reset(keep)
            self.live = self.live.part(keep, self.rows)
        self._forget_blocks()
        self.complete = True

    def _remember(self, samples: Int, matrix: Array) -> None:
        """Keep the last block and its matrix, for the next block to copy from."""
        self.in_last[self.last] = -1
        self.in_last[samples] = np.arange(samples.size)
        self.last, self.last_matrix = samples, matrix

    def _forget_blocks(self) -> None:
        """Forget the last block: the live samples have changed."""
        self.in_last[self.last] = -1
        self.seen[:] = False

    def free(self) -> Int:
        """The samples with a free variable."""
        self.is_free = self.live.has_free()
        return self.live.samples[self.is_free]

    def new_among(self, samples: Int) -> int:
        """Number of these samples that have never been in a block."""
        return int(np.count_nonzero(~self.seen[samples]))

    def is_live(self) -> Bool:
        """Mask of the live samples."""
        return marked(self.live.samples, self.problem.samples)

    def _expansion(self) -> tuple[Int, Float]:
        coefficients = self.problem.per_sample(self.alpha)
        support = np.flatnonzero(coefficients)
        return support, coefficients[support]
