"""Long Gram rows for the driver `blocks`: computed in batches, kept in memory touched once.

A new row overwrites the one that was of use longest ago, of those that are not called precious
as long as there are any. When columns settle, the rows in memory are packed in place, and more of
them fit.
"""

from __future__ import annotations

import numpy as np

from ..compiled import compiled
from ..kernels.held import HeldRows, add_rows
from ..memory import room
from .rows import BATCH_BYTES

# There is room for at least this many blocks.
FEWEST_BLOCKS = 3
# Rows that do not stay where they are computed come in smaller batches: memory that is touched for
# the first time costs as much as what is computed into it.
SCRATCH_BYTES = 32 << 20


@compiled
def pack_rows(memory, width, slots, keep):
    """Move some rows to the front, keeping only some columns; both ascending, in place."""
    for k in range(slots.size):
        for s in range(keep.size):
            memory[k * keep.size + s] = memory[slots[k] * width + keep[s]]


def successive(slots):
    """Whether slots, ascending, have no others in between."""
    return slots.size == 0 or slots[-1] - slots[0] == slots.size - 1


class LongRows:
    """Rows of a Gram matrix over all columns, or those that are not settled.

    Parameters
    ----------
    gram : Gram
    budget : float
        Bytes of memory for rows.
    block : int
        The largest number of rows asked for at once.
    pause : callable
        Called between batches; may raise.
    """

    def __init__(self, gram, budget, block, pause):
        self.gram, self.block, self.pause = gram, block, pause
        self.columns = None  # all of them
        self.evaluations = self.misses = 0
        item = gram.dtype.itemsize
        fewest = FEWEST_BLOCKS * min(block, gram.n) * gram.n
        size = int(min(max(budget / item, fewest), gram.n * gram.n))
        self.memory = room((size,), gram.dtype)
        self._lay_out(gram.n)

    def _lay_out(self, n):
        """Arrange the memory as rows of n columns, none of them known."""
        slots = min(self.memory.size // n, n)
        self.n, self.clock = n, 0
        self.values = self.memory[: slots * n].reshape(slots, n)
        self.owner, self.slot = np.full(slots, -1), np.full(n, -1)
        self.used = np.zeros(slots, dtype=np.int64)

    def ensure(self, samples, precious=None):
        """Have the rows of samples (indices into the columns, at most a block) in memory.

        `precious` says of every column whether its row is to be kept as long as others are there.
        """
        self.clock += 1
        slots = self.slot[samples]
        self.used[slots[slots >= 0]] = self.clock
        missing = samples[slots < 0]
        self._fill(missing, self._given_up(missing.size, precious))

    def between(self, left, right):
        """The block of some samples with others (indices into the columns), without their rows."""
        if not left.size:
            return np.zeros((0, right.size), self.gram.dtype)
        if self.columns is not None:
            left, right = self.columns[left], self.columns[right]
        self.evaluations += left.size * right.size
        return self.gram.rows(left, right)

    def _given_up(self, count, precious):
        """Slots for `count` new rows, ascending; what they hold is forgotten."""
        empty = np.flatnonzero(self.owner < 0)
        if empty.size >= count:
            return empty[:count]
        order = self.used.astype(np.float64)
        order[self.owner < 0] = -1.0
        if precious is not None:
            held = np.flatnonzero(self.owner >= 0)
            order[held[precious[self.owner[held]]]] += self.clock
        order[self.used == self.clock] = np.inf
        slots = np.sort(np.argsort(order, kind="stable")[:count])
        owners = self.owner[slots]
        self.slot[owners[owners >= 0]] = -1
        self.owner[slots] = -1
        return slots

    def _fill(self, samples, slots):
        size = BATCH_BYTES if successive(slots) else SCRATCH_BYTES
        batch = max(1, size // (self.n * self.gram.dtype.itemsize))
        for first in range(0, samples.size, batch):
            part, place = samples[first : first + batch], slots[first : first + batch]
            ids = part if self.columns is None else self.columns[part]
            if successive(place):
                self.gram.rows(ids, self.columns, self.values[place[0] : place[-1] + 1])
            else:
                rows = room((part.size, self.n), self.gram.dtype)
                self.values[place] = self.gram.rows(ids, self.columns, rows)
            self.owner[place] = part
            self.slot[part] = place
            self.used[place] = self.clock
            self.evaluations += part.size * self.n
            self.misses += part.size
            self.pause()

    @property
    def full(self):
        """Whether another block would overwrite rows."""
        return np.count_nonzero(self.owner < 0) < self.block

    def combine(self, samples, coefficients):
        """Σ coefficients·rows over all columns, of rows in memory."""
        total = np.zeros(self.n)
        add_rows(total, self.values, self.slot[samples], coefficients)
        return total

    def sums(self, support, coefficients):
        """Σ coefficients·K[support] for every sample, from rows in memory where there are any."""
        columns = np.arange(self.gram.n) if self.columns is None else self.columns
        place = np.full(self.gram.n, -1)
        place[columns] = np.arange(columns.size)
        here = place[support] >= 0
        here[here] = self.slot[place[support[here]]] >= 0
        total = np.zeros(self.gram.n)
        total[columns] = self.combine(place[support[here]], coefficients[here])
        total[columns] += self.expansion(support[~here], coefficients[~here], self.columns)
        away = np.flatnonzero(place < 0)
        total[away] = self.expansion(support, coefficients, away)
        return total

    def expansion(self, support, coefficients, columns):
        """Σ coefficients·K[support, columns] from scratch; all indices are of the whole matrix."""
        width = self.gram.n if columns is None else columns.size
        total = np.zeros(width)
        if not width:
            return total
        batch = max(1, min(self.block, SCRATCH_BYTES // (width * self.gram.dtype.itemsize)))
        scratch = room((min(batch, support.size), width), self.gram.dtype)
        for first in range(0, support.size, batch):
            part = support[first : first + batch]
            values = self.gram.rows(part, columns=columns, out=scratch[: part.size])
            add_rows(total, values, np.arange(part.size), coefficients[first : first + batch])
            self.evaluations += part.size * width
            self.pause()
        return total

    def restrict(self, keep):
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

    def reset(self, columns):
        """Start anew with the given columns of the whole matrix; None stands for all."""
        self.columns = columns
        self._lay_out(self.gram.n if columns is None else columns.size)

    def give_back(self):
        """End: the matrix may keep the rows, and the run is free of this reference to it."""
        if self.columns is None:
            self.gram.keep_rows(HeldRows(self.values, self.slot))
        self.memory = self.values = self.pause = None
