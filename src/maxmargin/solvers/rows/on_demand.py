"""Rows computed by compiled code when the loop first needs them.

A problem with few support vectors needs few rows. Their number is not known in advance, but can be
extrapolated early from how much the rows so far have reduced the sum of violations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dual.problem import Float, Int
from ...kernels.base import Array, Gram
from ...kernels.row_sums import StoredRows, add_rows
from ...kernels.vector.gaussian_blocks import fill_gaussian_row
from ...runtime.buffers import buffer
from ...runtime.jit import borrowing, inlined
from .. import costs
from ..smo.state import RowStore
from .lru import FullRows

# Slots of `RowStore.count`.
PRESENT, ALLOWED = range(2)
TINY = float(np.finfo(np.float64).tiny)


@inlined
def compute_row(rows: RowStore, sample: int) -> bool:
    """Compute the row of a sample; false if there is no source or no more rows are allowed."""
    present = rows.count[PRESENT]
    if present >= rows.count[ALLOWED]:
        return False
    row = rows.values[present]
    if rows.places.size:
        whole, places = rows.source[rows.places[sample]], rows.places
        for s in range(row.size):
            row[s] = whole[places[s]]
    else:
        fill_gaussian_row(rows.source, sample, row)
    rows.slot[sample] = present
    rows.count[PRESENT] += 1
    return True


@borrowing
def bring(rows: RowStore, samples: Int) -> None:
    """Compute the missing rows of samples."""
    for k in range(samples.size):
        if rows.slot[samples[k]] < 0:
            compute_row(rows, samples[k])


class OnDemandRows:
    """Rows of a Gaussian, computed by the loop itself from `points`, one column per sample."""

    def __init__(self, gram: Gram, points: Array, most: int, always: bool) -> None:
        self.gram, self.n = gram, gram.n
        self.most, self.always = most, always
        self.progress = 0.0
        self.elsewhere = 0  # kernel evaluations that were not stored as rows
        self.store = RowStore(
            buffer((most, self.n), gram.dtype),
            np.full(self.n, -1),
            np.zeros(most, dtype=np.int64),
            points,
            np.empty(0, np.int64),
            np.array([0, costs.FIRST_ON_DEMAND]),
        )

    @classmethod
    def of(cls, gram: Gram, budget: float, always: bool) -> OnDemandRows:
        """Rows of a Gram matrix in at most `budget` bytes; `always` allows rows at any cost."""
        points = gram.transposed_points()
        assert points is not None
        most = int(min(gram.n, budget / (gram.n * gram.dtype.itemsize)))
        cheapest = len(points) <= costs.CHEAPEST_FEATURES
        return cls(gram, points, most, always=always and cheapest)

    @property
    def misses(self) -> int:
        return int(self.store.count[PRESENT])

    @property
    def evaluations(self) -> int:
        return self.elsewhere + self.misses * self.n

    def go_on(self, progress: float) -> bool:
        """Whether to allow more rows, given that those present reduced violations by this part."""
        features, present = len(self.store.source), self.misses
        forth, self.progress = progress > self.progress, progress
        to_come = present * (1.0 - progress) / max(progress, TINY)
        cost = (1.0 + features / costs.FEATURES_PER_COST) * to_come
        promising = forth and cost <= costs.AFFORDABLE * self.n
        if present == self.most or not (promising or self.always):
            return False
        self.store.count[ALLOWED] = min(2 * present, self.most)
        return True

    def stored(self) -> StoredRows:
        return StoredRows(self.store.values[: self.misses], self.store.slot)

    def restricted(self, keep: Int) -> FullRows:
        return FullRows(self.block(keep, self.gram.dtype), self.evaluations)

    def block(self, samples: Int, dtype: Any = np.float64) -> Array:
        block = self.gram.rows(samples, columns=samples)
        self.elsewhere += block.size
        return block.astype(dtype, copy=False)

    def combine(self, samples: Int, coefficients: Float) -> Float:
        store = self.store
        allowed, store.count[ALLOWED] = store.count[ALLOWED], len(store.values)
        bring(store, samples)
        store.count[ALLOWED] = allowed
        here = store.slot[samples] >= 0
        total = np.zeros(self.n)
        add_rows(total, store.values, store.slot[samples[here]], coefficients[here])
        if not here.all():
            others = self.gram.rows(samples[~here])
            self.elsewhere += others.size
            total += coefficients[~here] @ others
        return total
