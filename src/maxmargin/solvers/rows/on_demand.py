"""Rows that arrive when the loop asks for them, made in compiled code.

A problem with few support vectors needs few of its rows. How many it will be cannot be known, but
it shows early: each row that moved so far has lessened the violations of all samples by its part.
"""

from __future__ import annotations

import numpy as np

from ...kernels.row_sums import HeldRows, add_rows
from ...kernels.vector.exp import COMPILED
from ...kernels.vector.gaussian_rows import fill_gaussian_row
from ...runtime.buffers import room
from ...runtime.jit import borrowing, inlined
from ..smo.state import RowStore
from .lru import FullRows

PRESENT, ALLOWED = 0, 1
TINY = float(np.finfo(np.float64).tiny)
# Of fewer samples the whole matrix costs nothing worth saving; where rows cost as little, of fewer
# than the latter.
WORTH_WHILE, SURELY_WORTH_WHILE = 700, 150
# Rows before it is asked for the first time whether to go on.
FIRST = 16
# A single row costs this many times what it does in the whole matrix, and once more for each so
# many features.
DEARNESS, FEATURES = 1.0, 25
# The rows still to come, taken to be so many times as many as at the pace so far, are to cost this
# part of the whole matrix, at most ...
CAUTION, AFFORDABLE = 3.0, 0.45
# ... but of no more features than these any number of rows is as cheap.
SURELY_CHEAP = 4
# Where the whole matrix is out of the question, rows have no more features than these.
PROBABLY_CHEAP = 12


@inlined
def arrives(rows, sample):
    """Make the row of a sample; whether there is a source for it, and it may be."""
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
def bring(rows, samples):
    """Make the rows of samples that are absent."""
    for k in range(samples.size):
        if rows.slot[samples[k]] < 0:
            arrives(rows, samples[k])


class ArrivingRows:
    """Rows of a Gaussian, made by the loop itself from `points`, a column for each sample."""

    def __init__(self, gram, points, most, always):
        self.gram, self.n = gram, gram.n
        self.most, self.always = most, always
        self.progress = 0.0
        self.elsewhere = 0  # evaluations of what did not come to stay
        self.store = RowStore(
            room((most, self.n), gram.dtype),
            np.full(self.n, -1),
            np.zeros(most, dtype=np.int64),
            points,
            np.empty(0, np.int64),
            np.array([0, FIRST]),
        )

    @classmethod
    def of(cls, gram, budget, tentative):
        """Of a Gram matrix, if it is worth while, the kernel can and so many bytes are enough; else
        None."""
        if gram.whole is not None or gram.n < SURELY_WORTH_WHILE or not COMPILED:
            return None
        points = gram.points_across()
        if points is None or (tentative and len(points) > PROBABLY_CHEAP):
            return None
        if gram.n < WORTH_WHILE and len(points) > SURELY_CHEAP:
            return None
        most = int(min(gram.n, budget / (gram.n * gram.dtype.itemsize)))
        if most <= FIRST:
            return None
        return cls(gram, points, most, always=len(points) <= SURELY_CHEAP and not tentative)

    @property
    def misses(self):
        return int(self.store.count[PRESENT])

    @property
    def evaluations(self):
        return self.elsewhere + self.misses * self.n

    def go_on(self, progress):
        """Whether more rows may come, if those present lessened violations by this part."""
        features, present = len(self.store.source), self.misses
        forth, self.progress = progress > self.progress, progress
        to_come = CAUTION * present * (1.0 - progress) / max(progress, TINY)
        cost = (DEARNESS + features / FEATURES) * to_come
        promising = forth and cost <= AFFORDABLE * self.n
        if present == self.most or not (promising or self.always):
            return False
        self.store.count[ALLOWED] = min(2 * present, self.most)
        return True

    def held(self):
        return HeldRows(self.store.values[: self.misses], self.store.slot)

    def restricted(self, keep):
        return FullRows(self.block(keep, self.gram.dtype), self.evaluations)

    def block(self, samples, dtype=np.float64):
        block = self.gram.rows(samples, columns=samples)
        self.elsewhere += block.size
        return block.astype(dtype, copy=False)

    def combine(self, samples, coefficients):
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
