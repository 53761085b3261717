"""AutoSVC and AutoSVR beside a grid search with scikit-learn: errors, and CPU time as a ratio.

    python -m benchmarks.tuning_grid                        # every study below, some twenty minutes
    python -m benchmarks.tuning_grid --study small --trials 20
    python -m benchmarks.tuning_grid --study medium,classes-10,regression-small

Classification: a grid of 7 × 7 values of C and γ. Regression: a grid of 7 × 7 × 3 values of C, γ
and ε, errors are 1 − R². Five folds; inputs, and targets of the regression, are standardised for
the grid. Both search on the same samples, one after the other in one process, so that load on the
machine meets both. Where a study says `cells`, only so many of the grid's fits, drawn at random,
are timed, and the time of all is estimated from their mean. The error of the grid is then that of
the same grid search over maxmargin's SVC or SVR, which are the same machines, trained sooner; with
more than 5,000 samples it is not measured.
Figures are kept in `benchmarks/results/tuning.json`, split by split: an interrupted run goes on
there, and one with more `--trials` adds splits. From it `--page` writes the tables of
docs/guide/tuning.md.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import maxmargin
from maxmargin import AutoSVC, AutoSVR

from .tuning_page import with_spread, write_page
from .tuning_trials import ARTIFICIAL, RAETSCH, artificial, real, save, saved

GRID = {"svc__C": np.logspace(-2, 4, 7), "svc__gamma": np.logspace(-4, 2, 7)}
SVR_GRID = {
    "regressor__svr__C": np.logspace(-2, 4, 7),
    "regressor__svr__gamma": np.logspace(-4, 2, 7),
    "regressor__svr__epsilon": [0.01, 0.1, 0.3],
}
FOLDS = 5
REGRESSION = ("cadata", "abalone", "cpusmall")
# Samples up to which a grid is searched whose time is estimated.
MOST_SEARCHED = 5000
# Test samples, at most.
MOST_TESTED = 10_000


@dataclass(frozen=True)
class Study:
    """Sets of one size, and the part of the grid's time that is aimed at."""

    samples: int
    sets: tuple[str, ...]
    trials: int
    aim: float
    regression: bool = False
    cells: int = 0


STUDIES = {
    "small": Study(200, (*RAETSCH, *ARTIFICIAL), 3, 1.0),
    "medium": Study(1000, ("banana", "image", "splice", "waveform", "noisy-chess"), 2, 0.3),
    "large": Study(5000, ("ringnorm", "twonorm"), 1, 0.1),
    "largest": Study(20_000, ("noisy-chess", "a9a"), 1, 0.1, cells=4),
    "classes-10": Study(500, ("digits", "usps"), 2, 1.0),
    "classes-26": Study(1000, ("made-26",), 2, 0.3),
    "regression-small": Study(200, REGRESSION, 3, 1.0, regression=True),
    "regression-medium": Study(1000, REGRESSION, 1, 0.3, regression=True, cells=30),
    "regression-large": Study(5000, ("cpusmall",), 1, 0.1, regression=True, cells=6),
}


def samples_of(name: str, seed: int, size: int) -> tuple[Any, ...]:
    """Inputs and targets to train and to test with."""
    if name in ARTIFICIAL:
        return artificial(name, seed, size, MOST_TESTED)
    if name == "digits":
        return split(*load_digits(return_X_y=True), seed, size)
    if name == "made-26":
        made = make_classification(
            size + 4000, 16, n_informative=12, n_redundant=2, n_classes=26, random_state=seed
        )
        return split(*made, seed, size)
    X, y, new, targets = real(name, seed, size)
    return X, y, new[:MOST_TESTED], targets[:MOST_TESTED]


def split(X: Any, y: Any, seed: int, size: int) -> tuple[Any, ...]:
    order = np.random.default_rng(seed).permutation(len(y))
    first, rest = order[:size], order[size:]
    return X[first], y[first], X[rest], y[rest]


def contenders(regression: bool) -> tuple[Any, Any]:
    if not regression:
        grid = GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID, cv=FOLDS)
        return AutoSVC(), grid
    machine = make_pipeline(StandardScaler(), SVR())
    machine = TransformedTargetRegressor(machine, transformer=StandardScaler())
    return AutoSVR(), GridSearchCV(machine, SVR_GRID, cv=FOLDS)


def measured(model: Any, data: tuple[Any, ...]) -> tuple[float, float]:
    """Error and seconds of the processor."""
    X, y, new, targets = data
    began = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - began
    return 1.0 - model.score(new, targets), seconds


def estimated(grid: GridSearchCV, data: tuple[Any, ...], cells: int) -> tuple[float, float]:
    """The error of the grid of maxmargin's machines, and the seconds of the whole grid from those
    of some of scikit-learn's fits and scores."""
    X, y = data[:2]
    points = list(ParameterGrid(grid.param_grid))
    is_regression = isinstance(grid.estimator, TransformedTargetRegressor)
    parts = list((KFold(FOLDS) if is_regression else StratifiedKFold(FOLDS)).split(X, y))
    random = np.random.default_rng(0)
    began = time.process_time()
    for place in random.choice(len(points), cells, replace=False):
        train, test = parts[random.integers(FOLDS)]
        model = clone(grid.estimator).set_params(**points[place])
        model.fit(X[train], y[train]).score(X[test], y[test])
    seconds = (time.process_time() - began) / cells * len(points) * FOLDS
    if len(y) > MOST_SEARCHED:
        return np.nan, seconds
    machine = {"regressor__svr": maxmargin.SVR()} if is_regression else {"svc": maxmargin.SVC()}
    same = clone(grid).set_params(**{f"estimator__{name}": m for name, m in machine.items()})
    error, _ = measured(same, data)
    return error, seconds


def compared(name: str, study: Study, seed: int) -> dict[str, float | None] | None:
    """Errors and seconds on one split of a set; None where the set is too small."""
    data = samples_of(name, seed, study.samples)
    if len(data[3]) == 0:
        return None
    ours, grid = contenders(study.regression)
    error, seconds = measured(ours, data)
    theirs, grid_seconds = (
        estimated(grid, data, study.cells) if study.cells else measured(grid, data)
    )
    return {
        "errors": error,
        "grid_errors": None if np.isnan(theirs) else theirs,
        "seconds": seconds,
        "grid_seconds": grid_seconds,
    }


def mean_and_error(values: Any) -> tuple[float, float | None]:
    """Mean, and its standard error (None of a single value)."""
    values = np.asarray(values, dtype=np.float64)
    if values.size < 2:
        return float(values.mean()), None
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def over_sets(rows: list[Any]) -> tuple[float, float | None]:
    """The mean over sets of the means over splits, and its standard error."""
    means, errors = zip(*map(mean_and_error, rows))
    if None in errors:
        return float(np.mean(means)), None
    return float(np.mean(means)), float(np.linalg.norm(errors) / len(rows))


def summary(sets: dict[str, Any], aim: float) -> dict[str, Any]:
    """Errors with standard errors, and the time as a part of the grid's, over all sets."""
    ratios = [np.sum(row["seconds"]) / np.sum(row["grid_seconds"]) for row in sets.values()]
    error, spread = over_sets([row["errors"] for row in sets.values()])
    found = {"ratio": float(np.mean(ratios)), "aim": aim, "error": error, "error_spread": spread}
    if any(None in row["grid_errors"] for row in sets.values()):
        return found
    theirs, their_spread = over_sets([row["grid_errors"] for row in sets.values()])
    difference, apart = over_sets(
        [np.subtract(row["errors"], row["grid_errors"]) for row in sets.values()]
    )
    found |= {"grid_error": theirs, "grid_error_spread": their_spread}
    return found | {"difference": difference, "difference_spread": apart}


def line(name: str, row: dict[str, Any]) -> str:
    mine, grid = np.mean(row["seconds"]), np.mean(row["grid_seconds"])
    theirs = "not measured"
    if None not in row["grid_errors"]:
        theirs = with_spread(*mean_and_error(row["grid_errors"]))
    ours = with_spread(*mean_and_error(row["errors"]))
    return f"{name:<12}{ours:>18}{theirs:>18}{mine:9.2f}{grid:9.2f}{mine / grid:8.3f}"


def conclusion(found: dict[str, Any]) -> str:
    met = "met" if found["ratio"] <= found["aim"] else "MISSED"
    words = [f"time {found['ratio']:.3f} of the grid's, aim {found['aim']}: {met}"]
    if "grid_error" in found:
        ours, theirs, apart = (
            with_spread(found[name], found[f"{name}_spread"])
            for name in ("error", "grid_error", "difference")
        )
        words.append(f"error {ours}, grid {theirs}, difference {apart}")
    return "; ".join(words)


def kept_rows(title: str, study: Study) -> dict[str, Any]:
    """The splits in the file of results; none where other settings made them."""
    kept = saved().get(title, {})
    settings = asdict(study) | {"sets": list(study.sets)}
    same = {**kept.get("study", {}), "trials": study.trials} == settings
    return kept["rows"] if same else {}


def keep(title: str, study: Study, name: str, row: dict[str, Any]) -> None:
    """Save the splits of one set; the trials of the study are those that every set has."""
    # Another run may have added sets meanwhile.
    sets = kept_rows(title, study) | {name: row}
    fewest = min(len(row["errors"]) for row in sets.values())
    settings = asdict(study) | {"sets": list(study.sets), "trials": fewest}
    save(title, {"study": settings, "rows": sets, "summary": summary(sets, study.aim)})


def run(title: str, study: Study, names: tuple[str, ...]) -> None:
    """Measure the splits that the file of results does not hold yet."""
    print(f"\n{title}: {study.samples:,} samples, {study.trials} splits; error, CPU seconds, ratio")
    if study.cells:
        print(f"time of the grid estimated from {study.cells} of its fits")
    print(f"{'':<12}{'Auto':>18}{'grid':>18}{'s':>9}{'s':>9}{'ratio':>8}")
    for name in names:
        row: dict[str, Any] = kept_rows(title, study).get(name, {})
        begun = len(row.get("errors", ()))
        if begun < study.trials:
            # Compiles what is to be timed.
            compiled = samples_of(name, 99, min(study.samples, 2500))
            contenders(study.regression)[0].fit(*compiled[:2])
        for seed in range(begun, study.trials):
            split_row = compared(name, study, seed)
            if split_row is None:
                print(f"{name:<12} has no more than {study.samples} samples")
                break
            row = {key: [*row.get(key, ()), value] for key, value in split_row.items()}
            keep(title, study, name, row)
        if row:
            print(line(name, row), flush=True)
    print(conclusion(summary(kept_rows(title, study), study.aim)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", default=",".join(STUDIES), help=", ".join(STUDIES))
    parser.add_argument("--trials", type=int, help="splits, instead of those of the study")
    parser.add_argument("--sets", default="", help="some of the sets of the study")
    parser.add_argument("--page", action="store_true", help="write the tables of the guide, only")
    options = parser.parse_args()
    if options.page:
        write_page(saved())
        return
    for title in options.study.split(","):
        study = STUDIES[title]
        if options.trials:
            study = Study(**asdict(study) | {"trials": options.trials})
        run(title, study, tuple(options.sets.split(",")) if options.sets else study.sets)


if __name__ == "__main__":
    main()
