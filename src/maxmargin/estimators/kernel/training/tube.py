"""The tube of ν-SVR, found by solving ε-SVR for several ε.

The dual of ν-SVR is that of ε-SVR with a limit on the coefficients in place of their price ε,

    y·β − ½ βᵀKβ → max   subject to   Σβ = 0,  |β_i| ≤ C_i,  Σ|β_i| ≤ T = ν ΣC_i

so that ε is its multiplier, Σ|β| falls as ε rises, and for the ε at which it is T both have the
same solution. With the primal and dual value of ε-SVR, those of ν-SVR are

    primal + ε·T   and   dual + ε·Σ|β|
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from ....dual import Certificate, epsilon_svr, kernel_expansion, nu_svr
from ....dual.problem import ROUNDING, Float
from ....solvers.settings import SMALL
from ...progress import OutOfTime
from .problems import Trainer
from .tasks import Outcome, Task


class Tube(NamedTuple):
    """A task of ε-SVR and its outcome, certified as one of ν-SVR."""

    task: Task
    outcome: Outcome


class Tried(NamedTuple):
    """The solution for an ε, by how much Σ|β| exceeds T there, and Kα, if it is known exactly."""

    epsilon: float
    excess: float
    coef: Float
    task: Task
    outcome: Outcome
    sums: Float | None = None

    @property
    def solved(self) -> bool:
        return self.outcome.finished


class TubeSearch:
    """Looks for the ε of ν-SVR between 0 and the width at which nothing is left outside."""

    def __init__(
        self, penalty: Float, nu: float, targets: Float, trainer: Trainer, intercept: bool = True
    ) -> None:
        self.penalty, self.nu, self.targets, self.trainer = penalty, nu, targets, trainer
        self.total, self.intercept = nu * float(penalty.sum()), intercept

    def run(
        self, task: Task, most_tries: int = 60, close: float = 1e-13, least_cut: float = 0.02
    ) -> Tube:
        """The tube; where some ε-SVR cannot be solved to the end, what it came to.

        `close` is the relative difference of Σ|β| and T that is left, and `least_cut` the smallest
        share of the bracket that false position cuts off.
        """
        low = self._tried(task, 0.0, np.zeros(self.targets.size))
        if not low.solved or low.excess <= ROUNDING * self.total:
            return self._certified(low)
        nothing = low._replace(coef=np.zeros_like(low.coef), excess=-self.total)
        widest = 0.5 * np.ptp(self.targets) if self.intercept else np.abs(self.targets).max()
        high = nothing._replace(epsilon=float(widest))
        above, below, last = low.excess, high.excess, None
        for _ in range(most_tries):
            between = self._certified(self._between(task, low, high))
            share = min(max(above / (above - below), least_cut), 1.0 - least_cut)
            epsilon = low.epsilon + share * (high.epsilon - low.epsilon)
            if between.outcome.finished or not low.epsilon < epsilon < high.epsilon:
                break
            tried = self._tried(task, epsilon, low.coef)
            if tried.outcome.solution.status == "precision":
                break
            if not tried.solved or abs(tried.excess) <= close * self.total:
                return self._certified(tried)
            # An end that stays is weighted down (the Illinois rule), so that both ends move.
            if tried.excess > 0:
                above, below = tried.excess, 0.5 * below if low is last else below
                low = last = tried
            else:
                above, below = 0.5 * above if high is last else above, tried.excess
                high = last = tried
        return between

    def _tried(self, task: Task, epsilon: float, coef: Float) -> Tried:
        """The solution of ε-SVR, begun with these coefficients."""
        task = self._task(task, epsilon, coef)
        return self._noted(epsilon, task, self.trainer.run([task])[0])

    def _noted(self, epsilon: float, task: Task, outcome: Outcome) -> Tried:
        coef = outcome.expansion.coef
        return Tried(epsilon, float(np.abs(coef).sum()) - self.total, coef, task, outcome)

    def _task(self, task: Task, epsilon: float, coef: Float) -> Task:
        machine = epsilon_svr(self.targets, self.penalty, epsilon, self.intercept)
        start = np.append(np.maximum(coef, 0.0), np.minimum(coef, 0.0))
        return task._replace(machine=machine, start=start, restate=partial(self._restated, epsilon))

    def _between(self, task: Task, low: Tried, high: Tried) -> Tried:
        """The solution on the way from one to the other with Σ|β| = T.

        Where Σ|β| leaps across T, all solutions in between belong to one ε.
        """
        share = -high.excess / (low.excess - high.excess)
        coef = share * low.coef + (1.0 - share) * high.coef
        task = self._task(task, high.epsilon, coef)
        outcome = self.trainer.as_started(task)
        return self._noted(high.epsilon, task, outcome)._replace(sums=outcome.sums)

    def _certified(self, tried: Tried) -> Tube:
        """The outcome with the certificate of ν-SVR; where time is up its violation is that of
        ε-SVR, which is no smaller, unless the problem is small."""
        task, outcome = tried.task, tried.outcome
        alpha = self.trainer.delivered(task, outcome.solution.alpha)
        sums = tried.sums
        if sums is None:
            exact, problem = self.trainer.grams.exact(task.indices), task.machine.problem
            pause = self.trainer.clock.overtime if problem.size > SMALL else None
            with suppress(OutOfTime):
                sums = kernel_expansion(problem.per_sample(alpha), exact, pause)
        certificate = self._restated(tried.epsilon, outcome.certificate, alpha, sums)
        outcome = outcome._replace(certificate=certificate)
        if tried.solved and not self.trainer.is_proven(task, outcome):
            outcome = outcome.ended("precision")
        return Tube(task, outcome)

    def _restated(
        self, epsilon: float, shown: Certificate, alpha: Float, sums: Float | None
    ) -> Certificate:
        """The certificate of ν-SVR, whose pairs never cross the tube, from that of ε-SVR."""
        problem = nu_svr(self.targets, self.nu, self.penalty, self.intercept).problem
        spent, violation = float(np.abs(problem.per_sample(alpha)).sum()), shown.violation
        if sums is not None:
            violation = problem.violation(alpha, problem.gradient(alpha, sums))
        if spent < self.total - 1e-12 * self.total:  # by more than rounding: then ε has to be 0
            violation = max(violation, epsilon)
        return Certificate(
            primal=shown.primal + epsilon * self.total,
            dual=shown.dual + epsilon * spent,
            gap=shown.gap - epsilon * (spent - self.total),
            violation=violation,
            infeasibility=max(shown.infeasibility, (spent - self.total) / self.total),
        )
