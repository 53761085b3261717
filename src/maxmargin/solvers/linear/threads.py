"""Two or more threads for one large product: the compiled loops release the GIL.

The number of threads is Numba's (``NUMBA_NUM_THREADS``, ``numba.set_num_threads``), which process
pools already limit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numba
import numpy as np

from ...threads import together

# Entries for each thread: fewer are not worth the wait for a core that may be busy otherwise.
WORTH_A_THREAD = 300_000
MOST_THREADS = 4


def parts_of(work: Any, entries: int) -> list[tuple[int, int]]:
    """Ranges of equal work; `work` is a cumulative count such as the indptr of a CSR matrix."""
    last = work.size - 1
    count = _threads_for(entries)
    if count == 1 or last < count:
        return [(0, last)]
    marks = np.searchsorted(work, np.linspace(work[0], work[-1], count + 1)[1:-1])
    edges = [0, *(int(mark) for mark in marks), last]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def even_parts(count: int, entries: int) -> list[tuple[int, int]]:
    """Ranges of equally many rows."""
    threads = _threads_for(entries)
    if threads == 1:
        return [(0, count)]
    edges = [round(k * count / threads) for k in range(threads + 1)]
    return [(a, b) for a, b in pairwise(edges) if a < b] or [(0, count)]


def _threads_for(entries: int) -> int:
    wanted = min(MOST_THREADS, entries // WORTH_A_THREAD)
    return min(numba.get_num_threads(), wanted) if wanted > 1 else 1


def run_parts(task: Callable[[int, int], Any], parts: list[tuple[int, int]]) -> list[Any]:
    """The results of all parts; the first is worked on here, the others in threads."""
    if len(parts) == 1:
        return [task(*parts[0])]
    results: list[Any] = [None] * len(parts)

    def work(k: int) -> None:
        results[k] = task(*parts[k])

    together([partial(work, k) for k in range(len(parts))])
    return results
