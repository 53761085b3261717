"""Settings of a run: the arguments of `solve`, validated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dual.problem import DualProblem
from . import costs
from .smo import state as r

if TYPE_CHECKING:
    from .result import Progress, Solution

# Variables of a small problem.
SMALL = 250


@dataclass(frozen=True)
class Settings:
    """Budgets and methods; see `solve`."""

    tol: float
    gap: float
    selection: str
    planning: int
    overstep: float
    shrinking: bool
    face: bool
    cache_bytes: float
    max_steps: float
    max_seconds: float
    target: float
    callback: Callable[[Progress], Any] | None
    trace: bool
    random_state: int

    def affordable_side(self, entry: int) -> int:
        """Rows of the largest square working matrix beside the cache, if each of its entries takes
        `entry` bytes in total: at least 1024 of a small cache, and 2^20 of one without limit."""
        most = min(costs.FACE_SHARE * self.cache_bytes / entry, 2.0**40)
        return max(1024, int(most**0.5))

    def after(self, earlier: Solution | None, samples: int) -> Settings:
        """Settings with the budgets that an earlier run on so many samples has left; the callback
        sees the accumulated cost."""
        if earlier is None:
            return self
        callback = self.callback

        def told(progress: Progress) -> object:
            return callback(  # type: ignore[misc]
                progress._replace(
                    steps=progress.steps + earlier.steps,
                    seconds=progress.seconds + earlier.seconds,
                    rows=progress.rows + earlier.kernel_evaluations // samples,
                )
            )

        return replace(
            self,
            max_steps=max(0.0, self.max_steps - earlier.steps),
            max_seconds=max(0.0, self.max_seconds - earlier.seconds),
            callback=None if callback is None else told,
        )

    def __post_init__(self) -> None:
        if not self.tol > 0:
            raise ValueError(f"tol must be positive, got {self.tol}")
        if not self.gap > 0:
            raise ValueError(f"gap must be positive, got {self.gap}")
        if self.selection not in r.SELECTIONS:
            raise ValueError(
                f"selection must be one of {sorted(r.SELECTIONS)}, got {self.selection!r}"
            )
        if self.planning < 0 or int(self.planning) != self.planning:
            raise ValueError(f"planning must be 0, 1, 2, …, got {self.planning!r}")
        if not 0.0 < self.overstep < 2.0:
            raise ValueError(f"overstep must lie between 0 and 2, got {self.overstep}")
        for name in ("max_steps", "max_seconds", "cache_bytes"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")


def may_be_unbounded(problem: DualProblem) -> bool:
    """Whether α may grow along a ray: infinite boxes without ridge, not limited by the sums."""
    return problem.constrained and problem.balanced


def default_steps(problem: DualProblem) -> float:
    """The default step limit: infinite, except for problems that may be unbounded (more than any
    solvable one has needed) and small ones (more means that float64 cannot resolve the problem)."""
    if problem.size <= SMALL:
        return 5e5
    return max(1e7, 1e3 * problem.size) if may_be_unbounded(problem) else np.inf
