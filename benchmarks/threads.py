"""What a second core and more are worth: fits on one core and on all, in turn.

`python -m benchmarks.speed --threads` prints, for each problem, the seconds on one core and on all
of them, the gain (their ratio), and the share of the work that must run in parallel to give it,

    gain = 1 / (1 − share + share / cores)

Processes are bound to their cores when they start, which every library respects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from .contenders import SKLEARN, Contender, Unavailable
from .first import write_rows
from .problems import Problem, missing
from .workers import BudgetUsed, Failed, Worker


@dataclass(frozen=True)
class Gain:
    """A contender on a problem: median seconds on one core and on all."""

    problem: str
    contender: str
    cores: int
    alone: float
    together: float

    @property
    def gain(self) -> float:
        return self.alone / self.together

    @property
    def share(self) -> float:
        """The part of the work that runs in parallel."""
        return (1.0 - 1.0 / self.gain) / (1.0 - 1.0 / self.cores)


def gains(
    contenders: Sequence[Contender],
    problems: Sequence[Problem],
    repeats: int = 3,
    budget: float | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Iterator[Gain]:
    """Each contender on each problem; those of one thread only are left out."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise Unavailable("there is one core only, so that more of them cannot be compared")
    for problem in problems:
        if why := missing(problem):
            say(f"{problem.name} is left out: {why}")
            continue
        for contender in contenders:
            if contender.library == SKLEARN:
                continue
            say(f"{problem.name}: {contender.name}")
            try:
                found = _seconds(contender, problem, (cores[:1], cores), repeats, budget)
            except (BudgetUsed, Failed, Unavailable) as error:
                say(f"{problem.name}: {contender.name} is left out: {str(error) or 'over budget'}")
                continue
            yield Gain(problem.name, contender.name, len(cores), *found)


def _seconds(
    contender: Contender,
    problem: Problem,
    places: Sequence[Sequence[int]],
    repeats: int,
    budget: float | None,
) -> list[float]:
    """Median seconds of a fit on each set of cores."""
    workers = [Worker(contender) for _ in places]
    seconds: list[list[float]] = [[] for _ in places]
    try:
        for worker, cores in zip(workers, places):
            with bound_to(cores):
                worker.ask("prepare", problem, budget=budget)
        for _ in range(repeats):
            for worker, found in zip(workers, seconds):
                found.append(worker.ask("fit", budget=budget).seconds)
    finally:
        for worker in workers:
            worker.close()
    return [median(found) for found in seconds]


@contextmanager
def bound_to(cores: Sequence[int]) -> Iterator[None]:
    """Processes that are started here run on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def table_of(found: Sequence[Gain]) -> str:
    lines = [
        f"{'problem':<24} {'contender':<18} {'1 core s':>9} {'all s':>9} {'gain':>6} "
        f"{'parallel':>9}"
    ]
    for row in found:
        lines.append(
            f"{row.problem:<24} {row.contender:<18} {row.alone:9.3g} {row.together:9.3g} "
            f"{row.gain:6.2f} {100 * row.share:7.0f} %"
        )
    return "\n".join(lines)


def write(found: Sequence[Gain], machine: dict[str, Any], folder: Path) -> None:
    write_rows("threads", found, machine, folder)
