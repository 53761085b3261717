"""Room for large arrays, kept from one fit to the next.

Memory that a process touches for the first time costs more than what is computed into it: the
system finds a page, clears it, and on a virtual machine asks its host. What a fit gives back is
therefore kept for the next one, but all beyond a little is offered to the system (``MADV_FREE``),
which takes it whenever it runs short.
"""

from __future__ import annotations

import math
import mmap
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Smaller arrays are left to the allocator; no more than this part of the main memory is kept.
SMALLEST, MOST_KEPT = 1 << 18, 0.25
# So many bytes are kept without being offered, of large arrays the first ones: a system that takes
# what is offered as soon as it lies idle makes the next small fit touch its memory anew.
WARM = 64 << 20
# Bytes of main memory where the system does not tell.
ASSUMED = 4e9

# Collecting garbage may end a lease at any moment, also while this thread holds the lock.
_lock = threading.RLock()
_kept: list[Kept] = []


class Kept(NamedTuple):
    """Pages that wait for the next array, and how many bytes of them were not offered."""

    pages: mmap.mmap
    warm: int


def room(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array with any content, like ``numpy.empty``."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size < SMALLEST or not hasattr(mmap, "MADV_FREE"):
        return np.empty(shape, dtype=dtype)
    lease = Lease(_taken(size) or _fresh(size), size)
    return np.asarray(lease).view(dtype).reshape(shape)


class Lease:
    """Pages that belong to an array and its views, and return when the last of them is gone."""

    def __init__(self, pages: mmap.mmap, size: int) -> None:
        self.pages = pages
        address = np.frombuffer(pages, dtype=np.uint8).ctypes.data
        self.__array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
        }

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if ending():  # the names of this module may be gone
            return
        pages = self.pages
        with _lock, suppress(OSError):
            spare = max(0, WARM - sum(kept.warm for kept in _kept))
            warm = min(len(pages), spare - spare % mmap.PAGESIZE)
            if warm < len(pages):
                pages.madvise(mmap.MADV_FREE, warm, len(pages) - warm)
            _kept.append(Kept(pages, warm))
            _kept.sort(key=_size)
            # The largest are worth most.
            while sum(map(_size, _kept)) > MOST_KEPT * main_memory():
                del _kept[0]


def _size(kept: Kept) -> int:
    return len(kept.pages)


@cache
def main_memory() -> float:
    """Bytes of main memory, in use or not."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return ASSUMED


def _taken(size: int) -> mmap.mmap | None:
    """The smallest kept pages that suffice."""
    with _lock:
        enough = [kept for kept in _kept if _size(kept) >= size]
        if not enough:
            return None
        best = min(enough, key=_size)
        _kept.remove(best)
        return best.pages


def _fresh(size: int) -> mmap.mmap:
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages
