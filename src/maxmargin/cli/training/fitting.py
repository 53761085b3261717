"""Fits in time slices, with a checkpoint after each, so that a stop costs at most one slice."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...models.training import FitCurve


class Recorder:
    """A callback that keeps the convergence history of a fit with a single problem."""

    def __init__(self, then: Callable[[Any], Any]) -> None:
        self.then = then
        self.rows: list[tuple[float, ...]] = []
        self.began = time.perf_counter()

    def __call__(self, progress: Any) -> bool:
        dual = getattr(progress, "dual", None)
        dual = progress.objective - progress.gap if dual is None else dual
        row = (progress.violation, dual + progress.gap, dual, progress.active)
        self.rows.append((time.perf_counter() - self.began, *row))
        return bool(self.then(progress))

    def curve(self) -> FitCurve | None:
        """The history, if it is long enough to plot."""
        if len(self.rows) < 8:
            return None
        return FitCurve(*np.array(self.rows, dtype=np.float64).T)


def solutions_of(machine: Any) -> list[Any]:
    """The solution of each problem of a machine."""
    found = getattr(machine, "solution_", [])
    return found if isinstance(found, list) else [found]


def finished(machine: Any) -> bool:
    """Whether every problem is solved."""
    status = getattr(machine, "status_", "converged")
    statuses = status if isinstance(status, list) else [status]
    return not {"time_limit", "step_limit"} & set(statuses)


def fitted(
    machine: Any,
    X: Any,
    y: Any,
    *,
    limit: float | None,
    callback: Callable[[Any], Any],
    keep: Callable[[Any], None],
    first_slice: float = 20.0,
) -> Any:
    """Fit a machine, in time slices if it supports warm starts.

    Each slice is twice as long as the one before, up to ten minutes.

    Parameters
    ----------
    machine : estimator
        Perhaps with a `solution_` to start from.
    X, y : inputs and targets
    limit : float or None
        Seconds for the whole fit.
    callback : callable
        Called with the progress of the solver.
    keep : callable
        Called with the machine after each slice that did not end the fit, and after Ctrl-C.
    first_slice : float
        Seconds of the first slice.
    """
    parameters = machine.get_params()
    deadline = np.inf if limit is None else time.perf_counter() + limit
    if hasattr(machine, "finish"):
        return _learned(machine, X, y, deadline, callback)
    if "warm_start" not in parameters:
        return machine.fit(X, y)
    likely = parameters.get("probability", False)
    machine.set_params(warm_start=True, callback=callback)
    if likely:
        machine.set_params(probability=False)
    seconds = first_slice
    while True:
        left = max(deadline - time.perf_counter(), 0.05)
        machine.set_params(max_seconds=min(seconds, left))
        _fit(machine, X, y, keep)
        if finished(machine) or time.perf_counter() >= deadline:
            break
        keep(machine)
        seconds = min(2.0 * seconds, 600.0)
    if likely:
        rest = None if limit is None else max(deadline - time.perf_counter(), 0.05)
        machine.set_params(probability=likely, max_seconds=rest, callback=None)
        _fit(machine, X, y, keep)
    machine.set_params(warm_start=False, callback=None, max_seconds=None)
    return machine


def _learned(machine: Any, X: Any, y: Any, deadline: float, callback: Callable[[Any], Any]) -> Any:
    """Fit an online machine: its passes, then training to the optimum."""

    def left() -> float | None:
        return None if np.isinf(deadline) else max(deadline - time.perf_counter(), 0.05)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.set_params(callback=callback, max_seconds=left()).fit(X, y)
        machine.finish(X, y, max_seconds=left())
    return machine.set_params(callback=None, max_seconds=None)


def _fit(machine: Any, X: Any, y: Any, keep: Callable[[Any], None]) -> None:
    with warnings.catch_warnings():
        # The distance to the optimum is reported at the end.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            machine.fit(X, y)
        except KeyboardInterrupt:
            keep(machine)
            raise
