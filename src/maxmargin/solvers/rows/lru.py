"""Gram rows for the compiled loop: the whole matrix in memory, or an LRU cache of rows.

Both have the same interface over a set of samples (the *columns*: all samples, or those that
shrinking has left active): the row store for the compiled loop, one missing row, a small dense
block, a linear combination of rows, and a restriction to fewer columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...dual.problem import Float, Int
from ...kernels.base import Array, Gram
from ...kernels.row_sums import add_rows
from ...runtime.buffers import buffer
from ...runtime.jit import compiled
from ...runtime.parallel import in_parts
from ..smo.state import RowStore

# Placeholder for "no source of rows", in both precisions.
NOWHERE = {
    np.dtype(kind): (np.empty((0, 0), kind), np.empty(0, np.int64), np.zeros(2, np.int64))
    for kind in (np.float32, np.float64)
}

# Rows are computed in batches of about this many bytes.
BATCH_BYTES = 32 << 20


@compiled
def gather_rows(
    block: Array, values: Array, rows: Int, columns: Int, start: int, stop: int
) -> None:
    """block[start:stop] = values[rows[start:stop], columns]"""
    for k in range(start, stop):
        row = values[rows[k]]
        for s in range(columns.size):
            block[k, s] = row[columns[s]]


@compiled
def gather_block(values: Array, rows: Int, columns: Int) -> Array:
    block = np.empty((rows.size, columns.size), values.dtype)
    gather_rows(block, values, rows, columns, 0, rows.size)
    return block


class FullRows:
    """The whole Gram matrix in memory.

    If `values` is given (the same matrix in another precision), the loop works on it instead.
    """

    def __init__(self, matrix: Array, evaluations: int = 0, values: Array | None = None) -> None:
        self.matrix = matrix
        self.n = matrix.shape[0]
        self.evaluations = evaluations
        self.misses = 0
        values = matrix if values is None else values
        self.store = RowStore(
            values,
            np.arange(self.n),
            np.zeros(self.n, dtype=np.int64),
            *NOWHERE[values.dtype],
        )

    @classmethod
    def of(cls, gram: Gram, pause: Callable[[], object] | None = None) -> FullRows:
        """Compute the matrix block by block; `pause` is called between blocks and may raise."""
        if gram.whole is not None:
            return cls(gram.whole)
        return cls(gram.matrix(pause), gram.n**2)

    def restricted(self, keep: Int) -> FullRows:
        return FullRows(self.block(keep, self.matrix.dtype), self.evaluations)

    def block(self, samples: Int, dtype: Any = np.float64) -> Array:
        block = buffer((samples.size, samples.size), dtype)

        def some_rows(start: int, stop: int) -> None:
            gather_rows(block, self.matrix, samples, samples, start, stop)

        in_parts(some_rows, samples.size, block.size)
        return block

    def combine(self, samples: Int, coefficients: Float) -> Float:
        """Σ coefficients·rows over all columns, in float64."""
        total = np.zeros(self.n)
        add_rows(total, self.matrix, samples, coefficients)
        return total


class CachedRows:
    """Rows computed on demand; when memory is full, the least recently used one is overwritten."""

    def __init__(
        self,
        gram: Gram,
        budget: float,
        columns: Int | None = None,
        evaluations: int = 0,
        misses: int = 0,
    ) -> None:
        self.gram = gram
        self.budget = budget
        self.columns = np.arange(gram.n) if columns is None else columns
        self.n = self.columns.size
        self.evaluations = evaluations
        self.misses = misses
        # The loop may need the rows of two pairs at once.
        affordable = max(budget / (self.n * gram.dtype.itemsize), 4)
        slots = int(min(affordable, self.n))
        self.owner = np.full(slots, -1)
        self.store = RowStore(
            np.empty((slots, self.n), dtype=gram.dtype),
            np.full(self.n, -1),
            np.zeros(slots, dtype=np.int64),
            *NOWHERE[gram.dtype],
        )
        self.filled = 0

    def fetch(self, sample: int, clock: int) -> None:
        """Load the row of a sample (an index into the columns)."""
        if self.filled < self.owner.size:
            slot = self.filled
            self.filled += 1
        else:
            slot = int(np.argmin(self.store.used))
            self.store.slot[self.owner[slot]] = -1
        self._compute(np.array([sample]), self.store.values[slot : slot + 1])
        self._own(slot, sample, clock)
        self.misses += 1

    def _own(self, slot: int, sample: int, clock: int) -> None:
        self.owner[slot] = sample
        self.store.slot[sample] = slot
        self.store.used[slot] = clock

    def _compute(self, samples: Int, out: Array) -> None:
        everything = self.n == self.gram.n
        self.gram.rows(self.columns[samples], columns=None if everything else self.columns, out=out)
        self.evaluations += samples.size * self.n

    def restricted(self, keep: Int) -> CachedRows:
        """A cache for fewer columns that keeps as many rows as fit, most recent first."""
        fewer = CachedRows(
            self.gram, self.budget, self.columns[keep], self.evaluations, self.misses
        )
        present = np.flatnonzero(self.store.slot[keep] >= 0)
        slots = self.store.slot[keep[present]]
        recent = np.argsort(-self.store.used[slots], kind="stable")[: fewer.owner.size]
        for slot, k in enumerate(recent):
            fewer.store.values[slot] = self.store.values[slots[k]][keep]
            fewer._own(slot, present[k], self.store.used[slots[k]])
        fewer.filled = recent.size
        return fewer

    def block(self, samples: Int, dtype: Any = np.float64) -> Array:
        block = self.gram.rows(self.columns[samples], columns=self.columns[samples])
        self.evaluations += block.size
        return block.astype(dtype)

    def combine(self, samples: Int, coefficients: Float) -> Float:
        total = np.zeros(self.n)
        cached = self.store.slot[samples] >= 0
        add_rows(total, self.store.values, self.store.slot[samples[cached]], coefficients[cached])
        samples, coefficients = samples[~cached], coefficients[~cached]
        batch = max(1, BATCH_BYTES // (self.n * self.gram.dtype.itemsize))
        for start in range(0, samples.size, batch):
            part = samples[start : start + batch]
            out = np.empty((part.size, self.n), dtype=self.gram.dtype)
            self._compute(part, out)
            add_rows(total, out, np.arange(part.size), coefficients[start : start + batch])
        return total
