"""`watch`: a trace of `solve` itself, step by step, like those of the textbook solvers.

The compiled loop records the pair and its α of every step, the driver its Newton steps, the samples
left out by shrinking and the rows it fetches. Everything else (gap, bias, counts) is computed from
these points afterwards, in float64. It is meant for small problems.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...dual.certificate import certify_expansion
from ...dual.problem import DualProblem, Float
from ...runtime.parallel import single_threaded_blas
from ..drivers.full import PairRun
from ..interrupt import deferred_interrupts
from ..plan import planned
from ..result import Solution, Trace, TraceBuilder
from ..rows.base import LoopRows
from ..settings import Settings
from ..smo import state as r
from ..solver import as_gram
from .record import NONE, CountedMatrix, DetailedTrace

MOST_STEPS = 10_000
DRIVERS = ("full", "rows")


@dataclass(frozen=True)
class Point:
    """The state of a run after a step.

    Attributes
    ----------
    alpha : float array
    pair : (int, int)
        The variables that moved, or −1 twice.
    samples, rows : bool arrays
        Samples active under shrinking; rows in memory.
    """

    alpha: Float
    pair: tuple[int, int]
    samples: NDArray[np.bool_]
    rows: NDArray[np.bool_]


def watch(
    problem: DualProblem,
    gram: Any,
    *,
    driver: str = "full",
    selection: str = "second_order",
    planning: int = 0,
    overstep: float = 1.0,
    shrinking: bool = False,
    face: bool = False,
    tol: float = 1e-3,
    cache_bytes: float = 1 << 30,
    max_steps: int = 2000,
    start: Float | None = None,
    alpha: bool = False,
    random_state: int = 0,
) -> Solution:
    """Run `solve` and return its solution with a `DetailedTrace`.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram or array of shape (samples, samples)
    driver : {"full", "rows"}
        The whole matrix in memory, or a cache of rows.
    selection, planning, overstep, shrinking, face, tol, cache_bytes, random_state
        As of `solve`; shrinking and Newton steps on the face are off by default.
    max_steps : int
        At most 10,000.
    start : array, optional
        Where to start; made feasible first.
    alpha : bool
        Whether to keep all of α after every step, with the samples and rows in use.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.solvers.textbook import watch
    >>> x = np.linspace(-1, 1, 20)
    >>> solution = watch(hinge(np.sign(x), C=1.0).problem, np.outer(x, x))
    >>> row = solution.trace.rows()[0]
    >>> row["pair"], row["kind"]
    ([10, 9], 'clipped')
    """
    if not 0 < max_steps <= MOST_STEPS:
        raise ValueError(f"max_steps must be in 1 … {MOST_STEPS}, got {max_steps}")
    if driver not in DRIVERS:
        raise ValueError(f"driver must be one of {DRIVERS}, got {driver!r}")
    settings = Settings(
        tol=float(tol),
        gap=np.inf,
        selection=selection,
        planning=planning,
        overstep=float(overstep),
        shrinking=shrinking,
        face=face,
        cache_bytes=cache_bytes,
        max_steps=max_steps,
        max_seconds=np.inf,
        target=np.inf,
        callback=None,
        trace=True,
        random_state=random_state,
    )
    K = np.asarray(as_gram(gram).matrix(), dtype=np.float64)
    matrix = as_gram(K)
    plan = planned(problem, matrix, settings, driver, begun=start is not None)
    quiet = np.errstate(over="ignore", invalid="ignore")
    with single_threaded_blas(), deferred_interrupts() as interrupt, quiet:
        run = WatchedRun(problem, matrix, settings, plan, start, interrupt)
        solution = run.finish()
    assert solution.trace is not None
    return replace(solution, trace=_detailed(problem, K, solution.trace, run.points, alpha))


class WatchedRun(PairRun):
    """A run that keeps every point it passes."""

    points: list[Point]

    def new_trace(self) -> TraceBuilder:
        first = self.alpha.copy()
        self.points = [Point(first, (NONE, NONE), self.samples_left(), self.rows_in_memory())]
        return PointTrace(self)

    def samples_left(self) -> NDArray[np.bool_]:
        left = np.zeros(self.problem.samples, dtype=bool)
        left[self.active.samples] = True
        return left

    def rows_in_memory(self) -> NDArray[np.bool_]:
        present = np.zeros(self.problem.samples, dtype=bool)
        present[self.active.samples[cast(LoopRows, self.active.rows).store.slot >= 0]] = True
        return present

    def slab_length(self) -> int:
        """With a cache the state is recorded after every step; short slabs make shrinking, which
        happens between slabs, visible in small runs."""
        if not self.whole_matrix:
            return 1
        longest = int(super().slab_length())
        return min(longest, max(1, self.until_shrink)) if self.settings.shrinking else longest

    def after_pair(self, pair: NDArray[np.int64], values: Float) -> None:
        """Record a pair step, given in the indices of the loop."""
        alpha, variables = self.points[-1].alpha.copy(), []
        samples = self.problem.samples
        for a, value in zip(pair.tolist(), values.tolist()):
            copy, place = divmod(a, self.active.size)
            sample = int(self.active.samples[place])
            if self.active.folded:
                # The two variables of a sample are one in the loop; a step stays on one side of 0.
                copy = int(min(alpha[sample] + alpha[sample + samples], value) < 0.0)
            variables.append(copy * samples + sample)
            alpha[variables[-1]] = value
        self._keep(alpha, (variables[0], variables[1]))

    def after_face(self) -> None:
        """Record a Newton step on all free variables."""
        alpha = self.alpha.copy()
        self.active.write(alpha, self.gradient.copy())
        self._keep(alpha, (NONE, NONE))

    def _keep(self, alpha: Float, pair: tuple[int, int]) -> None:
        self.points.append(Point(alpha, pair, self.samples_left(), self.rows_in_memory()))


class PointTrace(TraceBuilder):
    """Reports every step to a watched run."""

    def __init__(self, run: WatchedRun) -> None:
        super().__init__(True, run.state.dual)
        self.run = run

    def add(self, buffers: r.StepTrace, steps: int, active: int, free: int) -> None:
        super().add(buffers, steps, active, free)
        for k in range(steps):
            self.run.after_pair(buffers.pair[k], buffers.after[k])

    def add_face(self, violation: float, gain: float, active: int, free: int) -> None:
        super().add_face(violation, gain, active, free)
        self.run.after_face()


def _detailed(
    problem: DualProblem, K: Float, told: Trace, points: list[Point], alpha: bool
) -> DetailedTrace:
    matrix, entries = CountedMatrix(K), []
    for before, point in pairwise(points):
        i, j = point.pair
        for a in range(problem.size) if i < 0 else (i, j):
            if before.alpha[a] != point.alpha[a]:
                matrix.row(a % problem.samples)
        Kalpha = K @ problem.per_sample(point.alpha)
        gradient = problem.gradient(point.alpha, Kalpha)
        pair = [
            (at[i], at[j]) if i >= 0 else (np.nan, np.nan) for at in (before.alpha, point.alpha)
        ]
        gap = certify_expansion(problem, point.alpha, Kalpha).gap
        bias = float(problem.bias(point.alpha, gradient)[0])
        entries.append((i, j, *pair, gap, bias, matrix.evaluations))
    columns = list(zip(*entries)) or [()] * 7
    return DetailedTrace(
        violation=told.violation,
        dual=told.dual,
        kind=told.kind.astype(int),
        ratio=told.ratio,
        active=told.active,
        free=told.free,
        i=np.array(columns[0], dtype=int),
        j=np.array(columns[1], dtype=int),
        before=np.array(columns[2], dtype=float).reshape(-1, 2),
        after=np.array(columns[3], dtype=float).reshape(-1, 2),
        gap=np.array(columns[4], dtype=float),
        bias=np.array(columns[5], dtype=float),
        kernel_evaluations=np.array(columns[6], dtype=int),
        alpha=np.array([point.alpha for point in points]) if alpha else None,
        samples=np.array([point.samples for point in points]) if alpha else None,
        rows_cached=np.array([point.rows for point in points]) if alpha else None,
    )
