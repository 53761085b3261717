"""Training: dual problems solved under a common budget, each with its certificate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy.linalg.blas import dnrm2

from ....dual import Certificate, Expansion, Machine, kernel_expansion, sharp_expansion
from ....dual.certificate import certificate_and_bias, gap_resolution, rounding_is_small
from ....dual.problem import Float
from ....kernels import Gram
from ....runtime.parallel import single_threaded_blas
from ....solvers import Solution, plan, solve
from ....solvers.drivers.batch import solve_batch
from ....solvers.drivers.single import solve_single
from ....solvers.interrupt import interrupted_when
from ....solvers.settings import SMALL
from ...conditioning import KNOWN_TO
from ...progress import Clock, OutOfTime, Reporter
from .gram_pool import Grams
from .tasks import Outcome, Settings, Task

# A solution whose certificate does not show what is promised is sent back to work at most this many
# times.
MOST_RETURNS = 3
# Bounds and sums are met but for this part of Σ|α|.
FEASIBLE = 1e-9


class Trainer:
    """Solves the tasks of a fit, one after the other or in threads.

    Parameters
    ----------
    grams : Grams
    settings : Settings
    clock : Clock
    reporter : Reporter
    jobs : int
        Threads.
    delivered : callable
        Makes of a task and its α the α that the model will have: coefficients are handed out to
        copies of a sample, and what is certified is what they add up to.
    """

    def __init__(
        self,
        grams: Grams,
        settings: Settings,
        clock: Clock,
        reporter: Reporter,
        jobs: int = 1,
        delivered: Callable[[Task, Float], Float] = lambda _, alpha: alpha,
    ) -> None:
        self.grams, self.settings, self.clock = grams, settings, clock
        self.reporter, self.delivered = reporter, delivered
        self.jobs = self.threads = jobs  # for which memory is planned; that are used
        self.offset = 0.0  # what is added to the intercept in the end
        self.stopped = threading.Event()
        self.interrupted = False
        self.taken = 0  # bytes of what problems share

    def run(self, tasks: Sequence[Task]) -> list[Outcome]:
        """The outcome of every task; of those not reached, the point where they begin.

        After Ctrl-C `interrupted` is set; only if no task has progressed, it is raised.
        """
        outcomes = [self._single(tasks[0])] if len(tasks) == 1 else self._small_ones(tasks)
        if outcomes[0] is not None and len(tasks) == 1 and outcomes[0].finished:
            return [outcomes[0]]
        if self.jobs == 1 and len(tasks) > 1 and not self.reporter.heard:
            largest = max(task.machine.problem.size for task in tasks)
            self.threads = plan.side_by_side(largest, self.settings.cache_bytes, self.taken)
        pending = [k for k, outcome in enumerate(outcomes) if not (outcome and outcome.finished)]
        while pending and not self.stopped.is_set():
            self._round(tasks, pending, outcomes)
            if self.clock.left() <= 0.02 * self.clock.limit:  # too little to take them up again
                break
            pending = [k for k in pending if self._worth_resuming(outcomes[k])]
        if self.interrupted and not any(o and np.isfinite(o.solution.dual) for o in outcomes):
            raise KeyboardInterrupt
        return [o or self._untouched(task) for o, task in zip(outcomes, tasks)]

    def share(self, classes: list[np.ndarray]) -> None:
        """Compute what pairs of classes have in common, where memory allows."""
        with suppress(OutOfTime):
            budget = self.settings.cache_bytes
            self.taken = self.grams.share(classes, budget, self.clock.overtime, self.jobs)

    def keep_matrix(self) -> None:
        """Compute what problems of all samples have in common, where memory allows."""
        n, item, s = self.grams.count, self.grams.dtype.itemsize, self.settings
        if plan.keeps_matrix(n, item, s.driver, s.cache_bytes):
            with suppress(OutOfTime):
                self.taken = self.grams.whole().matrix(self.clock.overtime).nbytes

    def _single(self, task: Task) -> Outcome | None:
        """The outcome of the only problem if it is small; None if it is not."""
        problem, grams, s = task.machine.problem, self.grams, self.settings
        planned = plan.single(problem, grams.kernel, grams.X)
        if planned is None or task.start is not None or not self.is_plain():
            return None
        try:
            source = grams.for_loop(plan.has_cheap_rows(grams.X))
            found = solve_single(problem, *source, planned, s.tol, s.gap)
        except KeyboardInterrupt:
            self._interrupt()
            return None
        return self._accepted(task, *found)

    def _small_ones(self, tasks: Sequence[Task]) -> list[Outcome | None]:
        """The outcome of small problems, which are solved together; None of others."""
        outcomes: list[Outcome | None] = [None] * len(tasks)
        small = [
            k
            for k, task in enumerate(tasks)
            if task.start is None and plan.is_small(task.machine.problem)
        ]
        if not small or not self.is_plain():
            return outcomes
        in_pairs = tasks[0].classes is not None
        shared = self.grams.shared if in_pairs else self.grams.as_one_class()
        if shared is None:
            return outcomes
        problems = [tasks[k].machine.problem for k in small]
        places = [shared.places(tasks[k].classes or (0,)) for k in small]
        parts = shared.parts(problems, places)
        try:
            s = self.settings
            solved = solve_batch(parts, s.tol, shared.evaluations, s.gap)
        except KeyboardInterrupt:
            self._interrupt()
            return outcomes
        for k, (solution, certificate, _) in zip(small, solved):
            solution = replace(solution, plan=plan.batched(tasks[k].machine.problem))
            outcomes[k] = self._accepted(tasks[k], solution, certificate)
        return outcomes

    def _accepted(self, task: Task, solution: Solution, shown: Certificate) -> Outcome | None:
        """The outcome of a small problem; None if another driver has to repair sums."""
        merged = self.delivered(task, solution.alpha)
        # Small problems may leave so much to rounding; others have their sums repaired.
        if merged is not solution.alpha or shown.infeasibility > 1e-13:
            return None
        outcome = Outcome(solution, task.machine.read(solution.alpha, solution.bias), shown)
        return outcome.ended("step_limit") if self.falls_short(task, outcome) else outcome

    def is_plain(self) -> bool:
        """Whether problems are solved in the usual way, in float64, without limits or listeners."""
        s = self.settings
        usual = s.driver in ("auto", "full") and s.selection == "second_order" and not s.planning
        unlimited = s.max_steps is None and np.isinf(self.clock.limit)
        unheard = unlimited and not self.reporter.heard
        return usual and unheard and self.grams.dtype == np.float64

    @staticmethod
    def _worth_resuming(outcome: Outcome | None) -> bool:
        return outcome is not None and outcome.solution.status == "time_limit"

    def _round(self, tasks: Any, pending: Any, outcomes: Any) -> None:
        costs = {k: float(tasks[k].machine.problem.size) ** 2 for k in pending}
        lock = threading.Lock()

        def work(k: int) -> None:
            if self.stopped.is_set():
                return
            with lock:
                share = min(1.0, self.threads * costs[k] / sum(costs.values()))
                del costs[k]
            task, earlier = tasks[k], outcomes[k]
            if earlier is not None:
                task = task._replace(start=earlier.solution.alpha)
            outcome = self._solved(task, k, share * self.clock.left())
            if earlier is not None:
                outcome = outcome._replace(solution=outcome.solution.after(earlier.solution))
            outcomes[k] = outcome
            if not self._worth_resuming(outcomes[k]):
                self.reporter.finish(k)

        self.each(work, pending)

    def each(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        """Do the work for every item, in threads if there are any; Ctrl-C ends it."""
        try:
            if self.threads == 1 or len(items) == 1:
                for item in items:
                    if not self.interrupted:
                        work(item)
            else:
                self._in_threads(work, items)
        except KeyboardInterrupt:
            self._interrupt()

    def _in_threads(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        def work_until_stopped(item: Any) -> None:
            with interrupted_when(self.stopped.is_set), single_threaded_blas(own=1):
                work(item)

        with ThreadPoolExecutor(self.threads) as pool:
            futures = [pool.submit(work_until_stopped, item) for item in items]
            try:
                wait(futures)
            except KeyboardInterrupt:
                self._interrupt()
                for future in futures:
                    future.cancel()
                wait(futures)
            for future in futures:
                if not future.cancelled():
                    future.result()

    def _interrupt(self) -> None:
        self.interrupted = True
        self.stopped.set()

    def _pause(self) -> None:
        """Called between parts of a preparation."""
        if self.stopped.is_set():
            raise OutOfTime
        self.clock.overtime()

    def _solved(self, task: Task, number: int, seconds: float) -> Outcome:
        try:
            gram = self._gram(task)
        except OutOfTime:
            return self._untouched(task)
        listener = self._listener(number, task.name)
        try:
            return self._certified(task, gram, seconds, listener)
        finally:
            gram.release()

    def _certified(self, task: Task, gram: Gram, seconds: float, listener: Any) -> Outcome:
        problem, s = task.machine.problem, self.settings
        solution = self._solve(problem, gram, task.start, seconds, listener)
        if solution.status == "unbounded" and gram.dtype != np.float64:
            # By the rounding of float32, perhaps.
            gram.release()
            gram, seconds = self.grams.double(task.indices), self.clock.left()
            solution = self._solve(problem, gram, task.start, seconds, listener, solution.steps)
        if gram.dtype == np.float64:
            outcome = self._read(task, solution, gram)
        else:
            outcome = self._read(task, solution, self.grams.exact(task.indices), gram)
        tol, gap = s.tol, s.gap
        for _ in range(MOST_RETURNS):
            if not self.falls_short(task, outcome):
                return outcome
            shown, start = outcome.certificate, cast("Float | None", solution.alpha)
            if gram.dtype != np.float64:
                gram.release()
                gram = self.grams.double(task.indices)
            elif solution.status == "precision":
                break
            if problem.contains_zero and shown.dual < 0.0:
                start = task.start  # rounding has led to a point worse than α = 0
            # The solver was content with what it saw: let it aim lower, as far as it was wrong.
            tol = lowered(tol, s.tol, shown.violation)
            gap = lowered(gap, s.gap, shown.relative_gap)
            limits, seconds = s._replace(tol=tol, gap=gap), self.clock.left()
            rest = self._solve(problem, gram, start, seconds, listener, solution.steps, limits)
            solution = rest.after(solution)
            outcome = self._read(task, solution, gram)
        return outcome.ended("precision") if self.falls_short(task, outcome) else outcome

    def plain_fit(self, machine: Machine, samples: np.ndarray, start: np.ndarray) -> Expansion:
        """The function of a machine on some of the samples, without certificate or progress."""
        gram = self.grams.part(samples)
        solution = self._solve(machine.problem, gram, start, self.clock.left(), None)
        return machine.read(solution.alpha, solution.bias)

    def _gram(self, task: Task) -> Gram:
        if task.classes is not None:
            first, second = task.samples
            return self.grams.of_pair(task.classes, (first, second), self._pause)
        return self.grams.of(task.indices) if task.samples else self.grams.whole(self.threads == 1)

    def _listener(self, number: int, name: str) -> Callable[[Any], Any] | None:
        heard = self.reporter.listen(number, name)
        if heard is None:
            return None

        def listener(progress: Any) -> bool:
            if heard(progress):
                self.stopped.set()
            return self.stopped.is_set()

        return listener

    def _solve(
        self,
        problem: Any,
        gram: Any,
        start: Any,
        seconds: Any,
        listener: Any,
        taken: Any = 0,
        settings: Any = None,
    ) -> Solution:
        s = self.settings if settings is None else settings
        solution = solve(
            problem,
            gram,
            driver=s.driver,
            tol=s.tol,
            gap=s.gap,
            selection=s.selection,
            planning=s.planning,
            shrinking=s.shrinking,
            alpha=start,
            cache_bytes=plan.row_budget(s.cache_bytes, self.taken, self.jobs),
            max_steps=None if s.max_steps is None else max(0, s.max_steps - taken),
            max_seconds=None if np.isinf(seconds) else seconds,
            callback=listener,
            random_state=s.random_state,
        )
        if np.isfinite(solution.alpha).all():
            # Of thousands of steps each leaves the sums to its rounding.
            solution = replace(solution, alpha=problem.feasible(solution.alpha))
        if solution.status == "step_limit" and s.max_steps is None:
            solution = replace(solution, status="precision")
        if solution.status == "interrupted":
            if self.stopped.is_set() and not self.interrupted:
                return replace(solution, status="stopped")
            self._interrupt()
        return solution

    def falls_short(self, task: Task, outcome: Outcome) -> bool:
        """Whether a solver that ended by itself left more than is promised."""
        ended = outcome.finished or outcome.solution.status == "precision"
        return ended and not self.is_proven(task, outcome)

    def is_proven(self, task: Task, outcome: Outcome) -> bool:
        """Whether the certificate shows the promised violation and, of a definite kernel, gap."""
        solution, shown, s = outcome.solution, outcome.certificate, self.settings
        if not (shown.violation <= s.tol and shown.infeasibility <= FEASIBLE):
            return False
        problem, alpha = task.machine.problem, solution.alpha
        value = shown.magnitude
        needs_gap = solution.status != "stationary" and s.gap < np.inf
        allowed = s.gap * value if needs_gap else np.inf
        sums = self.grams.largest_entry * float(dnrm2(alpha))  # subtracted from the targets
        rounding = KNOWN_TO * max(sums, float(np.abs(problem.linear).max()))
        coef = problem.per_sample(alpha)
        slack = solution.gradient - solution.bias[problem.group]
        most = self.grams.most_rounding_of_arguments(coef)
        is_small = rounding_is_small(problem, alpha, slack, max(most, rounding), allowed)
        negligible = is_small or rounding_is_small(problem, alpha, slack, most, allowed)
        if most > 1e-3 * s.tol or not negligible:
            rounding = max(rounding, self.grams.rounding_of_arguments(task.indices, coef))
            is_small = rounding_is_small(problem, alpha, slack, rounding, allowed)
        if rounding > s.tol:
            return False
        if not needs_gap:
            return True
        is_small = is_small or rounding_is_small(problem, alpha, slack, rounding, allowed)
        if shown.relative_gap <= s.gap and is_small:
            return True
        # An optimum of 0 has no relative gap; ν-machines have one where nothing can be told apart.
        largest = self.grams.largest_entry_of(task.indices)
        least = gap_resolution(problem, alpha, solution.bias, largest)
        is_zero = not problem.linear.any() and max(shown.gap, value) <= least
        return is_zero and rounding_is_small(problem, alpha, slack, rounding, least)

    def _read(
        self, task: Task, solution: Solution, exact: Gram, gram: Gram | None = None
    ) -> Outcome:
        """The function and its certificate, from `gram` where float32 decides enough."""
        problem, alpha = task.machine.problem, self.delivered(task, solution.alpha)
        sums: Float | None = None
        try:
            # What takes no time to certify is certified whenever it ends.
            pause = self.clock.overtime if problem.size > SMALL else None
            if self.stopped.is_set() and pause is not None:
                raise OutOfTime
            if gram is None:
                expansion = sums = kernel_expansion(problem.per_sample(alpha), exact, pause)
            else:
                expansion = sharp_expansion(problem, alpha, gram, exact, pause)
        except (KeyboardInterrupt, OutOfTime) as reason:
            if isinstance(reason, KeyboardInterrupt):
                self._interrupt()
            expansion = problem.expansion(solution.alpha, solution.gradient)
            if solution.converged:  # as far as the solver knows, and nobody else
                solution = replace(solution, status=self._reason())
            if np.isnan(expansion).any():
                unknown = Certificate(np.inf, -np.inf, np.inf, np.inf, 0.0)
                return Outcome(solution, task.machine.read(solution.alpha, solution.bias), unknown)
        certificate, bias = certificate_and_bias(problem, alpha, expansion)
        if self.offset:
            # Of the intercept only so many digits can be delivered.
            middle = task.machine.read(alpha, bias).intercept
            change = (middle + self.offset) - self.offset - middle
            certificate, bias = certificate_and_bias(problem, alpha, expansion, bias + change)
        solution = replace(solution, bias=bias)
        read = task.machine.read(solution.alpha, bias)
        outcome = Outcome(solution, read, certificate, sums)
        if solution.status == "precision" and self.is_proven(task, outcome):
            return outcome.ended("converged")
        return outcome

    def as_started(self, task: Task) -> Outcome:
        """A task as it stands at its start, certified and taken for solved."""
        solution = replace(self._untouched(task).solution, status="converged")
        return self._read(task, solution, self.grams.exact(task.indices))

    def _reason(self) -> str:
        """Why a task is left undone."""
        if self.interrupted:
            return "interrupted"
        return "stopped" if self.stopped.is_set() else "time_limit"

    def _untouched(self, task: Task) -> Outcome:
        """A task that was not begun."""
        problem = task.machine.problem
        alpha = problem.feasible(task.start)
        known = np.zeros(problem.samples) if not alpha.any() else np.full(problem.samples, np.nan)
        gradient = problem.gradient(alpha, known)
        solution = Solution(
            alpha=alpha,
            gradient=gradient,
            bias=np.zeros(problem.totals.size),
            dual=problem.value(alpha, gradient),
            violation=np.inf,
            status=self._reason(),
            steps=0,
            face_steps=0,
            planned_steps=0,
            kernel_evaluations=0,
            row_hits=0,
            row_misses=0,
            seconds=0.0,
        )
        certificate = Certificate(np.inf, -np.inf, np.inf, np.inf, 0.0)
        return Outcome(solution, task.machine.read(alpha, solution.bias), certificate)


def lowered(aim: float, promised: float, shown: float, factor: float = 0.5) -> float:
    """A smaller aim, by `factor` and by as much as more is shown than was promised; never 0."""
    aim *= promised / shown if promised < shown < np.inf else 1.0
    return max(factor * aim, float(np.finfo(np.float64).tiny))
