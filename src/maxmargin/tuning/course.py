"""The course of a search: its clock, its stages, its callback and its journal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from ..kernels.base import Inputs, take
from .base import Float, Limits, Objective, Point
from .journal import Guarded, Interrupted, Journal, SearchProgress, StageNotes, recalling
from .machines.optimum import Int
from .objectives import CrossValidationError, OverPairs, Prior, folds
from .optimizers import Choice, Optimiser, Result
from .outcome import PATH, PATH_BY_RANK, Outcome, Stage
from .paths import CurveOfC, VotingError, cross_validate_C
from .start import feature_variance, kernel_limits, semi_definite, widened

# The coarse grid: factors on γ, and C.
SCAN_GAMMA = 4.0 ** np.arange(-2, 6)
SCAN_C = 10.0 ** np.arange(-1, 5)
# The path of C, and the limits of C, in units of 1/variance of the samples in feature space.
PATH_C = 10.0 ** np.arange(-2.0, 4.01, 0.25)
LOWEST_C, HIGHEST_C = 1e-4, 1e7
# Seconds between two updates of the journal: the work that Ctrl-C may cost.
KEEP_EVERY = 0.5


@dataclass(frozen=True, eq=False)
class Task:
    """A search to be run: samples, kernel, loss and budget.

    Parameters
    ----------
    X : inputs
    y : labels
        Of two or more classes.
    kernel : Kernel
        The starting point; its parameters are tuned.
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
    penalty : float array, optional
        Factor on the C of each sample; 1 by default.
    importance : float array, optional
        Weight of each sample in likelihoods and errors; 1 by default.
    scoring : {"accuracy", "roc_auc"}
        What cross-validation along a path of C maximises.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Task, tuned
    >>> X, y = chess_board(200, random_state=0)
    >>> tuned(Task(X, y, Gaussian(1.0), max_seconds=10.0), "kta").status
    'finished'
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
    penalty: Float | None = None
    importance: Float | None = None
    scoring: str = "accuracy"


class Search:
    """One run of a strategy: what strategies share.

    Parameters
    ----------
    task : Task
    interrupt : Interrupt
        Whether Ctrl-C was pressed.
    callback : callable, optional
        Called with a `SearchProgress` after each evaluation; returning true ends the search.
    journal : Journal, optional
        Of an equal search, to resume from.

    Attributes
    ----------
    expected : sequence of int
        Expected evaluations of each stage, for the progress fraction.
    """

    def __init__(
        self,
        task: Task,
        interrupt: Any,
        callback: Callable[[SearchProgress], Any] | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.task = replace(task, kernel=semi_definite(task.kernel))
        self.interrupt, self.callback = interrupt, callback
        self.journal = Journal() if journal is None else journal
        self.began, self.earlier = time.perf_counter(), self.journal.seconds
        self.stages: list[Stage] = []
        self.expected: tuple[int, ...] = ()
        self._place = -1
        self._ended, self._late = "", False
        self._kept = -np.inf
        self._lock = threading.Lock()
        self._read_targets()
        self.unit_C = 1.0 / feature_variance(task.kernel, task.X)

    def _read_targets(self) -> None:
        classes, codes = np.unique(self.task.y, return_inverse=True)
        if classes.size < 2:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        self.codes = codes.astype(np.int64)
        self.signs = 2.0 * self.codes - 1.0
        self.binary = classes.size == 2
        self.pairs = classes.size * (classes.size - 1) // 2

    def left(self) -> float:
        """Seconds left."""
        if self._ended:
            return 0.0
        return max(0.0, self.task.max_seconds - (time.perf_counter() - self.began))

    def iterations(self, size: int, factor: float) -> int:
        return max(1, int(self.task.effort * factor * np.sqrt(size)))

    def objective(self, make: Callable[[Any, Any], Objective[Point]]) -> Objective[Point]:
        """An objective of two classes, or its sum over pairs of more."""
        if self.binary:
            return make(self.task.X, self.signs)
        return OverPairs(make, self.task.X, self.codes)

    def weighted_objective(
        self, make: Callable[..., Objective[Point]], samples: Int | None = None
    ) -> Objective[Point]:
        """`objective` of all or some samples; `make` also takes their penalties and importance."""
        chosen = np.arange(self.codes.size) if samples is None else samples
        X = self.task.X if samples is None else take(self.task.X, samples)
        ones = np.ones(self.codes.size)
        optional = (self.task.penalty, self.task.importance)
        weights = [(ones if weight is None else weight)[chosen] for weight in optional]
        if self.binary:
            return make(X, self.signs[chosen], *weights)
        return OverPairs(make, X, self.codes[chosen], *weights)

    def errors(self) -> Objective[Point]:
        """The cross-validation error; with more than two classes, pairs of classes vote."""
        task = self.task
        if self.binary:
            return CrossValidationError(task.X, self.signs, task.k, task.random_state)
        return VotingError(task.X, self.codes, task.k, task.random_state)

    def limits(self, tune_C: bool = True) -> Limits:
        low, high = kernel_limits(self.task.kernel)
        if not tune_C:
            return Limits(low, high)
        least, most = np.log(LOWEST_C * self.unit_C), np.log(HIGHEST_C * self.unit_C)
        return Limits(np.append(low, least), np.append(high, most))

    def scanned(self, tune_C: bool = True) -> list[Point]:
        """The points of the coarse grid."""
        start = self.task.kernel
        kernels = [wide for f in SCAN_GAMMA if (wide := widened(start, f)) is not None] or [start]
        Cs = SCAN_C * self.unit_C if tune_C else np.ones(1)
        return [Point(kernel, float(C), not tune_C) for kernel in kernels for C in Cs]

    def scan(
        self, objective: Objective[Point], tune_C: bool = True, what: str = "coarse grid"
    ) -> Point:
        """The best point of a coarse grid."""
        points = self.scanned(tune_C)
        choice = Choice(points, n_jobs=self.task.n_jobs)
        result = self.walk(what, choice, objective, len(points), share=0.25)
        middle = Point(self.task.kernel, self.unit_C if tune_C else 1.0, not tune_C)
        return result.point if np.isfinite(result.value) else middle

    def walk(
        self,
        what: str,
        optimiser: Optimiser[Point],
        objective: Objective[Point],
        most: int,
        share: float = 1.0,
    ) -> Result:
        """Run an optimiser, resumed from the journal, in a fraction of the time left."""
        self._place += 1
        notes = self.journal.notes(self._place, what)
        with recalling(what):
            if len(notes.rows) and notes.rows.shape[1] not in (2, 2 + optimiser.size):
                raise ValueError(f"evaluations have {notes.rows.shape[1]} numbers")
            optimiser.record, optimiser.recalled = [], notes.rows
            result = optimiser.run(objective, evaluations=len(notes.rows))
            if len(notes.rows):
                objective.restore(notes.state)
                optimiser.seconds = float(notes.rows[-1, 0])
                result = result._replace(seconds=optimiser.seconds)
        if notes.status:
            result = result._replace(status=notes.status)
        elif result.status == "evaluations" and not self._ended:
            left = max(0, most - optimiser.evaluations)
            result = self._walk_on(what, optimiser, objective, left, share * self.left())
        self._late |= result.status == "seconds"
        if optimiser.evaluations or not self._ended:
            history = optimiser.history.table(result.point.names)
            self.stages.append(Stage(what, result, history))
        return result

    def _walk_on(
        self,
        what: str,
        optimiser: Optimiser[Point],
        objective: Objective[Point],
        evaluations: int,
        seconds: float,
    ) -> Result:
        place, most = self._place, optimiser.evaluations + evaluations
        record = optimiser.record
        assert record is not None

        def keep(status: str) -> None:
            rows = np.array(record) if record else np.empty((0, 0))
            self._keep(place, StageNotes(what, rows, status, objective.state()))

        def listen(_: Any) -> bool:
            if time.perf_counter() - self._kept > KEEP_EVERY:
                keep("")
            value, best = float(record[-1][1]), float(optimiser.best_value)
            return self._told(what, optimiser.evaluations, most, value, best)

        try:
            result = optimiser.run(
                Guarded(objective, self.interrupt),
                evaluations=evaluations,
                seconds=seconds,
                callback=listen,
            )
        except Interrupted:
            # The objective cannot undo a partial evaluation: keep the last entry of the journal.
            self._ended = "interrupted"
            return optimiser.result("interrupted")
        keep("" if self._ended else result.status)
        return result

    def path_of_C(self, kernel: Kernel, Cs: Float = PATH_C, most: int | None = None) -> Outcome:
        """C for a kernel by cross-validation along a path, with the hinge loss; the smallest of
        equally good C. Values of C are in units of 1/variance in feature space. `most` is the
        number of folds to be held out, of those that there are."""
        self._place += 1
        k = self.task.k if most is None else min(most, self.task.k)
        unit = 1.0 / feature_variance(kernel, self.task.X)
        began = time.perf_counter()
        curve = self._curve_of_C(kernel, Cs * unit, k)
        seconds = time.perf_counter() - began
        complete = curve.errors.size == Cs.size * k
        self._late |= not (complete or self._ended)
        if not curve.C.size:
            return self.outcome(Point(kernel, unit), np.nan, "hinge")
        C, error = curve.best_C, float(curve.mean.min())
        status = "exhausted" if complete else self._ended or "seconds"
        lowest, highest = PATH_C[0] * unit, PATH_C[-1] * unit
        inside = lowest * (1.0 + 1e-9) < C < highest * (1.0 - 1e-9)
        at_limits = () if inside else ("log_C",)
        point = Point(kernel, C)
        result = Result(point, error, curve.errors.size, seconds, status, 0, at_limits)
        history = {"log_C": np.log(curve.C), "value": curve.mean}
        what = PATH_BY_RANK if self.task.scoring == "roc_auc" else PATH
        what = what if k == self.task.k else f"{PATH} on {k} of {self.task.k} folds"
        self.stages.append(Stage(what, result, history))
        return self.outcome(point, 1.0 - error, "hinge")

    def _curve_of_C(self, kernel: Kernel, Cs: Float, k: int) -> CurveOfC:
        """Errors along the path on the first k folds: at the C that all of them reached, else of
        the completed ones."""
        place = self._place
        splits = folds(self.codes.astype(np.float64), self.task.k, self.task.random_state)[:k]
        sizes = np.array([split.test.size for split in splits])
        rows = self.journal.notes(place, "path of C").rows
        with recalling("path of C"):
            if rows.size and rows.shape != (k, Cs.size):
                raise ValueError(f"errors are {rows.shape[0]} × {rows.shape[1]}")
        known = {i: list(map(float, row)) for i, row in enumerate(rows) if not np.isnan(row).any()}
        limit, asked = time.perf_counter() + self.left(), len(known) * Cs.size
        sound = dict(known)

        def keep() -> None:
            """Keep the folds completed since the last update, unless Ctrl-C was pressed."""
            nonlocal sound
            if self.interrupt.pressed:
                self._ended = "interrupted"
            elif len(known) > len(sound):
                sound = dict(known)
                self._keep(place, StageNotes("path of C", matrix_of(sound, k, Cs.size)))

        def stop() -> bool:
            nonlocal asked
            asked += 1
            keep()
            done = [row[-1] for row in known.values()]
            least = float(np.mean([min(row) for row in known.values()])) if known else np.nan
            value = done[-1] if done else np.nan
            told = self._told("path of C", asked, k * Cs.size, value, least)
            return told or time.perf_counter() > limit

        if not self.left() and len(known) < k:
            curve = CurveOfC(Cs[:0], np.empty((k, 0)), sizes)
        else:
            curve = cross_validate_C(
                kernel,
                self.task.X,
                self.codes,
                Cs,
                splits=splits,
                n_jobs=self.task.n_jobs,
                stop=stop,
                known=known,
                penalty=self.task.penalty,
                importance=self.task.importance,
                scoring=self.task.scoring,
            )
        keep()
        if self._ended == "interrupted" or not curve.C.size:
            done = sorted(sound)
            reached = Cs if done else Cs[:0]
            errors = np.array([sound[fold] for fold in done]).reshape(len(done), reached.size)
            return CurveOfC(reached, errors, sizes[done])
        return curve

    def value(self, objective: Objective[Point], point: Point) -> float:
        """The objective at the point found; NaN after Ctrl-C."""
        return np.nan if self._ended == "interrupted" else objective.value(point)

    def outcome(self, point: Any, score: float, loss: str | None = None) -> Outcome:
        status = self._ended or ("time_limit" if self._late else "finished")
        return Outcome(point, loss or self.task.loss, float(score), self.stages, status)

    def _keep(self, place: int, notes: StageNotes) -> None:
        self.journal.note(place, notes)
        self._kept = time.perf_counter()
        self.journal.seconds = self.earlier + self._kept - self.began

    def _told(self, what: str, evaluations: int, most: int, value: float, best: float) -> bool:
        """Call the callback; return whether the search should end."""
        with self._lock:
            if self.callback is not None and not self._ended:
                seconds = time.perf_counter() - self.began
                fraction = self._fraction(evaluations, seconds)
                seconds += self.earlier
                now = SearchProgress(what, evaluations, most, fraction, value, best, seconds)
                if self.callback(now):
                    self._ended = "stopped"
            return bool(self._ended)

    def _fraction(self, evaluations: int, seconds: float) -> float:
        by_time, by_count = seconds / max(self.task.max_seconds, 1e-9), 0.0
        if self._place < len(self.expected):
            here = min(evaluations, self.expected[self._place])
            by_count = (sum(self.expected[: self._place]) + here) / sum(self.expected)
        return min(1.0, max(by_time, by_count))


def matrix_of(known: dict[int, list[float]], folds: int, columns: int) -> Float:
    """A row for each fold, NaN where unknown."""
    rows = np.full((folds, columns), np.nan)
    for fold, row in dict(known).items():
        rows[fold] = row
    return rows
