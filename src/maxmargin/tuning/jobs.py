"""Independent jobs: in threads, or by the backend of joblib that a user has chosen (Dask, Ray)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.parallel import BACKENDS, get_active_backend

T = TypeVar("T")
R = TypeVar("R")
# Backends of joblib itself, one of which is active where nothing was chosen. Threads do better.
OWN = ("loky", "multiprocessing", "threading", "sequential")


def elsewhere() -> bool:
    """Whether jobs go to another library, as in ``joblib.parallel_config(backend="dask")``."""
    backend: Any = get_active_backend()[0]
    own = tuple(kind for name, kind in BACKENDS.items() if name in OWN and isinstance(kind, type))
    return not isinstance(backend, own)


def in_jobs(function: Callable[[T], R], items: Sequence[T], n_jobs: int) -> list[R]:
    """The function of each item, `n_jobs` at a time."""
    if n_jobs <= 1 or len(items) <= 1:
        return [function(item) for item in items]
    if elsewhere():
        return list(Parallel(n_jobs=n_jobs)(delayed(function)(item) for item in items))
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(function, items))
