"""What every driver shares: slabs of pair and face steps, budgets, progress, the solution."""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from ...dual.problem import DualProblem, Float
from ...kernels.base import Gram
from ...runtime.lapack import POTRF
from ..interrupt import Interrupt
from ..newton.step import FaceResult, face_step
from ..plan import Plan
from ..result import NO_TRACE, Progress, Solution, TraceBuilder
from ..rows.base import LoopRows
from ..rows.lru import CachedRows
from ..settings import Settings, may_be_unbounded
from ..smo import state as r
from ..smo.schedule import blank_memory, note_face, run_to_end
from .single import DOUBLE_RESOLUTION
from .working_set import EPSILON, Active, largest_entry, rounding

LONGEST_SLAB = 1000
# Slabs or rounds without progress above rounding after which a run ends with status "precision".
PATIENCE = 20
# Curvatures of float32 rows below this fraction of the largest entry are treated as rounding.
SINGLE_RESOLUTION = 4 * float(np.finfo(np.float32).eps)
# A dual above this (in units of the squared data radius) means that the data are not separable.
UNBOUNDED_DUAL = 1e13


class Ended(Exception):
    """A budget ran out; the message is the status."""


class Stagnation:
    """What tells that a run leads nowhere, counted in slabs or rounds in a row.

    Attributes
    ----------
    idle : int
        Without any gain above rounding: neither of the dual value nor of the violation.
    unimproved : int
        In which the violation was not reduced.
    fruitless : int
        After which the dual value, recomputed, was not above the best one.
    """

    def __init__(self) -> None:
        self.idle = self.unimproved = self.fruitless = 0
        self.violation, self.dual = np.inf, -np.inf  # the best so far

    def note(self, gain: float, dual: float, violation: float) -> None:
        """Take note of what a slab or round has gained and reached."""
        better = violation < 0.9 * self.violation
        self.violation = min(self.violation, violation)
        idle = gain <= 1e-15 * abs(dual) and not better
        self.idle = self.idle + 1 if idle else 0
        self.unimproved = 0 if better else self.unimproved + 1

    def note_recomputed(self, dual: float) -> None:
        """Take note of a dual value that was computed from scratch."""
        self.fruitless = 0 if dual > self.dual else self.fruitless + 1
        self.dual = max(self.dual, dual)


class Run:
    """One optimisation from start to end, on the variables of ``self.active`` at a time."""

    active: Active
    gradient: Float
    trace: TraceBuilder

    def __init__(
        self,
        problem: DualProblem,
        gram: Gram,
        settings: Settings,
        plan: Plan,
        alpha: Float | None,
        interrupt: Interrupt,
    ) -> None:
        self.began = time.perf_counter()
        self.deadline = self.began + settings.max_seconds
        self.problem, self.gram = problem, gram
        self.settings, self.plan, self.interrupt = settings, plan, interrupt
        self.alpha = problem.feasible(alpha)
        if alpha is not None and problem.folds:
            # A common part of both variables of a sample only adds cost.
            both = problem.per_sample(self.alpha)
            self.alpha = np.concatenate([np.maximum(both, 0.0), np.minimum(both, 0.0)])
        self.diagonal = gram.diagonal()
        self.scale = largest_entry(self.diagonal) or 1.0
        single = gram.dtype == np.float32
        # The violation recomputed in float64 may be larger.
        self.aim = settings.tol * (0.9 if single else 1.0)
        resolution = SINGLE_RESOLUTION if single else DOUBLE_RESOLUTION
        self.control = r.Control(
            selection=r.SELECTIONS[settings.selection],
            planning=int(settings.planning),
            overstep=settings.overstep,
            tol=self.aim,
            scale=self.scale,
            floor=resolution * self.scale,
            target=settings.target,
            faces=r.FACES if settings.face else r.NO_FACES,
            ending=r.RETURN,
            potrf=POTRF,
        )
        self.plain = settings.selection == "second_order" and not settings.planning
        memory = blank_memory(int(settings.planning), problem.totals.size)
        self.memory, self.state, self.counters = memory
        self.state.random_state = settings.random_state
        self.violation = np.inf
        self.stagnation = Stagnation()
        self.unbounded = False
        self.told, self.stopped = self.began, False

    def finish(self) -> Solution:
        """Run to the end."""
        try:
            self.prepare()
        except Ended as ended:
            return self.unprepared(str(ended))
        self.trace = self.new_trace()
        status = self.loop()
        if status == "converged" and self.counters.negative_steps > 0:
            status = "stationary"
        return self.solution(status)

    def prepare(self) -> None:
        """Compute the first gradient and dual value."""
        raise NotImplementedError

    def new_trace(self) -> TraceBuilder:
        """What takes note of the steps."""
        return TraceBuilder(self.settings.trace, self.state.dual)

    def loop(self) -> str:
        """Optimise; set α and its gradient, and return the status."""
        raise NotImplementedError

    def slab(self) -> int:
        """Run a slab of steps, fetching rows that the loop reports missing; return the event."""
        steps = int(min(self.slab_length(), self.steps_left()))
        began = self.counters.steps
        dual = self.state.dual
        common = self.plain and not self.trace.wanted
        buffers = NO_TRACE if common else self.trace.buffers(steps)
        took, event = 0, r.ROW_MISSING
        while event == r.ROW_MISSING:
            event, missing, self.violation = run_to_end(
                self.active.v,
                cast(LoopRows, self.active.rows).store,
                self.active.size,
                self.control,
                steps - took,
                self.memory,
                None if common else r.StepTrace._make(column[took:] for column in buffers),
            )
            took = int(self.counters.steps - began)
            if event == r.ROW_MISSING:
                self.fetch(missing)
                if self.must_end() or (self.silent_for_long() and self.told_to_stop()):
                    event = r.STEPS_DONE
        if took:
            self.account(took, self.state.dual - dual)
            if self.trace.wanted:
                self.trace.add(buffers, took, self.active.size, self.active.free().size)
        return event

    def fetch(self, sample: int) -> None:
        """Load a row that the loop reported missing."""
        cast(CachedRows, self.active.rows).fetch(sample, int(self.counters.steps))

    def account(self, took: int, gain: float) -> None:
        """Record a slab of `took` steps with this gain."""

    def slab_length(self) -> int:
        return min(LONGEST_SLAB, max(50, int(5e7 / self.active.v.alpha.size)))

    def steps_left(self) -> float:
        return self.settings.max_steps - int(self.counters.steps)

    def progress(self) -> Progress:
        v = self.active.v
        return Progress(
            steps=int(self.counters.steps),
            violation=float(self.violation),
            dual=float(self.state.dual),
            gap=self.active.estimated_gap(),
            seconds=time.perf_counter() - self.began,
            support=int((v.alpha != 0).sum()),
            active=self.active.size,
            rows=self.evaluations() // self.problem.samples,
        )

    def told_to_stop(self) -> bool:
        """Report progress to the callback; whether it has ever asked to stop."""
        self.told = time.perf_counter()
        if self.settings.callback is not None and not self.stopped:
            self.stopped = bool(self.settings.callback(self.progress()))
        return self.stopped

    def silent_for_long(self, longest: float = 0.2) -> bool:
        """Whether the callback was last called more than so many seconds ago."""
        return time.perf_counter() - self.told > longest

    def evaluations(self) -> int:
        """Kernel evaluations so far."""
        return int(self.active.rows.evaluations)

    def must_end(self) -> bool:
        return self.interrupt.pressed or time.perf_counter() > self.deadline

    def pause(self) -> None:
        """Called between blocks of a long preparation."""
        if self.interrupt.pressed:
            raise Ended("interrupted")
        if time.perf_counter() > self.deadline:
            raise Ended("time_limit")

    def noise(self) -> float:
        """The violation that rounding of the gradient alone can cause."""
        v = self.active.v
        return EPSILON * rounding(v.alpha, v.gradient, self.scale)

    def face(self, most: int | None = None) -> None:
        free, result = self.active.free().size, FaceResult(0, 0.0, False)
        # An entry of the matrix of free variables and one of its factor have 8 bytes each.
        if free <= self.settings.affordable_side(16):
            result = face_step(self.active, self.must_end, most)
        self.faced(self.violation, free, result)

    def faced(self, before: float, free: int, result: FaceResult) -> None:
        self.unbounded = result.unbounded and self.may_be_unbounded()
        note_face(self.memory, free, self.active.v.alpha.size, result.rounds, result.gain)
        if result.rounds and self.trace.wanted:
            self.trace.add_face(before, result.gain, self.active.size, self.active.free().size)

    def lower_aim(self, aim: float) -> float | None:
        """The violation to go on to where `aim` is reached and the duality gap is not yet small
        enough; None where it is, or where rounding leaves nothing to gain."""
        if np.isinf(self.settings.gap) or self.counters.negative_steps > 0:
            return None
        gap = self.active.estimated_gap()
        # The gradient of the run carries rounding, so that it aims at less than what is allowed.
        allowed = 0.8 * self.settings.gap * abs(self.state.dual)
        if gap <= allowed:
            return None
        lower = min(aim, self.violation) * min(max(allowed / gap, 1e-3), 0.3)
        return lower if lower > self.noise() else None

    def can_polish(self) -> bool:
        """Whether Newton steps may lead on to the exact optimum; not with float32 rows."""
        return self.plan.polish

    def hopeless(self) -> bool:
        """Whether a hard-margin dual is too large for any margin representable in float64."""
        dual = float(self.state.dual)
        grown = dual * self.scale > UNBOUNDED_DUAL and self.may_be_unbounded()
        return grown or not np.isfinite(dual)

    def may_be_unbounded(self) -> bool:
        """Whether an infinite step means an unbounded problem; otherwise the curvature was lost in
        rounding. No problem is unbounded in a finite box."""
        if may_be_unbounded(self.problem):
            return True
        bounds = self.problem.lower, self.problem.upper
        infinite = any(np.isinf(bound).any() for bound in bounds)
        return infinite and self.counters.negative_steps > 0

    def solution(self, status: str) -> Solution:
        steps = int(self.counters.steps)
        misses = int(self.active.rows.misses)
        bias, violation = self.problem.bias_and_violation(self.alpha, self.gradient)
        return Solution(
            alpha=self.alpha,
            gradient=self.gradient,
            bias=bias,
            dual=self.problem.value(self.alpha, self.gradient),
            violation=violation,
            status=status,
            steps=steps,
            face_steps=int(self.counters.face_rounds),
            planned_steps=int(self.counters.planned_steps),
            kernel_evaluations=self.evaluations(),
            row_hits=max(0, 2 * steps - misses),
            row_misses=misses,
            seconds=time.perf_counter() - self.began,
            trace=self.trace.finished(),
            plan=self.plan,
        )

    def unprepared(self, status: str) -> Solution:
        """The solution of a run that ended before the first gradient was computed."""
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
            plan=self.plan,
        )
