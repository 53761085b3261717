"""`solve`: the Python around the compiled loop.

Between slabs of compiled steps live everything slow, optional or human: fetching rows,
shrinking, face steps, budgets, callbacks, Ctrl-C and the check before the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dual.problem import DualProblem
from ..kernels import Gram, Precomputed
from . import records as r
from .active import LEAST_LEAVING, Active
from .face import LARGEST_FACE, face_step
from .interrupt import held_interrupts
from .rows import CachedRows, FullRows
from .smo import run_slab
from .solution import Progress, Solution, TraceBuilder

LONGEST_SLAB = 1000
# Seconds that one variable of one step costs, one flop of a factorisation, one gathered entry:
# only their ratios matter, to weigh face steps against pair steps.
STEP_COST, FLOP_COST, GATHER_COST = 1.3e-9, 5e-11, 2e-9
# Slabs without a gain above rounding before a run is called finished in this precision.
PATIENCE = 5
# The end is polished down to this part of tol, if face steps get there.
POLISHED = 1e-6
# A dual beyond this (in units of the squared data radius) means that nothing separates.
UNBOUNDED_DUAL = 1e13


@dataclass(frozen=True)
class Settings:
    """The arguments of `solve`, checked."""

    tol: float
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

    def __post_init__(self):
        if not self.tol > 0:
            raise ValueError(f"tol must be positive, got {self.tol}")
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


def solve(
    problem: DualProblem,
    gram: Gram | np.ndarray,
    *,
    driver: str = "auto",
    tol: float = 1e-3,
    selection: str = "second_order",
    planning: int = 0,
    overstep: float = 1.0,
    shrinking: bool = True,
    face: bool = True,
    alpha: np.ndarray | None = None,
    cache_bytes: float = 1 << 30,
    max_steps: float | None = None,
    max_seconds: float | None = None,
    target: float | None = None,
    callback: Callable[[Progress], Any] | None = None,
    trace: bool = False,
    random_state: int = 0,
) -> Solution:
    """Maximise ``linear·α − ½ αᵀQα`` over the box and the sums of a `DualProblem`.

    Parameters
    ----------
    problem : DualProblem
    gram : Gram or array of shape (samples, samples)
        The Gram matrix of the samples, from ``kernel.bind(X)`` or as an array.
    driver : {"auto", "full", "rows"}
        `full` keeps the whole matrix in memory; `rows` computes rows on demand into an LRU cache
        of `cache_bytes`. `auto` takes `full` where the matrix fits into `cache_bytes`.
    tol : float
        Largest KKT violation of a pair at the end.
    selection : str
        Which pair moves next: "second_order", "mvp", "max_gain", "hybrid_max_gain", "greedy",
        "platt" or "random".
    planning : int
        Plan ahead with this many recent pairs (chapter 7); 0 takes Newton steps.
    overstep : float
        Factor on the Newton step.
    shrinking : bool
    face : bool
        Take Newton steps on all free variables when free steps dominate, and to polish the end.
    alpha : array, optional
        Where to start; made feasible first.
    max_steps, max_seconds, target : float, optional
        Budgets: pair steps, time, dual value.
    callback : callable, optional
        Called with a `Progress` between slabs; a true answer stops the run.
    trace : bool
        Record every step.
    random_state : int
        Of the selection "random".

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import solve
    >>> from maxmargin.dual import hinge
    >>> K = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> solve(hinge(np.array([1.0, -1.0]), C=10.0).problem, K).alpha
    array([ 1., -1.])
    """
    settings = Settings(
        tol=float(tol),
        selection=selection,
        planning=planning,
        overstep=float(overstep),
        shrinking=shrinking,
        face=face,
        cache_bytes=cache_bytes,
        max_steps=default_steps(problem) if max_steps is None else max_steps,
        max_seconds=np.inf if max_seconds is None else max_seconds,
        target=np.inf if target is None else float(target),
        callback=callback,
        trace=trace,
        random_state=random_state,
    )
    gram = as_gram(gram)
    if gram.n != problem.samples:
        raise ValueError(f"the Gram matrix has {gram.n} samples, the problem {problem.samples}")
    driver = chosen_driver(driver, gram, settings)
    with held_interrupts() as interrupt:
        return Run(problem, gram, driver, settings, alpha, interrupt).finish()


def as_gram(gram: Gram | np.ndarray) -> Gram:
    if isinstance(gram, Gram):
        return gram
    gram = np.asarray(gram)
    if not np.isfinite(gram).all():
        raise ValueError("gram contains NaN or infinity")
    return Precomputed().bind(gram)


def default_steps(problem: DualProblem) -> float:
    """No limit, but for problems that may be unbounded: there, more than any solvable one took."""
    return max(1e7, 1e3 * problem.size) if may_be_unbounded(problem) else np.inf


def may_be_unbounded(problem: DualProblem) -> bool:
    """Whether α may grow along a ray: infinite boxes without ridge, sums that hold nothing."""
    unlimited = np.isinf(problem.upper - problem.lower) & (problem.ridge == 0)
    return bool(unlimited.any() and not problem.totals.any())


def chosen_driver(driver: str, gram: Gram, settings: Settings) -> str:
    fits = gram.n**2 * gram.dtype.itemsize <= settings.cache_bytes
    if driver == "auto":
        driver = "full" if fits or settings.selection == "greedy" else "rows"
    if driver not in ("full", "rows"):
        raise ValueError(f'driver must be "auto", "full" or "rows", got {driver!r}')
    if driver == "rows" and settings.selection == "greedy":
        raise ValueError('selection="greedy" needs the whole matrix: use driver="full"')
    return driver


class Ended(Exception):
    """A budget ran out in the middle of preparing."""


class Run:
    """One optimisation from start to end."""

    def __init__(self, problem, gram, driver, settings, alpha, interrupt):
        self.began = time.perf_counter()
        self.problem, self.gram, self.driver = problem, gram, driver
        self.settings, self.interrupt = settings, interrupt
        self.alpha = problem.feasible(alpha)
        self.diagonal = gram.diagonal()
        self.scale = float(np.abs(self.diagonal).max()) or 1.0
        resolution = max(1e-12, 4 * np.finfo(gram.dtype).eps)
        self.control = r.Control(
            selection=r.SELECTIONS[settings.selection],
            planning=int(settings.planning),
            overstep=settings.overstep,
            tol=settings.tol,
            scale=self.scale,
            floor=resolution * self.scale,
            target=settings.target,
            max_steps=0,
        )
        self.memory = r.Memory(
            np.zeros(r.INTEGERS, dtype=np.int64),
            np.zeros(r.REALS),
            np.zeros((int(settings.planning) + 1, 2), dtype=np.int64),
            np.zeros(int(settings.planning) + 1),
        )
        self.memory.integers[r.RANDOM_STATE] = settings.random_state
        self.memory.integers[r.SWEEP_ALL] = 1
        self.face_rounds = 0
        self.violation = np.inf

    # ---- the run ---------------------------------------------------------------------------

    def finish(self) -> Solution:
        try:
            self._prepare()
        except Ended as ended:
            return self._unprepared(str(ended))
        status = self._loop()
        if not self.active.whole:
            self._restore_all()
        if status == "converged" and self.memory.integers[r.NEGATIVE] > 0:
            status = "stationary"
        return self._solution(status)

    def _prepare(self):
        rows = self._all_rows()
        gradient = self._true_gradient(rows, self.alpha)
        self.memory.reals[r.DUAL] = self.problem.value(self.alpha, gradient)
        self.trace = TraceBuilder(self.settings.trace, self.memory.reals[r.DUAL])
        self.gradient = gradient
        self._set_active(Active(self.problem, rows, self.diagonal, self.alpha, gradient))
        self.fresh = True  # whether the gradient was computed from scratch since it was updated
        self.until_shrink = self._shrink_interval()
        self.since_face = 0.0  # cost of the pair steps since the last face step
        self.free_share = 1.0
        self.face_patience = 1.0
        self.idle_slabs = self.stalls = 0
        self.polish_steps = None  # pair steps left for polishing, once it began

    def _loop(self) -> str:
        """Slabs until a reason to end; the reason."""
        while True:
            event, missing = self._slab()
            if event == r.ROW_MISSING:
                self.active.rows.fetch(missing, int(self.memory.integers[r.CLOCK]))
                if self.interrupt.pressed or time.perf_counter() - self.began > (
                    self.settings.max_seconds
                ):
                    return "interrupted" if self.interrupt.pressed else "time_limit"
                continue
            ended = self._budgets(event)
            if ended:
                return ended
            if event == r.CONVERGED:
                if not self.active.whole:
                    self._restore_all()
                elif not self.fresh:
                    self._refresh()
                elif not self._polish():
                    return "converged" if self.violation <= self.settings.tol else "precision"
            elif self._face_is_due():
                self._face()
                if self.unbounded:
                    return "unbounded"
            elif self.settings.shrinking and not self.stalls:
                self._shrink()

    def _slab(self):
        steps = int(min(self._slab_length(), self._steps_left()))
        before = self.memory.integers.copy()
        dual = self.memory.reals[r.DUAL]
        buffers = self.trace.buffers(steps)
        event, missing, self.violation = run_slab(
            self.active.v,
            self.active.rows.store,
            self.active.size,
            self.control._replace(max_steps=steps, tol=max(self.control.tol, self._noise())),
            self.memory,
            buffers,
        )
        took = int(self.memory.integers[r.CLOCK] - before[r.CLOCK])
        if took:
            self.fresh = False
            self._account(took, before, dual)
            if self.trace.wanted:
                self.trace.add(buffers, took, self.active.size, self.active.free().size)
        return event, missing

    def _account(self, took, before, dual):
        free = self.memory.integers[[r.FREE_STEPS, r.PLANNED_STEPS]].sum()
        free -= before[[r.FREE_STEPS, r.PLANNED_STEPS]].sum()
        self.free_share = free / took
        self.since_face += took * self.active.v.alpha.size * STEP_COST
        self.until_shrink -= took
        if self.polish_steps is not None:
            self.polish_steps -= took
        gain = self.memory.reals[r.DUAL] - dual
        idle = gain <= 1e-15 * abs(self.memory.reals[r.DUAL]) and took >= 100
        self.idle_slabs = self.idle_slabs + 1 if idle else 0

    def _slab_length(self):
        size = self.active.v.alpha.size
        length = min(LONGEST_SLAB, max(50, int(5e7 / size)))
        if self.polish_steps is not None:
            violators = int((~self.active.settled()).sum() - self.active.free().size)
            length = min(length, 10 + 2 * max(violators, 0))
        return length

    def _steps_left(self):
        return self.settings.max_steps - self.memory.integers[r.CLOCK]

    # ---- budgets ---------------------------------------------------------------------------

    def _budgets(self, event):
        """A reason to end now, or None."""
        if self.interrupt.pressed:
            return "interrupted"
        if event == r.STUCK:
            return "stuck" if self.active.whole else self._restore_all()
        if event == r.UNBOUNDED or self._hopeless():
            return "unbounded"
        if event == r.TARGET_REACHED:
            return "target"
        settings = self.settings
        if settings.callback is not None and settings.callback(self._progress()):
            return "stopped"
        if event == r.CONVERGED:
            return None
        # Budgets that run out while polishing leave a converged point behind if it is one.
        if self._steps_left() <= 0:
            return self._out_of("step_limit")
        if time.perf_counter() - self.began > settings.max_seconds:
            return self._out_of("time_limit")
        if self.idle_slabs >= PATIENCE:
            return self._stalled()
        return None

    def _out_of(self, status):
        if self.active.whole and self.violation <= self.settings.tol:
            return "converged"
        return status

    def _stalled(self):
        """No gain above rounding: look at everything anew, then stop polishing, then admit it."""
        self.idle_slabs = 0
        self.stalls += 1
        if self.stalls == 1:
            if self.active.whole:
                self._refresh()
            else:
                self._restore_all()
        elif self.control.tol < self.settings.tol:
            self._end_polish()
        else:
            return "precision"
        return None

    def _hopeless(self):
        """Whether a hard-margin dual has grown beyond any margin that float64 can hold."""
        grown = self.memory.reals[r.DUAL] * self.scale > UNBOUNDED_DUAL
        return grown and may_be_unbounded(self.problem)

    def _progress(self):
        v = self.active.v
        return Progress(
            steps=int(self.memory.integers[r.CLOCK]),
            violation=float(self.violation),
            dual=float(self.memory.reals[r.DUAL]),
            gap=estimated_gap(v, self.problem.totals.size),
            seconds=time.perf_counter() - self.began,
            support=int((v.alpha != 0).sum()),
            active=self.active.size,
            rows=self.active.rows.evaluations // self.problem.samples,
        )

    # ---- rows and gradients ----------------------------------------------------------------

    def _all_rows(self):
        if self.driver == "full":
            return FullRows.of(self.gram, self._pause)
        return CachedRows(self.gram, self.settings.cache_bytes)

    def _pause(self):
        if self.interrupt.pressed:
            raise Ended("interrupted")
        if time.perf_counter() - self.began > self.settings.max_seconds:
            raise Ended("time_limit")

    def _true_gradient(self, rows, alpha):
        coefficients = self.problem.per_sample(alpha)
        support = np.flatnonzero(coefficients)
        expansion = rows.combine(support, coefficients[support])
        return self.problem.gradient(alpha, expansion)

    def _set_active(self, active):
        self.active = active
        self._forget_pairs()

    def _forget_pairs(self):
        integers = self.memory.integers
        integers[[r.PENDING_I, r.PENDING_J]] = -1
        integers[[r.RECENT, r.CURSOR]] = 0
        integers[r.LAST_KIND] = r.CLIPPED

    def _noise(self):
        """The violation that rounding of the gradient alone can cause."""
        v = self.active.v
        return np.finfo(np.float64).eps * (
            4.0 * self.scale * float(np.linalg.norm(v.alpha)) + float(np.abs(v.gradient).max())
        )

    def _refresh(self):
        """The gradient anew, free of accumulated rounding."""
        self.active.write(self.alpha, self.gradient)
        self.gradient = self._true_gradient(self.active.rows, self.alpha)
        self.active.v.gradient[...] = self.gradient
        self.memory.reals[r.DUAL] = self.problem.value(self.alpha, self.gradient)
        self.fresh = True

    def _restore_all(self):
        """End shrinking: all variables return, with their gradient reconstructed."""
        self.active.write(self.alpha, self.gradient)
        rows = self.active.rows
        if self.driver == "full":
            rows = self.whole_rows
        else:
            rows = CachedRows(
                self.gram, self.settings.cache_bytes, None, rows.evaluations, rows.misses
            )
        self.gradient = self._true_gradient(rows, self.alpha)
        self._set_active(Active(self.problem, rows, self.diagonal, self.alpha, self.gradient))
        self.memory.reals[r.DUAL] = self.problem.value(self.alpha, self.gradient)
        self.violation = self.problem.violation(self.alpha, self.gradient)
        self.fresh = True
        self.until_shrink = self._shrink_interval()

    # ---- shrinking and faces ---------------------------------------------------------------

    def _shrink_interval(self):
        return min(self.problem.size, LONGEST_SLAB)

    def _shrink(self):
        if self.until_shrink > 0:
            return
        self.until_shrink = self._shrink_interval()
        keep = self.active.staying()
        if keep.size > (1.0 - LEAST_LEAVING) * self.active.size or keep.size < 2:
            return
        if self.active.whole:
            self.whole_rows = self.active.rows
        self._set_active(self.active.shrunk(keep, self.diagonal, self.alpha, self.gradient))

    def _face_is_due(self):
        if not self.settings.face:
            return False
        free = self.active.free().size
        if free < 2 or free > LARGEST_FACE:
            return False
        if self.polish_steps is not None:
            return True
        cost = 1e-4 + FLOP_COST * free**3 / 3 + GATHER_COST * free * (free + self.active.size)
        return self.free_share > 0.5 and self.since_face > self.face_patience * cost

    def _face(self):
        before = self.violation
        result = face_step(self.active)
        self.unbounded = result.unbounded
        self.since_face = 0.0
        self.face_patience = 1.0 if result.rounds else 2 * self.face_patience
        if result.rounds:
            self.face_rounds += result.rounds
            self.memory.reals[r.DUAL] += result.gain
            self._forget_pairs()
            self.fresh = False
            self.trace.add_face(before, result.gain, self.active.size, self.active.free().size)

    def _polish(self):
        """After convergence: whether to go on towards the exact optimum by face steps."""
        if not self.settings.face or self.settings.selection == "max_gain":
            return False
        if self.polish_steps is not None or self.active.free().size > LARGEST_FACE:
            return False
        self.polish_steps = 1000 + int(self.memory.integers[r.CLOCK]) // 2
        self.control = self.control._replace(tol=POLISHED * self.settings.tol)
        if self._face_is_due():
            self._face()
        return True

    def _end_polish(self):
        self.control = self.control._replace(tol=self.settings.tol)

    # ---- the end ---------------------------------------------------------------------------

    def _solution(self, status) -> Solution:
        active, integers = self.active, self.memory.integers
        active.write(self.alpha, self.gradient)
        steps = int(integers[r.CLOCK])
        return Solution(
            alpha=self.alpha,
            gradient=self.gradient,
            bias=self.problem.bias(self.alpha, self.gradient),
            dual=self.problem.value(self.alpha, self.gradient),
            violation=self.problem.violation(self.alpha, self.gradient),
            status=status,
            steps=steps,
            face_steps=self.face_rounds,
            planned_steps=int(integers[r.PLANNED_STEPS]),
            kernel_evaluations=int(active.rows.evaluations),
            row_hits=max(0, 2 * steps - active.rows.misses),
            row_misses=int(active.rows.misses),
            seconds=time.perf_counter() - self.began,
            trace=self.trace.finished(),
        )

    def _unprepared(self, status) -> Solution:
        """Ended before the first gradient was known."""
        nothing = np.full(self.problem.size, np.nan)
        return Solution(
            alpha=self.alpha,
            gradient=nothing,
            bias=np.zeros(self.problem.totals.size),
            dual=np.nan,
            violation=np.inf,
            status=status,
            steps=0,
            face_steps=0,
            planned_steps=0,
            kernel_evaluations=0,
            row_hits=0,
            row_misses=0,
            seconds=time.perf_counter() - self.began,
        )


def estimated_gap(v: r.Variables, groups: int) -> float:
    """Duality gap Σ loss_a(e_a) − α_a e_a + ½ ridge_a α_a², e = G + ridge·α − b, of the active
    variables; those left out by shrinking contribute nothing at the optimum."""
    free = (v.alpha > v.lower) & (v.alpha < v.upper)
    bias = np.zeros(groups)
    for g in range(groups):
        members = free & (v.group == g)
        if members.any():
            bias[g] = v.gradient[members].mean()
        else:
            bias[g] = 0.5 * ((v.gradient + v.rise[g]).max() + (v.gradient + v.fall[g]).min())
    error = v.gradient + v.ridge * v.alpha - bias[v.group]
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(v.ridge > 0, error / v.ridge, np.sign(error) * np.inf)
        best = np.clip(np.where(error == 0, 0.0, best), v.lower, v.upper)
        loss = np.where(error == 0, 0.0, error * best) - 0.5 * v.ridge * best**2
    return float((loss - v.alpha * error + 0.5 * v.ridge * v.alpha**2).sum())
