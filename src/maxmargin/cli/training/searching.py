"""The search for unspecified parameters, and the table of all trials."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from ...models.training import SearchTable
from ...report.plots.tuning import search_table
from ...tuning import AutoSVC, AutoSVR, median_gamma
from ..options import MachineOptions
from ..plan import Plan
from .resuming import Course

# The grid: factors on the median γ, and C in units of the spread of the targets.
GAMMA, PRICE = 4.0 ** np.arange(-3, 3), 10.0 ** np.arange(-1, 3)
LINEAR_PRICE = 10.0 ** np.arange(-4.0, 4.0)


class Found(NamedTuple):
    """The parameters found, and the trials."""

    parameters: dict[str, Any]
    table: SearchTable | None


def searched(plan: Plan, options: MachineOptions, X: Any, y: Any, course: Course) -> Found:
    """The parameters that the plan leaves open."""
    match plan.search:
        case "auto":
            return by_strategy(options, X, y, course)
        case "linear":
            return by_path(plan, options, X, y, course)
        case "kernel":
            if plan.machine == "SVR" and "epsilon" not in plan.parameters:
                return by_regression(options, X, y, course)
            return by_grid(plan, options, X, y, course)
    return Found({}, None)


def by_strategy(options: MachineOptions, X: Any, y: Any, course: Course) -> Found:
    """Kernel and C of a classifier, as `AutoSVC` finds them."""
    auto = AutoSVC(
        metric=options.metric or "radial",
        strategy=options.strategy or "auto",
        scale=False,
        max_seconds=options.max_seconds,
        random_state=options.seed,
        callback=course.heard,
    )
    chosen = auto.search(X, y, journal=course.journal)
    table = search_table(chosen.stages, str(chosen), chosen)
    return Found({"kernel": chosen.kernel, "C": chosen.C}, table)


def by_regression(options: MachineOptions, X: Any, y: Any, course: Course) -> Found:
    """Kernel, C and ε of a regression, as `AutoSVR` finds them."""
    auto = AutoSVR(
        metric=options.metric or "radial",
        strategy=options.strategy or "auto",
        scale=False,
        max_seconds=options.max_seconds,
        random_state=options.seed,
        callback=course.heard,
    )
    chosen = auto.search(X, y, journal=course.journal)
    table = search_table(chosen.stages, str(chosen), chosen)
    parameters = {"kernel": chosen.kernel, "C": chosen.C, "epsilon": chosen.epsilon}
    return Found(parameters, table)


def by_path(plan: Plan, options: MachineOptions, X: Any, y: Any, course: Course) -> Found:
    """C of a linear machine by cross-validation."""
    trial = Trial(plan, options, X, y, samples=10_000, k=5, course=course)
    # With the loss |y − f|, C grows with the targets.
    unit = 1.0 if trial.classes else trial.spread / trial.X.shape[1]
    points = [{"C": float(C * unit)} for C in LINEAR_PRICE]
    trial.most = len(points)
    best = trial.best(points)
    return Found(best, trial.table("C", best))


def by_grid(plan: Plan, options: MachineOptions, X: Any, y: Any, course: Course) -> Found:
    """γ and C of a regression by cross-validation, where ν or ε is given."""
    trial = Trial(plan, options, X, y, samples=1000, k=3, course=course)
    gamma = median_gamma(trial.X, trial.y > np.median(trial.y))
    points = [
        {"gamma": float(g * gamma), "C": float(C * trial.spread)} for g in GAMMA for C in PRICE
    ]
    trial.most = len(points)
    best = trial.best(points)
    return Found(best, trial.table("gamma and C", best))


class Trial:
    """Points tried by cross-validation on a part of the samples, by default for a minute.

    Attributes
    ----------
    most : int
        Number of points to try.
    """

    most: int

    def __init__(
        self,
        plan: Plan,
        options: MachineOptions,
        X: Any,
        y: Any,
        samples: int,
        k: int,
        course: Course,
    ) -> None:
        self.plan, self.random = plan, np.random.default_rng(options.seed)
        self.course, self.stages = course, 0
        rows = np.sort(self.random.permutation(y.size)[:samples])
        self.X, self.y = X[rows], y[rows]
        self.classes = plan.machine in ("LinearSVC", "SVC")
        if self.classes and np.unique(self.y).size < np.unique(y).size:
            self.X, self.y = X, y
        self.spread = 1.0 if self.classes else float(np.std(self.y.astype(float))) or 1.0
        self.splits = list(self._splits(k, options.seed))
        self.began = time.perf_counter() - course.journal.seconds
        allowed_seconds = options.max_seconds
        self.limit = (
            60.0 if allowed_seconds is None else course.journal.seconds + 0.4 * allowed_seconds
        )
        self.rows: list[tuple[dict[str, float], float]] = []

    def _splits(self, k: int, seed: int) -> Any:
        if not self.classes:
            folds = KFold(max(2, min(k, self.y.size)), shuffle=True, random_state=seed)
            return folds.split(self.X)
        smallest = np.unique(self.y, return_counts=True)[1].min()
        k = int(np.clip(smallest, 2, k))
        kind = StratifiedKFold if smallest >= 2 else KFold
        return kind(k, shuffle=True, random_state=seed).split(self.X, self.y)

    def best(self, points: list[dict[str, float]]) -> dict[str, float]:
        """The point with the highest score, among those tried within the time limit."""
        course, place = self.course, self.stages
        self.stages += 1
        what = f"{len(points)} points"
        scores = course.scores(place, what)[: len(points)]
        self.rows += zip(points, scores)
        for point in points[len(scores) :]:
            seconds = time.perf_counter() - self.began
            if scores and seconds > self.limit:
                break
            score = self._score(point)
            scores.append(score)
            self.rows.append((point, score))
            course.note(place, what, scores)
            course.journal.seconds = seconds
            course.show(len(self.rows) / self.most, f"{len(self.rows)}/{self.most} points")
        return points[int(np.nanargmax(np.where(np.isnan(scores), -np.inf, scores)))]

    def _score(self, point: dict[str, float]) -> float:
        import warnings

        from sklearn.exceptions import ConvergenceWarning

        fixed = {"max_seconds": 10.0, **point}
        if "probability" in self.plan.parameters:
            fixed["probability"] = False
        machine = Plan(self.plan.machine, {**self.plan.parameters, **fixed}).estimator()
        results = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for train, test in self.splits:
                if np.unique(self.y[train]).size > 1:
                    fitted = machine.fit(self.X[train], self.y[train])
                    results.append(fitted.score(self.X[test], self.y[test]))
        return float(np.mean(results)) if results else np.nan

    def table(self, what: str, best: dict[str, float]) -> SearchTable:
        names = list(dict.fromkeys(name for point, _ in self.rows for name in point))
        columns = {
            f"log_{name}": np.log([point.get(name, np.nan) for point, _ in self.rows])
            for name in names
        }
        score = max(score for _, score in self.rows)
        kind = "accuracy" if self.classes else "R²"
        chosen = ", ".join(f"{name} = {value:.4g}" for name, value in best.items())
        summary = (
            f"{what} by {len(self.splits)}-fold cross-validation on {self.y.size:,} samples: "
            f"{len(self.rows)} points, best {kind} {score:.3f}\n{chosen}"
        )
        stage = np.full(len(self.rows), "cross-validation")
        scores = np.array([score for _, score in self.rows])
        coordinates = {f"log_{name}": float(np.log(value)) for name, value in best.items()}
        return SearchTable(summary, stage, scores, columns, coordinates)
