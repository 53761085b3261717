"""Memory of fits: how much is free, arrays that fits take from it, and what is kept between fits.

Memory that a process touches for the first time costs more than what is computed into it: the
system finds a page, clears it, and on a virtual machine asks its host. Large arrays that a fit
gives back are therefore kept for its next ones, adding no more than `SPARE` bytes to its peak, and
`KEPT` bytes of them for the next fit; `release_memory` gives these back too. Processes that others
started as workers keep nothing between fits: there are often many of them.
"""

from __future__ import annotations

import errno
import math
import mmap
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import resource
except ImportError:  # no such limits on this system
    resource = None  # type: ignore[assignment]

# Smaller arrays are left to the allocator.
SMALLEST = 1 << 18
# Bytes kept between fits.
KEPT = 64 << 20
# Of an array that is too large to be kept, whole large pages are: half of one is many small ones.
LARGE_PAGE = 2 << 20
# Bytes that a fit may keep beyond the most that it ever used.
SPARE = 16 << 20
# Larger arrays are not asked for before it is known that there is so much memory: a container ends
# processes that use more than there is, where another system refuses.
CHECKED = 1 << 28
# Bytes of main memory where the system does not tell.
ASSUMED = 4e9
# Limits of a control group beyond this are none.
NO_LIMIT = float(1 << 60)

_process = os.getpid()


class Pages(NamedTuple):
    """Pages that wait for the next array, and how many bytes of them may be in memory."""

    pages: mmap.mmap
    warm: int


class Pool:
    """Pages that are kept, and the number of bytes of those in use."""

    def __init__(self) -> None:
        # Collecting garbage may end a lease at any moment, also while this thread holds the lock.
        self.lock = threading.RLock()
        self.kept: list[Pages] = []
        self.leased = self.peak = self.fits = 0

    def take(self, size: int) -> Pages:
        """Pages for so many bytes: the smallest kept ones that suffice, or new ones."""
        with self.lock:
            enough = [kept for kept in self.kept if len(kept.pages) >= size]
            best = min(enough, key=_length, default=None)
            if best is not None:
                self.kept.remove(best)
            warm = size if best is None else max(size, best.warm)
            self.leased += warm
            self.peak = max(self.peak, self.leased)
            self.trim()
        try:
            return Pages(_fresh(size) if best is None else best.pages, warm)
        except BaseException:
            self.leased -= warm
            raise

    def give_back(self, kept: Pages) -> None:
        with self.lock:
            self.leased -= kept.warm
            self.kept.append(kept)
            self.trim()

    def trim(self) -> None:
        """Give back what is more than may be kept, of the largest first: the system has large
        pages for them, and clears a byte of those much sooner than one of a small page."""
        between = kept_between_fits()
        may_stay = max(self.peak + SPARE, between) - self.leased if self.fits else between
        excess = sum(map(_warm, self.kept)) - may_stay
        self.kept.sort(key=_warm, reverse=True)
        while excess > 0:
            pages, warm = self.kept.pop(0)
            stays = max(0, warm - excess) // LARGE_PAGE * LARGE_PAGE
            excess -= warm - stays
            if stays:
                pages.madvise(mmap.MADV_DONTNEED, stays, len(pages) - stays)
                self.kept.insert(0, Pages(pages, stays))

    def begin(self) -> None:
        with self.lock:
            if not self.fits:
                self.peak = self.leased
            self.fits += 1

    def end(self) -> None:
        with self.lock:
            self.fits -= 1
            self.trim()

    def release(self) -> None:
        with self.lock:
            self.kept.clear()

    def after_fork(self) -> None:
        """Pages of the parent are no use to a child, nor are its locks."""
        self.lock = threading.RLock()
        self.kept.clear()


_pool = Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _pool.after_fork())


_warm = attrgetter("warm")


def buffer(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array with any content, like ``numpy.empty``; MemoryError where there is none."""
    dtype = np.dtype(dtype)
    size = math.prod(map(int, shape)) * dtype.itemsize
    try:
        if size >= CHECKED and size > free_memory(swap=True) + sum(map(_warm, _pool.kept)):
            raise MemoryError
        if size < SMALLEST or not hasattr(mmap, "MADV_DONTNEED"):
            return np.empty(shape, dtype=dtype)
        lease = Lease(_pool.take(size), size)
    except MemoryError:
        raise MemoryError(
            f"no memory for an array of {size:,} bytes, shape {tuple(map(int, shape))} and type "
            f"{dtype}; {free_memory(swap=True):,.0f} bytes are free. Lower cache_size, train on "
            'fewer samples or, where solver="full" was chosen, leave solver at "auto"'
        ) from None
    return np.asarray(lease).view(dtype).reshape(shape)


class Lease:
    """Pages that belong to an array and its views, and return when the last of them is gone."""

    def __init__(self, kept: Pages, size: int) -> None:
        self.kept = kept
        address = np.frombuffer(kept.pages, dtype=np.uint8).ctypes.data
        self.__array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
        }

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if ending():  # the names of this module may be gone
            return
        with suppress(OSError):
            _pool.give_back(self.kept)


@contextmanager
def pages_kept() -> Iterator[None]:
    """A fit: arrays that it gives back are kept for its next ones."""
    _pool.begin()
    try:
        yield
    finally:
        _pool.end()


def release_memory() -> None:
    """Give the memory that is kept between fits back to the system.

    After a fit up to 64 MB stay with the process, for the next one: memory that is used for the
    first time is slow. Worker processes (of multiprocessing, joblib or Dask) keep nothing.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.release_memory()
    """
    _pool.release()


def kept_between_fits() -> int:
    worker = os.getpid() != _process or multiprocessing.parent_process() is not None
    return 0 if worker else KEPT


def _length(kept: Pages) -> int:
    return len(kept.pages)


def _fresh(size: int) -> mmap.mmap:
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise MemoryError from None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # kernels without such pages
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


# ---- how much there is -------------------------------------------------------------------------


def free_memory(swap: bool = False, system: Path = Path("/")) -> float:
    """Bytes of memory that are not in use: of the machine, with its swap space if that counts, and
    of the control groups (containers) that this process is in."""
    info = _numbers(f"{system}/proc/meminfo")
    free = 1024.0 * info["MemAvailable:"] if "MemAvailable:" in info else 0.5 * _main_memory()
    if swap:
        free += 1024.0 * info.get("SwapFree:", 0.0)
    groups = [_left(*group) for group in _groups(system)]
    return min([free, _left_of_addresses(), *groups])


def _left_of_addresses() -> float:
    """What the limit of this process (``ulimit -v``) leaves."""
    try:
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return math.inf
        pages = int(_read("/proc/self/statm").split()[0])
        return max(0.0, float(limit - pages * mmap.PAGESIZE))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _main_memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return ASSUMED


class GroupFiles(NamedTuple):
    """What the files of a control group are called: version 1 or 2."""

    limit: str
    used: str
    cache: str  # the line of memory.stat about files that can be dropped


V1 = GroupFiles("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2 = GroupFiles("memory.max", "memory.current", "inactive_file")


@cache
def _groups(system: Path) -> list[tuple[str, GroupFiles]]:
    """The control groups from that of this process upwards that can have a limit."""
    found: list[tuple[str, GroupFiles]] = []
    with suppress(OSError, ValueError, IndexError):
        groups = [line.split(":", 2) for line in _read(f"{system}/proc/self/cgroup").splitlines()]
        mounts = [line.split() for line in _read(f"{system}/proc/self/mountinfo").splitlines()]
        for _, controllers, path in groups:
            version = V1 if "memory" in controllers.split(",") else V2
            if controllers and version is V2:
                continue
            for mount in mounts:
                kind, options = mount[mount.index("-") + 1], mount[mount.index("-") + 3]
                if version is V2 and kind != "cgroup2":
                    continue
                if version is V1 and not (kind == "cgroup" and "memory" in options.split(",")):
                    continue
                # Inside a container the mount may show a part of the tree only.
                root, top = mount[3].rstrip("/"), system / mount[4].lstrip("/")
                below = path[len(root) :] if path.startswith(f"{root}/") else ""
                folder = top / below.strip("/")
                for group in (folder, *folder.parents):
                    if (group / version.limit).exists():
                        found.append((str(group), version))
                    if group == top:
                        break
    return found


def _left(group: str, files: GroupFiles) -> float:
    """What a control group has left of its limit, if it has one."""
    try:
        limit = float(_read(f"{group}/{files.limit}"))  # "max" is no number
        if limit >= NO_LIMIT:
            return math.inf
        used = float(_read(f"{group}/{files.used}"))
    except (OSError, ValueError):
        return math.inf
    used -= _numbers(f"{group}/memory.stat").get(files.cache, 0.0)
    return max(0.0, limit - used)


def _numbers(path: str) -> dict[str, float]:
    """The lines "name number …" of a file; none where it cannot be read."""
    try:
        lines = [line.split() for line in _read(path).splitlines()]
        return {line[0]: float(line[1]) for line in lines}
    except (OSError, ValueError, IndexError):
        return {}


def _read(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()
