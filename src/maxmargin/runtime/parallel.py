"""Threads of a fit: as many as BLAS has, with results that do not depend on their number.

NumPy and SciPy each have a pool of BLAS threads, whose idle members spin on cores that other work
needs, and whose sums depend on the number of threads. Here BLAS is limited to one thread, in every
thread of the process while any fit runs, and work is divided into parts whose edges depend on its
size alone: `in_parts` hands them to helper threads that sleep when idle. So results are bit-equal
for any number of threads. Helpers belong to the process that started them; a fork begins with none.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any, NamedTuple

import scipy.linalg  # noqa: F401 - loads the BLAS of SciPy, which is to be limited too
from threadpoolctl import ThreadpoolController

from .costs import TERMS_AN_ENTRY, WORTH_A_THREAD

# Parts begin at multiples of this many rows or columns, so that the same entries fall into vector
# lanes and loop remainders, however the work is divided.
GRAIN = 64
# Smallest number of rows or columns of a part of a matrix product, because BLAS packs the other
# factor for each part.
PRODUCT_PART = 1024

# Idle helpers of this process; a fork begins with none.
_idle: dict[int, list[Helper]] = {}
_here = threading.local()


class Limit:
    """Limits BLAS libraries with one setting per process to one thread, as long as any thread asks
    for it.

    The first request records the setting, and the end of the last one restores it, unless other
    code has changed it in between.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.before: list[tuple[Any, int]] = []

    def enter(self) -> None:
        with self.lock:
            if not self.users:
                self.before = limited(libraries().shared)
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                restore(self.before)

    def after_fork(self) -> None:
        """Only the thread that forked exists in the child."""
        limited, self.lock = self.users > 0, threading.Lock()
        self.users = int(getattr(_here, "limits", 0) > 0)
        if limited and not self.users:
            restore(self.before)

    def outside(self) -> list[int]:
        """Thread counts of these libraries when they are not limited."""
        with self.lock:
            if self.users:
                return [threads for _, threads in self.before]
        return [threads_of(library) for library in libraries().shared]


_limit = Limit()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _limit.after_fork())


class Libraries(NamedTuple):
    """The BLAS libraries in this process: those with one setting per process, and those with one
    per thread (OpenBLAS on OpenMP)."""

    shared: list[Any]
    per_thread: list[Any]


@cache
def libraries() -> Libraries:
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    each = [library for library in found if getattr(library, "threading_layer", "") == "openmp"]
    return Libraries([library for library in found if library not in each], each)


def threads_of(library: Any) -> int:
    return int(library.get_num_threads() or 1)


def limited(which: list[Any]) -> list[tuple[Any, int]]:
    """Set libraries to one thread; returns their previous settings."""
    before = []
    for library in which:
        threads = int(library.get_num_threads() or 1)
        before.append((library, threads))
        if threads > 1:
            set_threads(library, 1)
    return before


def restore(before: list[tuple[Any, int]]) -> None:
    for library, threads in before:
        if threads > 1 and threads_of(library) == 1:
            set_threads(library, threads)


def set_threads(library: Any, threads: int) -> None:
    """Set the number of threads of a library, from any thread.

    threadpoolctl 3.8 and later allows one thread at a time to do so, and ignores the others.
    """
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)
    library.set_num_threads(threads)
    if clear is not None:
        clear(force=True)


@contextmanager
def single_threaded_blas(own: int | None = None) -> Iterator[None]:
    """Limit BLAS to one thread, and give our own passes in this thread `own` threads: by default as
    many as BLAS has outside."""
    limits, before = getattr(_here, "limits", 0), getattr(_here, "own", None)
    if not limits:
        _limit.enter()
        per_thread = libraries().per_thread
        _here.before = limited(per_thread) if per_thread else []
        if before is None and own is None:
            own = 1
            for _, threads in (*_limit.before, *_here.before):
                own = max(own, threads)
    _here.limits = limits + 1
    if own is not None:
        _here.own = own
    try:
        yield
    finally:
        _here.own, _here.limits = before, limits
        if not limits:
            if _here.before:
                restore(_here.before)
            _limit.leave()


def own_threads() -> int:
    """Number of threads of our own passes in this thread."""
    own = getattr(_here, "own", None)
    if own is not None:
        return int(own)
    here = [threads_of(library) for library in libraries().per_thread]
    return max([1, *_limit.outside(), *here])


def in_parts(
    task: Callable[[int, int], Any],
    size: int,
    entries: int,
    depth: int = 1,
    grain: int = GRAIN,
    least: int = 1,
) -> None:
    """task(start, stop) over the ranges of 0 … size, in this thread and in helpers.

    The ranges depend on the work alone: the number of entries, each a sum of `depth` terms. Each
    begins at a multiple of `grain`, and none but the last is shorter than `least`. Nested calls are
    not divided again.
    """
    size, work = int(size), int(entries) * max(1, int(depth) // TERMS_AN_ENTRY)
    nested = getattr(_here, "in_part", False)
    step = size if nested or work < WORTH_A_THREAD else part_length(size, work, grain, least)
    if step < size:
        in_turn(lambda start: task(start, min(start + step, size)), range(0, size, step))
        return
    _here.in_part = True
    try:
        task(0, size)
    finally:
        _here.in_part = nested


def in_turn(task: Callable[[Any], Any], items: Iterable[Any]) -> None:
    """task(item) for each item, in this thread and in helpers, whichever is free; results must not
    depend on which thread runs an item."""
    nested, waiting = getattr(_here, "in_part", False), deque(items)
    threads = 1 if nested or len(waiting) < 2 else min(own_threads(), len(waiting))

    def some() -> None:
        before, _here.in_part = getattr(_here, "in_part", False), True
        try:
            while waiting:
                try:
                    item = waiting.popleft()
                except IndexError:  # another thread was faster
                    return
                task(item)
        except BaseException:
            waiting.clear()
            raise
        finally:
            _here.in_part = before

    with nullcontext() if getattr(_here, "limits", 0) else single_threaded_blas():
        if threads == 1:
            some()
        else:
            together([some] * threads)


def part_length(size: int, work: int, grain: int = GRAIN, least: int = 1) -> int:
    """Number of rows or columns of a part. The number of parts is a power of two, so that usual
    numbers of threads have equal shares."""
    if work < WORTH_A_THREAD:
        return max(size, 1)
    parts = min(256, 1 << (2 * work // WORTH_A_THREAD).bit_length() - 1)
    while parts > 1 and size < parts * max(grain, least):
        parts //= 2
    return max(1, -(-size // (parts * grain)) * grain)


def product_part(size: int) -> int:
    """Smallest length of a part of a matrix product with `size` rows or columns; twice as long if
    there are many parts."""
    return PRODUCT_PART if size < 16 * PRODUCT_PART else 2 * PRODUCT_PART


class Helper:
    """A thread that runs one task after the other, and sleeps in between.

    Waking it costs less than submitting to an executor, and fits do so in every pass.
    """

    def __init__(self) -> None:
        self._work, self._done = threading.Lock(), threading.Lock()
        self._work.acquire()
        self._done.acquire()
        self._task: Callable[[], Any] = int
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="maxmargin", daemon=True).start()

    def start(self, task: Callable[[], Any]) -> None:
        self._task = task
        self._work.release()

    def wait(self) -> BaseException | None:
        """Wait for the end of the task; returns the exception it raised, if any."""
        self._done.acquire()
        error, self._error = self._error, None
        return error

    def _run(self) -> None:
        limited(libraries().per_thread)
        while True:
            self._work.acquire()
            try:
                self._task()
            except BaseException as error:
                self._error = error
            self._task = int
            self._done.release()


def together(tasks: list[Callable[[], Any]]) -> None:
    """Run all tasks, the first in this thread and each other in a helper."""
    helpers = [_started(task) for task in tasks[1:]]
    try:
        for task in tasks[:1]:
            task()
    finally:
        _finish(helpers)


def _started(task: Callable[[], Any]) -> Helper:
    """A helper that runs the task; pass it to `_finish`."""
    idle = _idle.setdefault(os.getpid(), [])
    try:
        helper = idle.pop()
    except IndexError:
        helper = Helper()
    helper.start(task)
    return helper


def _finish(helpers: list[Helper]) -> None:
    """Wait for all helpers, and raise the first exception.

    A helper that is still running when Ctrl-C ends the wait is not reused.
    """
    errors = []
    for helper in helpers:
        errors.append(helper.wait())
        _idle[os.getpid()].append(helper)
    for error in errors:
        if error is not None:
            raise error
