"""Gram rows in memory, weighted sums of rows, and known sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.jit import compiled
from ..runtime.parallel import in_parts

# Columns summed at a time: their totals stay in the first-level cache.
STRIPE = 2048


class StoredRows(NamedTuple):
    """Some rows over all columns: the row of sample i is ``values[slot[i]]``, absent if slot[i] <
    0."""

    values: NDArray[np.floating]
    slot: NDArray[np.intp]

    def sums(
        self, samples: NDArray[np.intp], coefficients: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Σ_k coefficients_k K[samples_k] at every sample; all `samples` must have a row."""
        total = np.zeros(self.values.shape[1])
        add_rows(total, self.values, self.slot[samples], coefficients)
        return total


class KnownSums(NamedTuple):
    """Σ_j coef_j K_ij for every sample i, computed from the kernel and nothing else."""

    coef: NDArray[np.float64]
    values: NDArray[np.float64]


@compiled
def sum_rows(
    total: NDArray[np.float64],
    values: NDArray[np.floating],
    slots: NDArray[np.intp],
    coefficients: NDArray[np.float64],
    start: int,
    stop: int,
) -> None:
    """total[start:stop] += Σ_k coefficients_k · values[slots_k, start:stop], four rows a pass"""
    sums = np.empty(STRIPE)
    for left in range(start, stop, STRIPE):
        width = min(STRIPE, stop - left)
        part = sums[:width]
        for s in range(width):
            part[s] = 0.0
        fours = slots.size - slots.size % 4
        for k in range(0, fours, 4):
            a, b = coefficients[k], coefficients[k + 1]
            c, d = coefficients[k + 2], coefficients[k + 3]
            row_a = values[slots[k], left : left + width]
            row_b = values[slots[k + 1], left : left + width]
            row_c = values[slots[k + 2], left : left + width]
            row_d = values[slots[k + 3], left : left + width]
            for s in range(width):
                part[s] += (a * row_a[s] + b * row_b[s]) + (c * row_c[s] + d * row_d[s])
        for k in range(fours, slots.size):
            a, row_a = coefficients[k], values[slots[k], left : left + width]
            for s in range(width):
                part[s] += a * row_a[s]
        for s in range(width):
            total[left + s] += part[s]


def add_rows(
    total: NDArray[np.float64],
    values: NDArray[np.floating],
    slots: NDArray[np.intp],
    coefficients: NDArray[np.float64],
) -> None:
    """total += Σ_k coefficients_k · values[slots_k]"""

    def some_columns(start: int, stop: int) -> None:
        sum_rows(total, values, slots, coefficients, start, stop)

    # Four entries are added in the time in which one is computed elsewhere.
    in_parts(some_columns, total.size, total.size * slots.size // 4)
