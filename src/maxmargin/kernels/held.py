"""Gram rows in memory, and sums of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled
from ..threads import in_parts, threads_worth

# Columns summed at a time: their totals stay in the first-level cache.
STRIPE = 2048


class HeldRows(NamedTuple):
    """Some rows over all columns: that of sample i is ``values[slot[i]]``, unless slot[i] < 0."""

    values: NDArray[np.floating]
    slot: NDArray[np.intp]


@compiled
def sum_rows(total, values, slots, coefficients, start, stop):  # type: ignore[no-untyped-def]
    """total[start:stop] += Σ_k coefficients_k · values[slots_k, start:stop]"""
    sums = np.empty(STRIPE)
    for left in range(start, stop, STRIPE):
        width = min(STRIPE, stop - left)
        part = sums[:width]
        part[:] = 0.0
        for k in range(slots.size):
            c = coefficients[k]
            row = values[slots[k], left : left + width]
            for s in range(width):
                part[s] += c * row[s]
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

    in_parts(some_columns, total.size, threads_worth(total.size * slots.size))
