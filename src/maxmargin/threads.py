"""How many threads one fit uses: as many as BLAS, and one for work too small to share.

NumPy and SciPy bring a pool of BLAS threads each, whose idle members wait busily for a while on
cores that other work needs: small problems run several times faster without them. Our own passes
over large arrays release the GIL and share one pool, which belongs to the process that made it;
a fork begins with none.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import pairwise
from typing import Any

import scipy.linalg  # noqa: F401 - loads the BLAS of SciPy, which is to be limited too
from threadpoolctl import ThreadpoolController

MOST_THREADS = 16
# Products of numbers in a Gram matrix from which on threads help a fit.
WORTH_THREADS = 2e9

_pools: dict[int, ThreadPoolExecutor] = {}


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """One thread for BLAS and our own passes.

    The setting is one for the whole process, and threadpoolctl lets only the thread that changed it
    restore it: other threads than the main one leave it alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _blas().limit(limits=1):
        yield


def threads_for(X: Any) -> AbstractContextManager[None]:
    """One thread for problems on inputs whose Gram matrix is a matter of milliseconds."""
    n, d = X.shape if getattr(X, "ndim", 1) == 2 else (len(X), 0)
    return nullcontext() if n * n * (d + 10) >= WORTH_THREADS else single_threaded_blas()


def blas_threads() -> int:
    """How many threads BLAS uses here; one inside a worker that was told so."""
    threads = [int(library.get_num_threads()) for library in _blas().lib_controllers]
    return min(max([1, *threads]), MOST_THREADS)


def in_parts(task: Callable[[int, int], Any], size: int, threads: int) -> None:
    """task(start, stop) over the ranges of 0 … size, the first of them in this thread."""
    edges = [size * k // threads for k in range(threads + 1)]
    parts = [(start, stop) for start, stop in pairwise(edges) if start < stop]
    others = [_pool().submit(task, *part) for part in parts[1:]]
    try:
        for part in parts[:1]:
            task(*part)
    finally:
        for other in others:
            other.result()


def _pool() -> ThreadPoolExecutor:
    pool = _pools.get(os.getpid())
    if pool is None:
        pool = _pools[os.getpid()] = ThreadPoolExecutor(MOST_THREADS, "maxmargin")
    return pool
