"""Seconds that a busy machine does not lengthen.

A process that shares its processors with others waits for its turn. Linux counts these waits for
each thread (``/proc/<pid>/task/<tid>/schedstat``, the second number, in nanoseconds); `Stopwatch`
takes them off. What is left is the time that the work takes on an idle machine: computing,
sleeping and waiting for files or other processes all count, standing in the queue does not.
"""

from __future__ import annotations

import os
import time
from pathlib import Path


def queued(pid: int | str = "self") -> float:
    """Seconds that the threads of a process have waited for a processor, added up; 0 where the
    system does not tell."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        try:
            total += int(Path(thread, "schedstat").read_text().split()[1])
        except (OSError, IndexError):  # the thread has ended, or nothing is counted
            continue
    return 1e-9 * total


class Stopwatch:
    """Measures from its making: `wall` as the clock on the wall does, `seconds` without waits.

    Parameters
    ----------
    pid : int, optional
        Of another process that does the work while this one waits for it.
    """

    def __init__(self, pid: int | None = None) -> None:
        self.processes = [os.getpid()] if pid is None else [os.getpid(), pid]
        self.waited = sum(map(queued, self.processes))
        self.began = time.perf_counter()

    @property
    def delay(self) -> float:
        """How many times longer everything takes than on an idle machine."""
        return self.wall / self.seconds

    @property
    def wall(self) -> float:
        return time.perf_counter() - self.began

    @property
    def seconds(self) -> float:
        wall = self.wall
        return wall - max(0.0, sum(map(queued, self.processes)) - self.waited)
