"""Strategies: an objective, an optimiser, a start and a budget (12.1).

    strategy        objective                          optimiser     iterations (n coordinates)
    kta             kernel target alignment, then      iRprop⁺       100 √n
                    C by cross-validation              path of C
    posterior       log-posterior                      NoisyRprop    10,000 √n
    likelihood      log-likelihood                     NoisyRprop    10,000 √n
    span            span bound                         iRprop⁺       100 √n
    radius_margin   radius–margin quotient             iRprop⁺       100 √n
    cv-cma          cross-validation error             CMA-ES        100 √n populations
    grid            cross-validation error             grid          all points

A Gaussian kernel starts where the objective is best on a coarse grid of widths around Jaakkola's
and of C, since from a single start gradient descent ends in a local optimum too often (9.4). The
prior stays where Jaakkola's heuristic puts it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from ..kernels.base import Inputs, count, take
from ..threads import threads_for
from .base import Float, Limits, Objective, Point
from .objectives import (
    CrossValidationError,
    FixedSplits,
    GaussianPrior,
    KernelTargetAlignment,
    LogLikelihood,
    LogPosterior,
    OverPairs,
    Prior,
    RadiusMargin,
    RandomSplits,
    SpanBound,
    folds,
)
from .optimizers import CMA, Choice, IRpropPlus, NoisyRprop, Optimiser, Result
from .paths import VotingError, cross_validate_C
from .start import widened

# The coarse grid: factors on γ, and C.
SCAN_GAMMA = 4.0 ** np.arange(-2, 6)
SCAN_C = 10.0 ** np.arange(-1, 5)
# The path of C that follows the alignment, the grid, and the limits of C. All C are in units of
# 1/variance of the samples in feature space.
PATH_C = 10.0 ** np.arange(-2.0, 4.01, 0.25)
GRID_GAMMA = 2.0 ** np.arange(-6, 11, 2)
LOWEST_C, HIGHEST_C = 1e-4, 1e7
# How far a coordinate, in general the logarithm of a parameter, may go from the start.
REACH = 12.0
# First steps of the optimisers.
STEP, NOISY_STEP, EVOLUTION_STEP = 0.1, 0.05, 1.0
# Steps at which iRprop⁺ has arrived; the machine does not change with the fifth digit of γ.
SMALLEST_STEP = 1e-4
# Samples whose Gram matrix tells the variance in feature space.
VARIANCE_SAMPLES = 500


class Stage(NamedTuple):
    """One step of a strategy: what was done, with which result, and its history."""

    what: str
    result: Result
    history: dict[str, NDArray[Any]]


class Outcome(NamedTuple):
    """What a strategy found.

    Attributes
    ----------
    point : Point
        Kernel and C.
    loss : {"hinge", "squared_hinge"}
        The loss of the machine that the point is for.
    score : float
        The objective there, large being good.
    stages : list of Stage
    """

    point: Point
    loss: str
    score: float
    stages: list[Stage]


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be tuned, on which samples, with which means.

    Parameters
    ----------
    X : inputs
    y : labels
        Of two or more classes.
    kernel : Kernel
        The start; its parameters are tuned.
    loss : {"hinge", "squared_hinge"}
    prior : Prior, optional
        For "posterior"; a `GaussianPrior` around the start by default.
    k : int
        Folds of cross-validation.
    effort : float
        Factor on the number of iterations.
    max_seconds : float
    random_state : int
    n_jobs : int
        Threads.
    """

    X: Inputs
    y: NDArray[Any]
    kernel: Kernel
    loss: str = "hinge"
    prior: Prior | None = None
    k: int = 5
    effort: float = 1.0
    max_seconds: float = np.inf
    random_state: int = 0
    n_jobs: int = 1


class Search:
    """One run of a strategy: the clock, the stages, and what strategies share."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.began = time.perf_counter()
        self.stages: list[Stage] = []
        classes, codes = np.unique(task.y, return_inverse=True)
        if classes.size < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        self.codes = codes.astype(np.int64)
        self.signs = 2.0 * self.codes - 1.0
        self.binary = classes.size == 2
        self.unit_C = 1.0 / feature_variance(task.kernel, task.X)

    def left(self) -> float:
        """Seconds that remain."""
        return max(0.0, self.task.max_seconds - (time.perf_counter() - self.began))

    def iterations(self, size: int, factor: float) -> int:
        return max(1, int(self.task.effort * factor * np.sqrt(size)))

    def objective(self, make: Callable[[Any, Any], Objective[Point]]) -> Objective[Point]:
        """An objective of two classes, or its sum over pairs of more."""
        if self.binary:
            return make(self.task.X, self.signs)
        return OverPairs(make, self.task.X, self.codes)

    def errors(self) -> Objective[Point]:
        """The cross-validation error, of pairs that vote where there are more than two classes."""
        task = self.task
        if self.binary:
            return CrossValidationError(task.X, self.signs, task.k, task.random_state)
        return VotingError(task.X, self.codes, task.k, task.random_state)

    def limits(self, tune_C: bool = True) -> Limits:
        low, high = self.task.kernel.theta - REACH, self.task.kernel.theta + REACH
        if not tune_C:
            return Limits(low, high)
        least, most = np.log(LOWEST_C * self.unit_C), np.log(HIGHEST_C * self.unit_C)
        return Limits(np.append(low, least), np.append(high, most))

    def scan(self, objective: Objective[Point], tune_C: bool = True) -> Point:
        """The best point of a coarse grid."""
        start = self.task.kernel
        kernels = [wide for f in SCAN_GAMMA if (wide := widened(start, f)) is not None] or [start]
        Cs = SCAN_C * self.unit_C if tune_C else np.ones(1)
        points = [Point(kernel, float(C), not tune_C) for kernel in kernels for C in Cs]
        choice = Choice(points, n_jobs=self.task.n_jobs)
        result = choice.run(objective, seconds=self.left() / 4)
        self.note("coarse grid", choice, result)
        middle = Point(start, self.unit_C if tune_C else 1.0, not tune_C)
        return result.point if np.isfinite(result.value) else middle

    def walk(
        self, what: str, optimiser: Optimiser[Point], objective: Objective[Point], most: int
    ) -> Result:
        result = optimiser.run(objective, evaluations=most, seconds=self.left())
        self.note(what, optimiser, result)
        return result

    def note(self, what: str, optimiser: Optimiser[Point], result: Result) -> None:
        names = result.point.names
        self.stages.append(Stage(what, result, optimiser.history.table(names)))

    def outcome(self, point: Point, score: float) -> Outcome:
        return Outcome(point, self.task.loss, float(score), self.stages)

    def path_of_C(self, kernel: Kernel) -> Outcome:
        """C for a kernel by cross-validation along a path, with the hinge loss."""
        unit = 1.0 / feature_variance(kernel, self.task.X)
        began, deadline = time.perf_counter(), self.left()
        curve = cross_validate_C(
            kernel,
            self.task.X,
            self.codes,
            PATH_C * unit,
            splits=self.task.k,
            random_state=self.task.random_state,
            n_jobs=self.task.n_jobs,
            stop=lambda: time.perf_counter() - began > deadline,
        )
        seconds = time.perf_counter() - began
        if not curve.C.size:
            return Outcome(Point(kernel, unit), "hinge", np.nan, self.stages)
        C, error = curve.best_C, float(curve.mean.min())
        status = "exhausted" if curve.C.size == PATH_C.size else "seconds"
        at_limits = ("log_C",) if C in (curve.C[0], curve.C[-1]) else ()
        point = Point(kernel, C)
        fits = curve.errors.size
        result = Result(point, error, fits, seconds, status, 0, at_limits)
        history = {"log_C": np.log(curve.C), "value": curve.mean}
        self.stages.append(Stage("path of C", result, history))
        return Outcome(point, "hinge", 1.0 - error, self.stages)


def feature_variance(kernel: Kernel, X: Inputs) -> float:
    """Mean squared distance of the samples from their centre in feature space."""
    K = kernel(take(X, slice(0, min(count(X), VARIANCE_SAMPLES))))
    variance = float(np.mean(np.diagonal(K)) - np.mean(K))
    return variance if np.isfinite(variance) and variance > 0 else 1.0


def by_alignment(search: Search) -> Outcome:
    """Kernel by its alignment with the target, C by cross-validation."""
    if not search.task.kernel.parameter_names:
        return search.path_of_C(search.task.kernel)
    objective = KernelTargetAlignment(search.task.X, search.codes)
    start = search.scan(objective, tune_C=False)
    limits = search.limits(tune_C=False)
    walk = IRpropPlus(start, STEP, limits, smallest=SMALLEST_STEP)
    most = search.iterations(len(start.names) + 1, 100)
    result = search.walk("iRprop+ on the kernel target alignment", walk, objective, most)
    return search.path_of_C(result.point.kernel)


def by_likelihood(search: Search, with_prior: bool = False) -> Outcome:
    """Kernel and C by the likelihood of held-out samples."""
    task = search.task
    prior = task.prior or GaussianPrior(task.kernel)
    fraction = (task.k - 1) / task.k

    def fixed(X: Any, y: Float) -> Objective[Point]:
        return LogLikelihood(X, y, FixedSplits(folds(y, min(task.k, y.size), task.random_state)))

    def random(X: Any, y: Float) -> Objective[Point]:
        return LogLikelihood(X, y, RandomSplits(y, fraction, task.random_state, stratified=True))

    steady, noisy = search.objective(fixed), search.objective(random)
    if with_prior:
        steady, noisy = LogPosterior(steady, prior), LogPosterior(noisy, prior)
    start = search.scan(steady)
    walk = NoisyRprop(start, NOISY_STEP, search.limits())
    most = search.iterations(len(start.names), 10_000)
    what = f"NoisyRprop on the log-{'posterior' if with_prior else 'likelihood'}"
    search.walk(what, walk, noisy, most)
    return search.outcome(walk.point, steady.value(walk.point))


def by_posterior(search: Search) -> Outcome:
    """Kernel and C by the likelihood of held-out samples and a prior."""
    return by_likelihood(search, with_prior=True)


def by_span(search: Search) -> Outcome:
    """Kernel and C by the span bound."""
    objective = search.objective(SpanBound)
    walk = IRpropPlus(search.scan(objective), STEP, search.limits(), smallest=SMALLEST_STEP)
    most = search.iterations(walk.size, 100)
    result = search.walk("iRprop+ on the span bound", walk, objective, most)
    return search.outcome(result.point, -result.value)


def by_radius_margin(search: Search) -> Outcome:
    """Kernel and C by the radius–margin quotient of the squared-hinge machine.

    It starts from the kernel as it is: the quotient has its least values where kernels are too
    narrow (10.2). There is no such quotient for the hinge loss; its C follows by cross-validation.
    """
    objective = search.objective(RadiusMargin)
    start = Point(search.task.kernel, search.unit_C)
    walk = IRpropPlus(start, STEP, search.limits(), smallest=SMALLEST_STEP)
    most = search.iterations(walk.size, 100)
    result = search.walk("iRprop+ on the radius-margin quotient", walk, objective, most)
    if search.task.loss == "hinge":
        return search.path_of_C(result.point.kernel)
    return search.outcome(result.point, -result.value)


def by_evolution(search: Search) -> Outcome:
    """Kernel and C by the cross-validation error, with CMA-ES.

    The error is a count, and the best of thousands of points has been lucky: the mean of the last
    population is taken.
    """
    objective = search.errors()
    start = search.scan(objective)
    walk = CMA(start, EVOLUTION_STEP, search.limits(), random_state=search.task.random_state)
    most = search.iterations(walk.size, 100) * walk.population
    search.walk("CMA-ES on the cross-validation error", walk, objective, most)
    return search.outcome(walk.mean, 1.0 - objective.value(walk.mean))


def by_grid(search: Search) -> Outcome:
    """Width and C by the cross-validation error on a grid, C along a path."""
    start = search.task.kernel
    kernels = [wide for f in GRID_GAMMA if (wide := widened(start, f)) is not None] or [start]
    outcomes = []
    for kernel in kernels:
        outcomes.append(search.path_of_C(kernel))
        if not search.left():
            break
    scores = np.array([outcome.score for outcome in outcomes])
    return outcomes[int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))]


STRATEGIES: dict[str, Callable[[Search], Outcome]] = {
    "kta": by_alignment,
    "posterior": by_posterior,
    "likelihood": by_likelihood,
    "span": by_span,
    "radius_margin": by_radius_margin,
    "cv-cma": by_evolution,
    "grid": by_grid,
}


def tuned(task: Task, strategy: str) -> Outcome:
    """Kernel and C for a task by one of `STRATEGIES`.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.tuning import Task, gaussian_start, tuned
    >>> X, y = chess_board(200, random_state=0)
    >>> outcome = tuned(Task(X, y, gaussian_start(X, y, "radial")), "kta")
    >>> [stage.what for stage in outcome.stages]
    ['coarse grid', 'iRprop+ on the kernel target alignment', 'path of C']
    """
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {sorted(STRATEGIES)}, got {strategy!r}")
    with threads_for(task.X):
        return STRATEGIES[strategy](Search(task))
