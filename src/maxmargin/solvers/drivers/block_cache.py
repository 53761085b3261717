"""Row cache of the driver `blocks`: rows computed in batches into one preallocated buffer.

A new row overwrites the least recently used one, protected rows last. When columns settle, rows are
packed in place, and more of them fit.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...dual.problem import Float, Int
from ...kernels.base import Array, Gram
from ...kernels.row_sums import StoredRows, add_rows
from ...runtime.buffers import buffer
from ...runtime.costs import TERMS_AN_ENTRY
from ...runtime.jit import compiled
from ...runtime.parallel import in_parts
from ..rows.lru import BATCH_BYTES

Bool = NDArray[np.bool_]


class Sizes(NamedTuple):
    """Sizes of the memory for rows, and of the batches that fill it."""

    # Memory for at least this many rows is always allocated.
    fewest_rows: int = 8
    # Rows that are copied after they are computed come in smaller batches, because the first touch
    # of memory costs as much as the computation. Scratch memory is limited to `scratch_bytes` and
    # to this share of the row memory, but at least `fewest_scratch` bytes.
    scratch_bytes: int = 32 << 20
    scratch_share: float = 0.3
    fewest_scratch: int = 8 << 20


SIZES = Sizes()

# Rows computed in place come in batches of this many float32 multiplications, about a third of a
# second at 200 GFLOP/s.
BATCH_PRODUCTS = 4e10


def pack_rows(memory: Array, width: int, slots: Int, keep: Int) -> None:
    """Move some rows to the front in place, keeping only some columns; both indices ascending."""
    first = 0
    while first < slots.size:
        # Rows whose targets do not overlap their sources may move at the same time.
        last = min(max(first + 1, slots[first] * width // keep.size), slots.size)

        def some_rows(start: int, stop: int, first: int = first) -> None:
            move_rows(memory, width, slots, keep, first + start, first + stop)

        in_parts(some_rows, last - first, (last - first) * keep.size)
        first = last


@compiled
def move_rows(memory: Array, width: int, slots: Int, keep: Int, start: int, stop: int) -> None:
    for k in range(start, stop):
        here = memory[slots[k] * width : (slots[k] + 1) * width]
        there = memory[k * keep.size : (k + 1) * keep.size]
        for s in range(keep.size):
            there[s] = here[keep[s]]


def successive(slots: Int) -> bool:
    """Whether ascending slots are consecutive."""
    return slots.size == 0 or slots[-1] - slots[0] == slots.size - 1


class BlockRowCache:
    """Rows of a Gram matrix over all columns, or those that have not settled.

    Parameters
    ----------
    gram : Gram
    budget : float
        Bytes of memory for rows.
    block : int
        Largest number of rows in one request.
    pause : callable
        Called between batches; may raise.
    features : float
        Numbers per input; 0 if inputs are not vectors.
    """

    def __init__(
        self,
        gram: Gram,
        budget: float,
        block: int,
        pause: Callable[[], object],
        features: float = 0,
    ) -> None:
        self.gram, self.block, self.pause = gram, block, pause
        self.source = gram.source
        self.evaluations = self.misses = 0
        self.features = features
        item = gram.dtype.itemsize
        size = int(min(max(budget / item, SIZES.fewest_rows * gram.n), gram.n * gram.n))
        self.memory = buffer((size,), gram.dtype)
        share = max(SIZES.fewest_scratch, SIZES.scratch_share * self.memory.nbytes)
        self.scratch = int(min(SIZES.scratch_bytes, share))
        self.columns: Int | None = None  # None stands for all
        self._lay_out(gram.n)

    def _lay_out(self, n: int) -> None:
        """Divide the memory into empty rows of n columns."""
        slots = min(self.memory.size // n, n)
        self.n, self.clock = n, 0
        self.values = self.memory[: slots * n].reshape(slots, n)
        self.owner, self.slot = np.full(slots, -1), np.full(n, -1)
        self.used = np.zeros(slots, dtype=np.int64)
        self.most = slots  # number of rows that fit into memory

    def ensure(self, samples: Int, protected: Bool | None = None) -> None:
        """Load the rows of samples (indices into the columns, at most `most`).

        `protected` is a mask over the columns: their rows are overwritten only after all others.
        """
        self.clock += 1
        slots = self.slot[samples]
        self.used[slots[slots >= 0]] = self.clock
        missing = samples[slots < 0]
        self._fill(missing, self._slots_to_overwrite(missing.size, protected))

    def between(self, left: Int, right: Int) -> Array:
        """The block of some samples with others (indices into the columns), without their rows."""
        if not left.size:
            return np.zeros((0, right.size), self.gram.dtype)
        if self.columns is not None:
            left, right = self.columns[left], self.columns[right]
        self.evaluations += left.size * right.size
        return self.source.rows(left, right)

    def among(self, samples: Int) -> Array:
        """The matrix of a block (indices into the columns), without its rows; there is no pause, as
        it takes no longer than the steps on it."""
        names = samples if self.columns is None else self.columns[samples]
        self.evaluations += names.size * (names.size + 1) // 2
        return self.source.matrix_among(names)

    def _slots_to_overwrite(self, count: int, protected: Bool | None) -> Int:
        """Ascending slots for `count` new rows; their current rows are dropped."""
        empty = np.flatnonzero(self.owner < 0)
        if empty.size >= count:
            return empty[:count]
        order = self.used.astype(np.float64)
        order[self.owner < 0] = -1.0
        if protected is not None:
            occupied = np.flatnonzero(self.owner >= 0)
            order[occupied[protected[self.owner[occupied]]]] += self.clock
        order[self.used == self.clock] = np.inf
        slots = np.sort(np.argsort(order, kind="stable")[:count])
        owners = self.owner[slots]
        self.slot[owners[owners >= 0]] = -1
        self.owner[slots] = -1
        return slots

    def _fill(self, samples: Int, slots: Int) -> None:
        in_place = successive(slots)
        for batch in self._batches(samples.size, in_place):
            part, place = samples[batch], slots[batch]
            ids = part if self.columns is None else self.columns[part]
            if in_place or successive(place):
                self.source.rows(ids, self.columns, self.values[place[0] : place[-1] + 1])
            else:
                rows = buffer((part.size, self.n), self.gram.dtype)
                self.values[place] = self.source.rows(ids, self.columns, rows)
            self._own(place, part)
            self.misses += part.size
            self.pause()

    def _batches(self, count: int, in_place: bool) -> list[slice]:
        """Slices of `count` rows, about equal, to be computed one after the other."""
        size = self.n * self.gram.dtype.itemsize
        if not in_place:
            most = self.scratch / size
        elif not self.features:
            most = BATCH_BYTES / size
        else:
            most = 4 * BATCH_PRODUCTS / (size * (self.features + TERMS_AN_ENTRY))
        batches = int(np.ceil(count / max(1, int(most))))
        if batches <= 1:
            return [slice(0, count)] * batches
        edges = [count * k // batches for k in range(batches + 1)]
        return [slice(start, stop) for start, stop in pairwise(edges)]

    def _own(self, slots: Int, samples: Int) -> None:
        """Record that new rows of samples are in these slots."""
        self.owner[slots], self.slot[samples] = samples, slots
        self.used[slots] = self.clock
        self.evaluations += samples.size * self.n

    @property
    def full(self) -> bool:
        """Whether another block would overwrite rows."""
        return bool(np.count_nonzero(self.owner < 0) < self.block)

    def has(self, samples: Int) -> Bool:
        """Mask of the samples (indices into the columns) whose rows are in memory."""
        return self.slot[samples] >= 0

    def combine(self, samples: Int, coefficients: Float) -> Float:
        """Σ coefficients·rows over all columns, of rows in memory."""
        total = np.zeros(self.n)
        add_rows(total, self.values, self.slot[samples], coefficients)
        return total

    def sums(self, support: Int, coefficients: Float) -> Float:
        """Σ coefficients·K[support] for every sample, from rows in memory where possible."""
        columns = np.arange(self.gram.n) if self.columns is None else self.columns
        place = np.full(self.gram.n, -1)
        place[columns] = np.arange(columns.size)
        here = place[support] >= 0
        here[here] = self.has(place[support[here]])
        total = np.zeros(self.gram.n)
        total[columns] = self.combine(place[support[here]], coefficients[here])
        total[columns] += self.expansion(support[~here], coefficients[~here], self.columns)
        away = np.flatnonzero(place < 0)
        total[away] = self.expansion(support, coefficients, away)
        return total

    def expansion(self, support: Int, coefficients: Float, columns: Int | None) -> Float:
        """Σ coefficients·K[support, columns] from scratch; all indices are of the whole matrix."""
        width = self.gram.n if columns is None else columns.size
        total = np.zeros(width)
        if not width:
            return total
        batch = max(1, min(self.block, self.scratch // (width * self.gram.dtype.itemsize)))
        scratch = buffer((min(batch, support.size), width), self.gram.dtype)
        for first in range(0, support.size, batch):
            part = support[first : first + batch]
            values = self.source.rows(part, columns=columns, out=scratch[: part.size])
            add_rows(total, values, np.arange(part.size), coefficients[first : first + batch])
            self.evaluations += part.size * width
            self.pause()
        return total

    def restrict(self, keep: Int) -> None:
        """Keep only some columns (indices into the columns, ascending)."""
        place = np.full(self.n, -1)
        place[keep] = np.arange(keep.size)
        slots = np.flatnonzero(self.owner >= 0)
        slots = slots[place[self.owner[slots]] >= 0]
        pack_rows(self.memory, self.n, slots, keep)
        owners, used, clock = place[self.owner[slots]], self.used[slots], self.clock
        self.columns = keep if self.columns is None else self.columns[keep]
        self._lay_out(keep.size)
        self.owner[: owners.size] = owners
        self.used[: owners.size], self.clock = used, clock
        self.slot[owners] = np.arange(owners.size)

    def reset(self, columns: Int | None) -> None:
        """Start again with the given columns of the whole matrix; None stands for all."""
        self.columns = columns
        self._lay_out(self.gram.n if columns is None else columns.size)

    def give_back(self) -> None:
        """Offer the rows to the Gram matrix and release the memory."""
        if self.columns is None:
            self.gram.keep_rows(StoredRows(self.values, self.slot))
        del self.memory, self.values, self.pause, self.source
