"""Reusable buffers for large arrays, and the amount of free memory.

The first touch of memory can cost more than the computation that fills it: the system finds a page,
clears it, and on a virtual machine asks the host. Memory of large arrays that a fit has released is
therefore reused by its later ones, which adds at most `SPARE` bytes to its peak, and up to `KEPT`
bytes stay for the next fit; `release_memory` returns these to the system. Worker processes keep
nothing between fits, because there are often many of them.
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
except ImportError:  # not available on this system
    resource = None  # type: ignore[assignment]

# Smaller arrays are allocated by NumPy: the C library keeps memory of this size itself.
SMALLEST = 1 << 22
# Bytes kept between fits.
KEPT = 64 << 20
# Bytes that a fit may keep beyond its peak usage.
SPARE = 16 << 20
# Control-group limits above this mean "no limit".
NO_LIMIT = float(1 << 60)

_process = os.getpid()


class Pages(NamedTuple):
    """A mapping of memory, where it begins, and the number of its bytes that may be resident."""

    pages: mmap.mmap
    address: int
    warm: int


class Pool:
    """The pages kept for reuse, and the number of bytes in use."""

    def __init__(self) -> None:
        # Garbage collection may end a lease at any time, even while this thread holds the lock.
        self.lock = threading.RLock()
        self.kept: list[Pages] = []
        self.leased = self.peak = self.fits = 0

    def take(self, size: int) -> Pages:
        """Pages for `size` bytes: the smallest kept ones that suffice, or new ones."""
        with self.lock:
            best = None
            for kept in self.kept:
                if size <= len(kept.pages) and not (best and len(best.pages) <= len(kept.pages)):
                    best = kept
            if best is not None:
                self.kept.remove(best)
            warm = size if best is None else max(size, best.warm)
            self.leased += warm
            self.peak = max(self.peak, self.leased)
            if self.kept:
                self.trim()
        if best is not None:
            return best._replace(warm=warm)
        try:
            try:
                return _fresh(size)
            except MemoryError:  # kept pages count where a process has a limit of its own
                self.release()
                return _fresh(size)
        except BaseException:
            self.leased -= warm
            raise

    def give_back(self, kept: Pages) -> None:
        with self.lock:
            self.leased -= kept.warm
            self.kept.append(kept)
            self.trim()

    def trim(self) -> None:
        """Return excess memory to the system, from the largest buffers first: these consist of
        large pages, which the system clears much faster per byte than small ones."""
        between = 0 if is_worker() else KEPT
        may_stay = max(self.peak + SPARE, between) - self.leased if self.fits else between
        excess = sum(map(_warm, self.kept)) - may_stay
        self.kept.sort(key=_warm, reverse=True)
        while excess > 0:
            largest = self.kept.pop(0)
            large_page = 2 << 20  # none is split
            stays = max(0, largest.warm - excess) // large_page * large_page
            excess -= largest.warm - stays
            if stays:
                pages = largest.pages
                pages.madvise(mmap.MADV_DONTNEED, stays, len(pages) - stays)
                self.kept.insert(0, largest._replace(warm=stays))

    def begin(self) -> None:
        with self.lock:
            if not self.fits:
                self.peak = self.leased
            self.fits += 1

    def end(self) -> None:
        with self.lock:
            self.fits -= 1
            if self.kept:
                self.trim()

    def release(self) -> None:
        with self.lock:
            self.kept.clear()

    def after_fork(self) -> None:
        """Pages and locks of the parent are useless in a child."""
        self.lock = threading.RLock()
        self.kept.clear()


_pool = Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _pool.after_fork())


_warm = attrgetter("warm")


def buffer(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An uninitialised array, like ``numpy.empty``, in reused memory if it is large.

    The MemoryError says what was requested and what is free.
    """
    dtype = np.dtype(dtype)
    size = math.prod(map(int, shape)) * dtype.itemsize
    try:
        # Containers kill processes that use too much instead of refusing a large allocation.
        if size >= 1 << 28 and size > free_memory(swap=True) + sum(map(_warm, _pool.kept)):
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
    array: NDArray[Any] = np.asarray(lease).view(dtype).reshape(shape)
    return array


class Lease:
    """Pages owned by an array and its views; they return to the pool with the last of these."""

    def __init__(self, kept: Pages, size: int) -> None:
        self.kept = kept
        self.__array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (kept.address, False),
        }

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if ending():  # module globals may already be None
            return
        with suppress(OSError):
            _pool.give_back(self.kept)


@contextmanager
def pages_kept() -> Iterator[None]:
    """Context of a fit: memory of its released arrays is kept for later ones."""
    _pool.begin()
    try:
        yield
    finally:
        _pool.end()


def release_memory() -> None:
    """Return the memory that is kept between fits to the system.

    After a fit the process keeps up to 64 MB for the next one, because the first touch of memory is
    slow. Worker processes (of multiprocessing, joblib or Dask) keep nothing.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.release_memory()
    """
    _pool.release()


def is_worker() -> bool:
    """Whether another process has started this one to share its work."""
    return os.getpid() != _process or multiprocessing.parent_process() is not None


def workers_beside() -> int:
    """The number of processes that share the memory: of a worker, all children of its parent."""
    if not is_worker():
        return 1
    threads = Path(f"/proc/{os.getppid()}/task")
    try:
        children = [_read(f"{thread}/children").split() for thread in threads.iterdir()]
    except OSError:
        return 1
    return max(1, sum(map(len, children)))


def _fresh(size: int) -> Pages:
    """New pages for `size` bytes, and addresses for up to an eighth more, so that arrays that grow
    a little find the same memory again; what is not touched takes none."""
    eighth = 1 << max(0, size.bit_length() - 4)
    length = -(-size // eighth) * eighth
    try:
        pages = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise MemoryError from None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # not supported by this kernel
            pages.madvise(mmap.MADV_HUGEPAGE)
    return Pages(pages, np.frombuffer(pages, dtype=np.uint8).ctypes.data, size)


def memory_share() -> float:
    """Bytes of available memory that this process may plan with: workers share them equally."""
    return free_memory() / workers_beside()


def free_memory(swap: bool = False, system: Path = Path("/")) -> float:
    """Bytes of available memory: of the machine, optionally with its swap space, limited by the
    control groups (containers) of this process."""
    info = _numbers(f"{system}/proc/meminfo")
    free = 1024.0 * info["MemAvailable:"] if "MemAvailable:" in info else 0.5 * _main_memory()
    if swap:
        free += 1024.0 * info.get("SwapFree:", 0.0)
    groups = [_left(*group) for group in _groups(system)]
    return min([free, _left_of_addresses(), *groups])


def _left_of_addresses() -> float:
    """Bytes left of the address-space limit of this process (``ulimit -v``)."""
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
        return 4e9  # not reported


class GroupFiles(NamedTuple):
    """File names of a control group, version 1 or 2."""

    limit: str
    used: str
    cache: str  # key in memory.stat for the droppable file cache


V1 = GroupFiles("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2 = GroupFiles("memory.max", "memory.current", "inactive_file")


@cache
def _groups(system: Path) -> list[tuple[str, GroupFiles]]:
    """The control group of this process and its parents, as far as they can have a limit."""
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
                # Inside a container the mount may show only a part of the tree.
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
    """Bytes left of the limit of a control group; infinite without a limit."""
    try:
        limit = float(_read(f"{group}/{files.limit}"))  # "max" raises ValueError
        if limit >= NO_LIMIT:
            return math.inf
        used = float(_read(f"{group}/{files.used}"))
    except (OSError, ValueError):
        return math.inf
    used -= _numbers(f"{group}/memory.stat").get(files.cache, 0.0)
    return max(0.0, limit - used)


def _numbers(path: str) -> dict[str, float]:
    """The lines "name number …" of a file; empty if it cannot be read."""
    try:
        lines = [line.split() for line in _read(path).splitlines()]
        return {line[0]: float(line[1]) for line in lines}
    except (OSError, ValueError, IndexError):
        return {}


def _read(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()
