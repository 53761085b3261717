"""Large products of linear machines in parts that depend on the data, not on the number of threads.

Partial sums are added in the order of the parts, whichever thread finishes first.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ....runtime.parallel import in_turn
from ..costs import COSTS


def parts_of(work: Any, entries: int, sums: int = 0) -> list[tuple[int, int]]:
    """Ranges of equal work; `work` is a cumulative count such as the indptr of a CSR matrix. Each
    part has `sums` partial sums."""
    last = work.size - 1
    count = _count(entries, sums)
    if count == 1 or last < count:
        return [(0, last)]
    marks = np.searchsorted(work, np.linspace(work[0], work[-1], count + 1)[1:-1])
    edges = [0, *(int(mark) for mark in marks), last]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def even_parts(rows: int, entries: int, sums: int = 0) -> list[tuple[int, int]]:
    """Ranges with equal numbers of rows."""
    count = _count(entries, sums)
    if count == 1:
        return [(0, rows)]
    edges = [round(k * rows / count) for k in range(count + 1)]
    return [(a, b) for a, b in pairwise(edges) if a < b] or [(0, rows)]


def _count(entries: int, sums: int) -> int:
    """A power of two of parts, so that usual numbers of threads have equal shares: at most 64, with
    at most 64 MB of partial sums."""
    most = min(64, entries // max(COSTS.worth_a_part, 2 * sums), (1 << 23) // max(sums, 1))
    return 1 << max(int(most).bit_length() - 1, 0)


def run_parts(task: Callable[[int, int], Any], parts: list[tuple[int, int]]) -> list[Any]:
    """The results of all parts, in their order."""
    if len(parts) == 1:
        return [task(*parts[0])]
    results: list[Any] = [None] * len(parts)

    def work(k: int) -> None:
        results[k] = task(*parts[k])

    in_turn(work, range(len(parts)))
    return results
