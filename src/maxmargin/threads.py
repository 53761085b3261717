"""How many threads one fit uses: as many as BLAS, and one for work too small to share.

NumPy and SciPy bring a pool of BLAS threads each, whose idle members wait busily for a while on
cores that other work needs: small problems run several times faster without them, and fits keep
BLAS to one thread throughout. Our own passes over large arrays and the products of a fit release
the GIL and share helpers that sleep when idle; they belong to the process that started them, a fork
begins with none.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import scipy.linalg  # noqa: F401 - loads the BLAS of SciPy, which is to be limited too
from threadpoolctl import ThreadpoolController

MOST_THREADS = 16
# Products of numbers in a Gram matrix from which on threads help a fit.
WORTH_THREADS = 2e9
# Entries of an array below which a second thread costs more than it saves.
WORTH_A_THREAD = 1 << 19
# Terms of a sum of products that take as long as what else there is to do for an entry.
TERMS_AN_ENTRY = 64

# Helpers of each process that have nothing to do; a fork begins with none.
_idle: dict[int, list[Helper]] = {}
_here = threading.local()
# Threads for our own passes while BLAS has but one; None while BLAS has all.
_own: int | None = None


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


@cache
def _second_pool() -> Any:
    """The BLAS that SciPy brings beside that of NumPy; nothing where both share one."""
    libraries = [library.filepath for library in _blas().lib_controllers]
    of_scipy = [path for path in libraries if "scipy.libs" in Path(path).parts]
    return _blas().select(filepath=of_scipy if len(of_scipy) < len(libraries) else [])


@contextmanager
def one_pool() -> Iterator[None]:
    """One thread for the BLAS of SciPy, whose others would wait busily in the way of NumPy's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _second_pool().limit(limits=1):
        yield


@contextmanager
def single_threaded_blas(own: int = 1) -> Iterator[None]:
    """One thread for BLAS, and so many for our own passes.

    The setting is one for the whole process: other threads than the main one leave it alone.
    """
    global _own
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _own
    changed = [(library, library.get_num_threads()) for library in _blas().lib_controllers]
    changed = [(library, threads) for library, threads in changed if threads > 1]
    try:
        for library, _ in changed:
            library.set_num_threads(1)
        _own = own
        yield
    finally:
        _own = before
        for library, threads in changed:
            library.set_num_threads(threads)


def threads_for(X: Any) -> AbstractContextManager[None]:
    """BLAS in one thread for problems on inputs whose Gram matrix is a matter of milliseconds; for
    others all threads, in one pool."""
    n, d = X.shape if getattr(X, "ndim", 1) == 2 else (len(X), 0)
    if n * n * (d + 10) >= WORTH_THREADS:
        return one_pool()
    return single_threaded_blas(own_threads())


def own_threads() -> int:
    """How many threads our own passes use here."""
    return blas_threads() if _own is None else _own


def threads_worth(entries: int) -> int:
    """How many threads our own passes over so many entries are worth."""
    return own_threads() if entries >= WORTH_A_THREAD else 1


def threads_beside_blas(entries: int, depth: int = 1) -> int:
    """The same for products, which BLAS divides itself if it may; each entry is a sum of so many
    terms."""
    threads = threads_worth(entries * max(1, depth // TERMS_AN_ENTRY))
    return threads if threads > 1 and blas_threads() == 1 else 1


def blas_threads() -> int:
    """How many threads BLAS uses here; one inside a worker that was told so."""
    threads = [int(library.get_num_threads()) for library in _blas().lib_controllers]
    return min(max([1, *threads]), MOST_THREADS)


def blas_is_single() -> bool:
    """Whether BLAS has one thread here, so that dividing its work is left to us."""
    return _own is not None or blas_threads() == 1


def in_parts(task: Callable[[int, int], Any], size: int, threads: int) -> None:
    """task(start, stop) over the ranges of 0 … size, the first of them in this thread.

    A part of a part is not divided again: there are threads enough.
    """
    if threads == 1 or getattr(_here, "in_part", False):
        task(0, size)
        return
    edges = [size * k // threads for k in range(threads + 1)]
    parts = [(start, stop) for start, stop in pairwise(edges) if start < stop]
    together([partial(_in_part, task, *part) for part in parts])


def _in_part(task: Callable[[int, int], Any], start: int, stop: int) -> None:
    _here.in_part = True
    try:
        task(start, stop)
    finally:
        _here.in_part = False


class Helper:
    """A thread that does one task after the other, and sleeps in between.

    To wake it takes less than to hand a future to an executor, and fits do so after every pass.
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
        """For the end of the task; what it raised."""
        self._done.acquire()
        error, self._error = self._error, None
        return error

    def _run(self) -> None:
        while True:
            self._work.acquire()
            try:
                self._task()
            except BaseException as error:
                self._error = error
            self._task = int
            self._done.release()


def together(tasks: list[Callable[[], Any]]) -> None:
    """Do all of them, the first in this thread and each other in one of its own."""
    helpers = [_started(task) for task in tasks[1:]]
    try:
        for task in tasks[:1]:
            task()
    finally:
        _finish(helpers)


def _started(task: Callable[[], Any]) -> Helper:
    """A helper at work; to be handed to `_finish`."""
    idle = _idle.setdefault(os.getpid(), [])
    try:
        helper = idle.pop()
    except IndexError:
        helper = Helper()
    helper.start(task)
    return helper


def _finish(helpers: list[Helper]) -> None:
    """Wait for all of them, and raise what the first of them raised.

    One that is still at work when Ctrl-C ends the waiting is not called again.
    """
    errors = []
    for helper in helpers:
        errors.append(helper.wait())
        _idle[os.getpid()].append(helper)
    for error in errors:
        if error is not None:
            raise error
