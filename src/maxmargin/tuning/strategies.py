"""Strategies: an objective, an optimiser, a start and a budget (12.1).

    strategy        objective                          optimiser     iterations (n coordinates)
    cv-posterior    log-posterior, fixed folds         iRprop⁺       20 √n
    kta             kernel target alignment, then      iRprop⁺       100 √n
                    C by cross-validation              path of C
    posterior       log-posterior                      NoisyRprop    10,000 √n
    likelihood      log-likelihood                     NoisyRprop    10,000 √n
    span            span bound, support held fixed     iRprop⁺       100 √n
    radius_margin   radius–margin quotient             iRprop⁺       100 √n
    cv-cma          cross-validation error             CMA-ES        100 √n populations
    kernels         cross-validation error             several kernels, paths of C
    grid            cross-validation error             grid          all points

`AutoSVC` uses "cv-posterior": the likelihood of the thesis over fixed folds, repeated if there are
few samples. It has no noise, so its exact gradient leads iRprop⁺ to the optimum in some ten
evaluations where the noisy one takes thousands.

A Gaussian kernel starts at the best point of a coarse grid of C and of widths around Jaakkola's,
since gradient descent from a single start ends in a local optimum too often (9.4). The prior stays
centred on Jaakkola's heuristic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kernels import CombinedOligo, Kernel, Linear, MetricGaussian, Oligo
from ..kernels.base import take
from ..kernels.sequence.oligo import SequenceKernel
from ..runtime.parallel import single_threaded_blas
from ..solvers.interrupt import deferred_interrupts, interrupted_when
from . import costs
from .base import Float, Limits, Objective, Point
from .course import PATH_C, SCAN_C, SCAN_GAMMA, Search, Task
from .journal import Journal, SearchInterrupted, SearchProgress
from .objectives import (
    FixedSplits,
    GaussianPrior,
    KernelTargetAlignment,
    LogLikelihood,
    LogPosterior,
    RadiusMargin,
    RandomSplits,
    SpanBound,
    folds,
)
from .optimizers import CMA, Choice, IRpropPlus, NoisyRprop
from .optimizers.evolution import population_size
from .outcome import Outcome
from .start import feature_variance, subsample, widened

# Factors on γ that the grid tries.
GRID_GAMMA = 2.0 ** np.arange(-6, 11, 2)
# Factors on γ that compete with a linear kernel on text.
TEXT_GAMMA = (0.25, 1.0, 4.0)
# Where the votes of many machines are counted: few C on some of the folds.
COARSE_C, COARSE_FOLDS = 10.0 ** np.arange(-1.0, 4.01), 2
# Around the best of the coarse steps.
FINE_C, FINE_GAMMA = 10.0 ** np.arange(-1.0, 1.01, 0.25), (0.5, 1.0, 2.0)
# Widths compared on strings.
OLIGO_SIGMA = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 32.0, 1000.0)


def fine_walk(start: Point, limits: Limits) -> IRpropPlus[Point]:
    """iRprop⁺ until the fifth digit of γ, which does not change the machine."""
    return IRpropPlus(start, 0.1, limits, smallest=1e-4)


def walk_on_folds(start: Any, limits: Limits) -> IRpropPlus[Any]:
    """iRprop⁺ on fixed folds, until changes of γ and C change the objective by less than its
    standard error.

    The n entries of a row of a full metric move together: steps are shorter by √n.
    """
    kernel = start.kernel
    together = len(kernel.metric) if isinstance(kernel, MetricGaussian) else 1
    factor = 1.0 / np.sqrt(together)
    return IRpropPlus(start, 0.3 * factor, limits, smallest=0.03 * factor)


def repeats_of(samples: int) -> int:
    """How often the folds of this number of samples are repeated."""
    return int(np.clip(costs.WALK_SAMPLES // samples, 1, costs.REPEATS))


def by_alignment(search: Search, factor: float = 100) -> Outcome:
    """Kernel by alignment with the target, C by cross-validation."""
    if not search.task.kernel.parameter_names:
        search.expected = search.expected or (search.task.k * PATH_C.size,)
        return search.path_of_C(search.task.kernel)
    objective = KernelTargetAlignment(search.task.X, search.codes)
    most = search.iterations(len(search.task.kernel.parameter_names) + 1, factor)
    path = search.task.k * PATH_C.size
    search.expected = search.expected or (len(search.scanned(tune_C=False)), most, path)
    start = search.scan(objective, tune_C=False)
    walk = fine_walk(start, search.limits(tune_C=False))
    result = search.walk("iRprop+ on the kernel target alignment", walk, objective, most)
    return search.path_of_C(result.point.kernel)


def by_likelihood(search: Search, with_prior: bool = False) -> Outcome:
    """Kernel and C by the likelihood of held-out samples."""
    task = search.task
    prior = task.prior or GaussianPrior(task.kernel)
    fraction = (task.k - 1) / task.k

    def fixed(X: Any, y: Float, penalty: Float, importance: Float) -> Objective[Point]:
        splits = FixedSplits(folds(y, min(task.k, y.size), task.random_state))
        return LogLikelihood(X, y, splits, penalty=penalty, importance=importance)

    def random(X: Any, y: Float, penalty: Float, importance: Float) -> Objective[Point]:
        splits = RandomSplits(y, fraction, task.random_state, stratified=True)
        return LogLikelihood(X, y, splits, penalty=penalty, importance=importance)

    steady, noisy = search.weighted_objective(fixed), search.weighted_objective(random)
    if with_prior:
        steady, noisy = LogPosterior(steady, prior), LogPosterior(noisy, prior)
    most = search.iterations(len(task.kernel.parameter_names) + 1, 10_000)
    search.expected = (task.k * len(search.scanned()), most)
    walk = NoisyRprop(search.scan(steady), limits=search.limits())
    what = f"NoisyRprop on the log-{'posterior' if with_prior else 'likelihood'}"
    search.walk(what, walk, noisy, most)
    return search.outcome(walk.point, search.value(steady, walk.point))


def by_fixed_folds(search: Search) -> Outcome:
    """Kernel and C by the likelihood of the samples held out in fixed folds, and a prior.

    Beyond `SCAN_SAMPLES` (of `costs`) the walk starts from the better of two points: the best of a
    coarse grid on a subsample, and the point that `by_alignment` finds on all samples. Beyond
    `WALK_SAMPLES` the walk uses a subsample, and cross-validation on all samples decides between
    its kernel and that of the alignment. More than `MOST_PAIRS` pairs of classes need too many
    machines for derivatives: see `_by_votes`.
    """
    if search.pairs > costs.MOST_PAIRS:
        return _by_votes(search)
    task, n = search.task, search.codes.size
    size = len(task.kernel.parameter_names) + 1
    most = search.iterations(size, 20)
    aligns = n > costs.SCAN_SAMPLES and size > 1
    coarse = _fixed_posterior(search, costs.SCAN_SAMPLES, 1)
    fine = _fixed_posterior(search, costs.WALK_SAMPLES, repeats_of(n))
    scan, path = len(search.scanned()), task.k * PATH_C.size
    alignment = (scan // SCAN_C.size, most, path, 2) if aligns else ()
    search.expected = (scan, *alignment, most, *((path,) if n > costs.WALK_SAMPLES else ()))
    start = search.scan(coarse, what="coarse grid on the log-posterior")
    if aligns:
        aligned = by_alignment(search, 20)
        starts = Choice([start, aligned.point])
        start = search.walk("better of two starts", starts, fine, 2).point
    walk = walk_on_folds(start, search.limits())
    result = search.walk("iRprop+ on the log-posterior", walk, fine, most)
    if n <= costs.WALK_SAMPLES or not search.left():
        return search.outcome(result.point, result.value)
    found = search.path_of_C(result.point.kernel)
    return better(aligned, found)._replace(status=found.status)


def _by_votes(search: Search) -> Outcome:
    """Width and C by the cross-validation error: coarse steps of both on some of the folds, since
    many pairs vote on every sample, then finer ones."""
    start = search.task.kernel
    kernels = [wide for f in SCAN_GAMMA if (wide := widened(start, f)) is not None] or [start]
    few = COARSE_FOLDS * COARSE_C.size
    search.expected = (few,) * len(kernels) + (search.task.k * FINE_C.size,) * len(FINE_GAMMA)
    coarse = _best_of_paths(search, kernels, COARSE_C, COARSE_FOLDS)
    finer = [widened(coarse.point.kernel, f) or coarse.point.kernel for f in FINE_GAMMA]
    if not search.left():
        return coarse
    middle = coarse.point.C * feature_variance(coarse.point.kernel, search.task.X)
    Cs = middle * FINE_C[middle * FINE_C <= PATH_C[-1] * (1.0 + 1e-9)]
    fine = _best_of_paths(search, list(dict.fromkeys(finer)), Cs)
    return (coarse if np.isnan(fine.score) else fine)._replace(status=fine.status)


def better(*outcomes: Outcome) -> Outcome:
    """The one with the highest score; ties go to the smallest C."""
    scored = [outcome for outcome in outcomes if not np.isnan(outcome.score)] or outcomes
    return max(scored, key=lambda outcome: (outcome.score, -outcome.point.C))


def _best_of_paths(
    search: Search, kernels: Sequence[Kernel], Cs: Float, most: int | None = None
) -> Outcome:
    """The kernel and C with the smallest cross-validation error along paths of C."""
    outcomes = []
    for kernel in kernels:
        outcomes.append(search.path_of_C(kernel, Cs, most))
        if not search.left():
            break
    return better(*outcomes)._replace(status=outcomes[-1].status)


def _fixed_posterior(search: Search, samples: int, repeats: int) -> Objective[Point]:
    """The log-posterior of a subsample over fixed folds, repeated with other folds."""
    task = search.task
    chosen = subsample(search.codes, samples, task.random_state)

    def likelihood(X: Any, y: Float, penalty: Float, importance: Float) -> Objective[Point]:
        k, seed = min(task.k, y.size), task.random_state
        splits = [split for r in range(repeats) for split in folds(y, k, seed + r)]
        return LogLikelihood(X, y, FixedSplits(splits), penalty=penalty, importance=importance)

    prior = task.prior or GaussianPrior(task.kernel)
    return LogPosterior(search.weighted_objective(likelihood, chosen), prior)


def by_posterior(search: Search) -> Outcome:
    """Kernel and C by the likelihood of held-out samples and a prior."""
    return by_likelihood(search, with_prior=True)


def by_span(search: Search) -> Outcome:
    """Kernel and C by the span bound, assuming that the set of support vectors does not change."""
    objective = search.objective(SpanBound)
    most = search.iterations(len(search.task.kernel.parameter_names) + 1, 100)
    search.expected = (len(search.scanned()), most)
    walk = fine_walk(search.scan(objective), search.limits())
    result = search.walk("iRprop+ on the span bound", walk, objective, most)
    return search.outcome(result.point, -result.value)


def by_radius_margin(search: Search) -> Outcome:
    """Kernel and C by the radius–margin quotient of the squared-hinge machine.

    It starts from the given kernel: the quotient is smallest where kernels are too narrow (10.2).
    There is no such quotient for the hinge loss, whose C is then chosen by cross-validation.
    """
    objective = search.objective(RadiusMargin)
    start = Point(search.task.kernel, search.unit_C)
    walk = fine_walk(start, search.limits())
    most = search.iterations(walk.size, 100)
    search.expected = (most, search.task.k * PATH_C.size)
    result = search.walk("iRprop+ on the radius-margin quotient", walk, objective, most)
    if search.task.loss == "hinge":
        return search.path_of_C(result.point.kernel)
    return search.outcome(result.point, -result.value)


def by_evolution(search: Search) -> Outcome:
    """Kernel and C by the cross-validation error, with CMA-ES.

    The error is a count, and the best of thousands of points was partly lucky: the result is the
    mean of the last population.
    """
    objective = search.errors()
    size = len(search.task.kernel.parameter_names) + 1
    most = search.iterations(size, 100) * population_size(size)
    search.expected = (len(search.scanned()), most)
    start = search.scan(objective)
    walk = CMA(start, 1.0, search.limits(), random_state=search.task.random_state)
    search.walk("CMA-ES on the cross-validation error", walk, objective, most)
    return search.outcome(walk.mean, 1.0 - search.value(objective, walk.mean))


def by_grid(search: Search) -> Outcome:
    """Width and C by the cross-validation error on a grid, C along a path."""
    start = search.task.kernel
    kernels = [wide for f in GRID_GAMMA if (wide := widened(start, f)) is not None] or [start]
    search.expected = (search.task.k * PATH_C.size,) * len(kernels)
    return _best_of_paths(search, kernels, PATH_C)


def by_kernels(search: Search) -> Outcome:
    """The best of several kinds of kernels, and C, by the cross-validation error.

    For text these are a linear kernel and Gaussians, for strings see `_by_oligos`.
    """
    start = search.task.kernel
    if isinstance(start, SequenceKernel):
        return _by_oligos(search, start.alphabet)
    wide = [kernel for f in TEXT_GAMMA if (kernel := widened(start, f)) is not None] or [start]
    kernels = [Linear(), *wide]
    search.expected = (search.task.k * PATH_C.size,) * len(kernels)
    return _best_of_paths(search, kernels, PATH_C)


def _by_oligos(search: Search, alphabet: str) -> Outcome:
    """Compare oligo kernels of several K, each with the σ of the best alignment, and their sum
    along coarse paths of C; refine the path of the best.

    K is at most 6, and with more than 1 there are at most 10,000 substrings of that length.
    """
    lengths = [k for k in range(1, 7) if k == 1 or len(alphabet) ** k <= 10_000]
    few, many = search.task.k * COARSE_C.size, search.task.k * PATH_C.size
    search.expected = (len(OLIGO_SIGMA),) * len(lengths) + (few,) * (len(lengths) + 1) + (many,)
    chosen = subsample(search.codes, costs.SCAN_SAMPLES, search.task.random_state)
    alignment = KernelTargetAlignment(take(search.task.X, chosen), search.codes[chosen])
    sigmas = []
    for k in lengths:
        points = [Point(Oligo(k, s, alphabet=alphabet), 1.0, True) for s in OLIGO_SIGMA]
        choice = Choice(points, n_jobs=search.task.n_jobs)
        result = search.walk("alignment of substrings", choice, alignment, len(points), 0.25)
        sigmas.append(result.point.kernel.sigma)
    kernels: list[Kernel] = [Oligo(k, s, alphabet=alphabet) for k, s in zip(lengths, sigmas)]
    if len(lengths) > 1:
        kernels.append(CombinedOligo(tuple(sigmas), alphabet))
    coarse = _best_of_paths(search, kernels, COARSE_C, COARSE_FOLDS)
    if not search.left():
        return coarse
    fine = search.path_of_C(coarse.point.kernel)
    return better(coarse, fine)._replace(status=fine.status)


# Strategies that do not support sample weights.
UNWEIGHTED = ("span", "radius_margin", "cv-cma")
STRATEGIES: dict[str, Callable[[Search], Outcome]] = {
    "cv-posterior": by_fixed_folds,
    "kta": by_alignment,
    "posterior": by_posterior,
    "likelihood": by_likelihood,
    "span": by_span,
    "radius_margin": by_radius_margin,
    "cv-cma": by_evolution,
    "grid": by_grid,
    "kernels": by_kernels,
}


def tuned(
    task: Task,
    strategy: str,
    *,
    callback: Callable[[SearchProgress], Any] | None = None,
    journal: Journal | None = None,
) -> Outcome:
    """Kernel and C for a task by one of `STRATEGIES`.

    Ctrl-C ends the search during the current evaluation and raises `SearchInterrupted`, a
    `KeyboardInterrupt` whose `found` is the best point so far.

    Parameters
    ----------
    task : Task
    strategy : str
    callback : callable, optional
        Called with a `SearchProgress` after each evaluation; returning true ends the search with
        the best point so far.
    journal : Journal, optional
        Records the search; the journal of an equal search that ended early is resumed.

    Returns
    -------
    Outcome

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
    return run_to_its_end(
        lambda interrupt: STRATEGIES[strategy](Search(task, interrupt, callback, journal))
    )


def run_to_its_end(work: Callable[[Any], Outcome]) -> Outcome:
    """Run a search, and raise `SearchInterrupted` if Ctrl-C ended it."""
    with (
        single_threaded_blas(),
        deferred_interrupts() as interrupt,
        interrupted_when(lambda: interrupt.pressed),
    ):
        outcome = work(interrupt)
    if outcome.status == "interrupted":
        raise SearchInterrupted(outcome)
    return outcome
