"""Progress of an online machine, and reasons to end early."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..progress import Clock, Line, Reporter
from ..warn import warn_caller
from .committee import Committee, Lesson


class OnlineProgress(NamedTuple):
    """Progress between chunks of examples, summed over the machines of several classes; the
    violation is the largest.

    Attributes
    ----------
    steps : int
    violation, dual, gap : float
        Of the problem of the support set.
    seconds : float
    support : int
        Support vectors.
    active : int
        Members of the support set, some of which may be at zero.
    seen : int
        Examples processed so far, in all passes.
    total : int or None
        The largest number possible; None if unknown.
    """

    steps: int
    violation: float
    dual: float
    gap: float
    seconds: float
    support: int
    active: int
    seen: int
    total: int | None

    @property
    def seconds_left(self) -> float:
        """Estimate, assuming equal time per example."""
        if self.total is None:
            return np.inf
        return self.seconds * (self.total - self.seen) / self.seen


class Pace:
    """Called between chunks of examples: reports progress, and decides whether to continue.

    Parameters
    ----------
    clock : Clock
    tell : callable or None
        Takes an `OnlineProgress`; returning true ends the training.
    total : int or None
        The largest number of examples possible.
    """

    def __init__(
        self, clock: Clock, tell: Callable[[Any], Any] | None, total: int | None = None
    ) -> None:
        self.clock, self.tell, self.total = clock, tell, total
        self.seen = 0

    def taught(self, committee: Committee, *examples: Any) -> Lesson:
        """Let the machines learn, with this pace; see `Committee.learn`."""
        before = self.seen

        def pause(learned: int) -> str:
            self.seen = before + learned
            if self.tell is not None and self.tell(self._progress(committee)):
                return "stopped"
            return "time_limit" if self.seen != self.total and self.clock.left() <= 0.0 else ""

        learn: Callable[..., Lesson] = committee.learn
        return learn(*examples, pause=pause)

    def _progress(self, committee: Committee) -> OnlineProgress:
        machines = committee.machines
        return OnlineProgress(
            steps=committee.steps,
            violation=max(machine.violation for machine in machines),
            dual=sum(machine.dual for machine in machines),
            gap=sum(machine.gap for machine in machines),
            seconds=time.perf_counter() - self.clock.began,
            support=sum(int((machine.alpha != 0).sum()) for machine in machines),
            active=sum(machine.size for machine in machines),
            seen=self.seen,
            total=self.total,
        )


class QuietReporter(Reporter):
    """A reporter without scikit-learn's callbacks, which concern `fit` only."""

    def begin(self, problems: int, **data: Any) -> None:
        del data
        if self.estimator.verbose:
            self.line = Line(self.estimator, problems)


def warn_early(estimator: Any, status: str, what: str) -> None:
    """Warn the caller that a limit ended the training."""
    reasons = {
        "time_limit": f"max_seconds={estimator.max_seconds}",
        "stopped": "the callback asked to stop",
    }
    warn_caller(
        f"Training ended early: {reasons[status]}. {what} finish() optimises the support "
        "set so far.",
        ConvergenceWarning,
    )
