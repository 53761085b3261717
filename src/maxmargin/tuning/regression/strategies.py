"""Strategies for regression: kernel, C and ε.

    strategy        objective                              optimiser
    cv-loss         loss of the samples held out in        coarse grid, then iRprop⁺ with the
                    fixed folds                            exact gradient
    grid            the same                               grid of widths, C and ε
    span            leave-one-out loss as spans tell it    coarse grid, then iRprop⁺
    leave-one-out   leave-one-out loss by refits from      coarse grid on the span bound, then
                    warm starts                            iRprop⁺

C and ε are in units of the spread of the targets, which `AutoSVR` standardises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...kernels.base import take
from .. import costs
from ..base import Float, Limits, Objective, TubePoint
from ..course import HIGHEST_C, LOWEST_C, SCAN_GAMMA, Search, Task
from ..journal import Journal, SearchProgress
from ..objectives import (
    FixedSplits,
    HeldOutLoss,
    LeaveOneOutLoss,
    RegressionSpanBound,
    plain_folds,
)
from ..optimizers import Choice
from ..outcome import Outcome
from ..start import kernel_limits, widened
from ..strategies import repeats_of, run_to_its_end, walk_on_folds

# Grids, in units of 1/variance in feature space and of the targets' spread.
SCAN_C, SCAN_EPSILON = 10.0 ** np.arange(-1.0, 4.0), (0.1,)
GRID_C, GRID_EPSILON = 10.0 ** np.arange(-2.0, 5.0), (0.01, 0.1, 0.3)


@dataclass(frozen=True, eq=False)
class RegressionTask(Task):
    """A `Task` with numbers as targets.

    Parameters
    ----------
    X : inputs
    y : array of shape (samples,)
    kernel : Kernel
        The starting point; its parameters are tuned.
    loss, prior, penalty, importance, scoring
        Used for classes only.
    k : int
        Folds.
    effort : float
        Factor on the number of iterations.
    max_seconds : float
    random_state : int
    n_jobs : int
        Threads.
    judged_by : {"squared", "absolute"}
        The loss of held-out samples that is minimised.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import RegressionTask
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> RegressionTask(X, np.sin(2 * X[:, 0]), Gaussian(1.0), judged_by="absolute").k
    5
    """

    judged_by: str = "squared"


class RegressionSearch(Search):
    """One run of a strategy for regression."""

    task: RegressionTask

    def _read_targets(self) -> None:
        self.targets: Float = np.asarray(self.task.y, dtype=np.float64)
        if self.targets.size < 2:
            raise ValueError(
                f"a search needs at least two samples, got n_samples = {self.targets.size}"
            )
        self.spread = float(self.targets.std()) or 1.0

    def some(self, samples: int) -> tuple[Any, Float]:
        """Inputs and targets of a subsample."""
        if self.targets.size <= samples:
            return self.task.X, self.targets
        random = np.random.default_rng(self.task.random_state)
        chosen = np.sort(random.permutation(self.targets.size)[:samples])
        return take(self.task.X, chosen), self.targets[chosen]

    def loss(self, samples: int) -> Objective[Any]:
        """The loss of a subsample over fixed folds, repeated if there are few samples."""
        task = self.task
        inputs, targets = self.some(samples)
        k, size = min(task.k, targets.size), targets.size
        repeats = repeats_of(size) if samples > costs.SCAN_SAMPLES else 1
        splits = [
            split for r in range(repeats) for split in plain_folds(size, k, task.random_state + r)
        ]
        return HeldOutLoss(inputs, targets, FixedSplits(splits), task.judged_by)

    def points(self, factors: Any, Cs: Any, epsilons: Any) -> list[TubePoint]:
        """All combinations of widths around the start, C and ε."""
        start = self.task.kernel
        kernels = [wide for f in factors if (wide := widened(start, f)) is not None] or [start]
        return [
            TubePoint(kernel, float(C * self.unit_C * self.spread), float(e * self.spread))
            for kernel, C, e in product(kernels, Cs, epsilons)
        ]

    def tube_limits(self) -> Limits:
        lowest, highest = kernel_limits(self.task.kernel)
        scale = self.unit_C * self.spread
        low = [LOWEST_C * scale, 1e-4 * self.spread]
        high = [HIGHEST_C * scale, 2.0 * self.spread]
        return Limits(
            np.concatenate([lowest, np.log(low)]),
            np.concatenate([highest, np.log(high)]),
        )


def by_fixed_folds(search: RegressionSearch) -> Outcome:
    """Kernel, C and ε by the loss of the samples held out in fixed folds."""
    points = search.points(SCAN_GAMMA, SCAN_C, SCAN_EPSILON)
    most = search.iterations(points[0].theta.size, 20)
    search.expected = (len(points), most)
    judged = search.task.judged_by
    choice: Any = Choice(points, n_jobs=search.task.n_jobs)
    scan = search.walk(
        f"coarse grid of the {judged} error",
        choice,
        search.loss(costs.SCAN_SAMPLES),
        len(points),
        share=0.4,
    )
    walk: Any = walk_on_folds(scan.point, search.tube_limits())
    what = f"iRprop+ on the {judged} error"
    result = search.walk(what, walk, search.loss(costs.WALK_SAMPLES), most)
    return search.outcome(result.point, -result.value, "epsilon_insensitive")


def by_grid(search: RegressionSearch) -> Outcome:
    """Width, C and ε by the loss of held-out samples on a grid."""
    points = search.points(SCAN_GAMMA, GRID_C, GRID_EPSILON)
    search.expected = (len(points),)
    choice: Any = Choice(points, n_jobs=search.task.n_jobs)
    result = search.walk(
        f"grid of the {search.task.judged_by} error",
        choice,
        search.loss(costs.WALK_SAMPLES),
        len(points),
    )
    return search.outcome(result.point, -result.value, "epsilon_insensitive")


def by_spans(search: RegressionSearch) -> Outcome:
    """Kernel, C and ε by the leave-one-out loss of up to 500 samples, as far as spans tell it."""
    inputs, targets = search.some(500)
    bound = RegressionSpanBound(inputs, targets, search.task.judged_by)
    return left_out(search, "span bound", bound, "span bound", bound)


def by_leaving_out(search: RegressionSearch) -> Outcome:
    """Kernel, C and ε by the leave-one-out loss of up to 200 samples."""
    inputs, targets = search.some(200)
    judged = search.task.judged_by
    bound = RegressionSpanBound(inputs, targets, judged)
    loss = LeaveOneOutLoss(inputs, targets, judged)
    return left_out(search, "span bound", bound, "leave-one-out loss", loss)


def left_out(
    search: RegressionSearch,
    scanned: str,
    coarse: Objective[Any],
    walked: str,
    objective: Objective[Any],
) -> Outcome:
    """A coarse grid on one objective, then iRprop⁺ on another."""
    points = search.points(SCAN_GAMMA, SCAN_C, SCAN_EPSILON)
    most = search.iterations(points[0].theta.size, 20)
    search.expected = (len(points), most)
    choice: Any = Choice(points)
    scan = search.walk(f"coarse grid of the {scanned}", choice, coarse, len(points), share=0.4)
    walk: Any = walk_on_folds(scan.point, search.tube_limits())
    result = search.walk(f"iRprop+ on the {walked}", walk, objective, most)
    return search.outcome(result.point, -result.value, "epsilon_insensitive")


REGRESSION_STRATEGIES: dict[str, Callable[[RegressionSearch], Outcome]] = {
    "cv-loss": by_fixed_folds,
    "grid": by_grid,
    "span": by_spans,
    "leave-one-out": by_leaving_out,
}


def tuned_regression(
    task: RegressionTask,
    strategy: str = "cv-loss",
    *,
    callback: Callable[[SearchProgress], Any] | None = None,
    journal: Journal | None = None,
) -> Outcome:
    """Kernel, C and ε for a task by one of `REGRESSION_STRATEGIES`; as `tuned` otherwise.

    Parameters
    ----------
    task : RegressionTask
    strategy : str
    callback : callable, optional
        Called with a `SearchProgress` after each evaluation; returning true ends the search with
        the best point so far.
    journal : Journal, optional
        Records the search; the journal of an equal search that ended early is resumed.

    Returns
    -------
    Outcome
        Its point is a `TubePoint`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import RegressionTask, gaussian_start, tuned_regression
    >>> from maxmargin.tuning.start import halves
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> outcome = tuned_regression(RegressionTask(X, y, gaussian_start(X, halves(y), "radial")))
    >>> bool(outcome.score > -1e-3)
    True
    """
    if strategy not in REGRESSION_STRATEGIES:
        known = sorted(REGRESSION_STRATEGIES)
        raise ValueError(f"strategy must be one of {known}, got {strategy!r}")
    make = REGRESSION_STRATEGIES[strategy]
    return run_to_its_end(
        lambda interrupt: make(RegressionSearch(task, interrupt, callback, journal))
    )
