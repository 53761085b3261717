"""Seconds that a busy machine does not lengthen.

A process that shares its processors with others waits for its turn. Linux counts, for each thread,
the nanoseconds on a processor and those of waiting for one (``/proc/<pid>/task/<tid>/schedstat``).
`Stopwatch` takes the waits off. What is left is the time that the work takes on an idle machine:
computing, sleeping and waiting for files or other processes all count, standing in the queue does
not.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import NamedTuple


class Threads(NamedTuple):
    """Seconds of all threads of some processes, added up; 0 where the system does not tell."""

    computing: float
    waiting: float


def threads_of(*processes: int) -> Threads:
    computing = waiting = 0
    for pid in processes:
        for thread in Path(f"/proc/{pid}/task").glob("*"):
            try:
                counts = Path(thread, "schedstat").read_text().split()
                computing, waiting = computing + int(counts[0]), waiting + int(counts[1])
            except (OSError, IndexError):  # the thread has ended, or nothing is counted
                continue
    return Threads(1e-9 * computing, 1e-9 * waiting)


class Stopwatch:
    """Measures from its making: `wall` as the clock on the wall does, `seconds` without waits.

    Threads may wait at the same time, and then the sum of their waits is longer than the delay; the
    work took at least the time that it computed, spread over all processors.

    Parameters
    ----------
    pid : int, optional
        Of another process that does the work while this one waits for it.
    """

    def __init__(self, pid: int | None = None) -> None:
        self.processes = (os.getpid(),) if pid is None else (os.getpid(), pid)
        self.before = threads_of(*self.processes)
        self.began = time.perf_counter()

    @property
    def wall(self) -> float:
        return time.perf_counter() - self.began

    @property
    def seconds(self) -> float:
        wall, now = self.wall, threads_of(*self.processes)
        computed = (now.computing - self.before.computing) / (os.cpu_count() or 1)
        return max(wall - max(0.0, now.waiting - self.before.waiting), min(wall, computed))

    @property
    def delay(self) -> float:
        """How many times longer everything takes than on an idle machine."""
        wall, seconds = self.wall, self.seconds
        return wall / seconds if 0.0 < seconds < wall else 1.0


class Overrun:
    """By how much work goes on after a limit: ``with Overrun(0.5) as over: work()``.

    `seconds` are those after the limit, without waits; 0 where the work ended before. Limits are
    on the clock of the wall, on a busy machine too, so the waits before them are no excuse.
    """

    def __init__(self, limit: float) -> None:
        self.limit, self.seconds = limit, 0.0
        self._after: Stopwatch | None = None
        self._timer = threading.Timer(limit, self._passed)
        self._timer.daemon = True

    def _passed(self) -> None:
        self._after = Stopwatch()

    def __enter__(self) -> Overrun:
        self._timer.start()
        self._began = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        late = time.perf_counter() - self._began - self.limit
        self._timer.cancel()
        after = self._after
        # The timer may come too late, or not at all: what it did not see counts in full.
        self.seconds = max(0.0, late if after is None else late - after.wall + after.seconds)
