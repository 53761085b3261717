"""The base of all optimisers: runs with a budget, the history, the best point, resuming."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple

import numpy as np

from ..base import Evaluation, Float, History, Limits, Objective, P


class Result(NamedTuple):
    """The state of an optimiser after a run.

    Attributes
    ----------
    point : Point
        The best point found; for a noisy objective the last one.
    value : float
        The objective there; for a noisy objective one sample of it.
    evaluations : int
    seconds : float
    status : str
        Why it stopped: "evaluations", "seconds", "stopped" (by the callback), "converged" or
        "exhausted" (nothing is left to try).
    skipped : int
        Number of evaluations that were not finite and were skipped.
    at_limits : tuple of str
        Coordinates of the point that are at a limit of the search.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import Choice, Evaluation, Objective, Vector
    >>> class Bowl(Objective):
    ...     def evaluate(self, point):
    ...         return Evaluation(float(point.theta @ point.theta), 2 * point.theta)
    >>> result = Choice([Vector(np.array([x])) for x in (3.0, 1.0, 2.0)]).run(Bowl())
    >>> result.value, result.evaluations, result.status
    (1.0, 3, 'exhausted')
    """

    point: Any
    value: float
    evaluations: int
    seconds: float
    status: str
    skipped: int
    at_limits: tuple[str, ...]


class Ended(Exception):
    """Raised to end a run that cannot improve."""


def measured_at(objective: Objective[P], point: P, gradient: bool) -> Evaluation:
    """The objective at a point. Huge kernel values may overflow: what is then not finite says so,
    and optimisers step around it."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return objective.evaluate(point) if gradient else Evaluation(objective.value(point))


class Optimiser(ABC, Generic[P]):
    """A walk from a start, in runs limited by a budget.

    `run` may be called again: the walk continues where it stopped, also after pickling. To add an
    optimiser, implement `_iterate`, which evaluates one or more points with `_evaluated`.

    Parameters
    ----------
    start : Point
    limits : Limits, optional
        Steps are shortened to stay inside.

    Attributes
    ----------
    point : Point
        The current point.
    history : History
    record : list of arrays or None
        If it is a list, seconds, value and gradient of each evaluation are appended to it.
    recalled : sequence of arrays
        The record of an earlier walk from the same start; these evaluations are not repeated.

    Examples
    --------
    >>> from maxmargin.tuning import CMA, Choice, Grid, IRpropPlus, NoisyRprop, Optimiser, Rprop
    >>> kinds = (Choice, Grid, Rprop, IRpropPlus, NoisyRprop, CMA)
    >>> all(issubclass(kind, Optimiser) for kind in kinds)
    True
    """

    def __init__(self, start: P, limits: Limits | None = None) -> None:
        self.point = start
        self.size = start.theta.size
        self.limits = Limits.none(self.size) if limits is None else limits
        if self.limits.low.shape != (self.size,):
            raise ValueError(
                f"limits must have an entry for each of the coordinates {start.names}, "
                f"got {self.limits.low.size}"
            )
        self.history = History()
        self.evaluations = 0
        self.seconds = 0.0
        self.skipped = 0
        self.best_point: P | None = None
        self.best_value = np.nan
        self.record: list[Float] | None = None
        self.recalled: Sequence[Float] | Float = ()

    def run(
        self,
        objective: Objective[P],
        *,
        evaluations: int | None = None,
        seconds: float | None = None,
        callback: Callable[[Optimiser[P]], Any] | None = None,
    ) -> Result:
        """Continue until the evaluations or the seconds have been used, whichever is first.

        Parameters
        ----------
        objective : Objective
        evaluations, seconds : optional
            Budget of this call.
        callback : callable, optional
            Called with the optimiser after each iteration; returning true stops the run.
        """
        for name, budget in (("evaluations", evaluations), ("seconds", seconds)):
            if budget is not None and not budget >= 0:
                raise ValueError(f"{name} must not be negative, got {budget}")
        if evaluations is None and seconds is None and self._endless:
            raise ValueError("give a budget, evaluations or seconds: this optimiser does not end")
        last = np.inf if evaluations is None else self.evaluations + evaluations
        before, self._began = self.seconds, time.perf_counter()
        self._before = before
        deadline = np.inf if seconds is None else before + seconds
        while True:
            if self.evaluations >= last:
                return self.result("evaluations")
            if self._clock() >= deadline:
                return self.result("seconds")
            try:
                self._iterate(objective, last - self.evaluations)
            except Ended as ended:
                return self.result(str(ended))
            if callback is not None and callback(self):
                return self.result("stopped")

    # Whether a run needs a budget to end.
    _endless = True

    @abstractmethod
    def _iterate(self, objective: Objective[P], left: float) -> None:
        """Evaluate one or more points, if possible at most `left`, and move."""

    def _clock(self) -> float:
        self.seconds = self._before + time.perf_counter() - self._began
        return self.seconds

    def _evaluated(self, objective: Objective[P], point: P, gradient: bool = True) -> Evaluation:
        """The objective at a point, with the sign such that smaller is better."""
        if self.evaluations < len(self.recalled):
            measured = self._recalled(self.evaluations)
            if gradient and objective.differentiable and measured.gradient is None:
                raise ValueError("an evaluation in the journal has no gradient")
        else:
            measured = measured_at(objective, point, gradient)
        return self._noted(objective, point, measured)

    def _recalled(self, place: int) -> Evaluation:
        row = self.recalled[place]
        return Evaluation(float(row[1]), row[2:] if row.size > 2 else None)

    def _noted(self, objective: Objective[P], point: P, measured: Evaluation) -> Evaluation:
        known = self.evaluations < len(self.recalled)
        seconds = float(self.recalled[self.evaluations][0]) if known else self._clock()
        self.evaluations += 1
        self.history.add(self.evaluations, seconds, measured.value, point.theta)
        if self.record is not None:
            parts = () if measured.gradient is None else measured.gradient
            self.record.append(np.array([seconds, measured.value, *parts]))
        sign = -1.0 if objective.maximise else 1.0
        if not measured.finite:
            self.skipped += 1
        else:
            better = self.best_point is None or sign * measured.value < sign * self.best_value
            if objective.noisy or better:
                self.best_point, self.best_value = point, measured.value
        slope = None if measured.gradient is None else sign * measured.gradient
        return Evaluation(sign * measured.value, slope)

    def _step(self, delta: Any) -> None:
        """Move the point by as much of delta as the limits allow."""
        self.point = self.point.moved(self.limits.shortened(self.point.theta, delta))

    def result(self, status: str) -> Result:
        """The result so far."""
        best = self.point if self.best_point is None else self.best_point
        return Result(
            best,
            float(self.best_value),
            self.evaluations,
            self.seconds,
            status,
            self.skipped,
            self.limits.reached(best),
        )


def require_finite(evaluation: Evaluation) -> None:
    if not evaluation.finite:
        raise ValueError(
            "the objective must be finite at the start, "
            f"got {evaluation.value} with gradient {evaluation.gradient}: start elsewhere"
        )


def require_gradient(objective: Objective[Any], optimiser: str) -> None:
    if not objective.differentiable:
        raise ValueError(
            f"{optimiser} needs a gradient, and {type(objective).__name__} has none: "
            "use Grid or CMA"
        )
