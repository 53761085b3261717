"""AutoSVC and AutoSVR beside a grid search with scikit-learn: errors, and CPU time as a ratio.

    python -m benchmarks.tuning_grid --samples 200 --trials 20
    python -m benchmarks.tuning_grid --samples 1000 --trials 5 --sets banana,image,waveform
    python -m benchmarks.tuning_grid --samples 200 --trials 5 --sets usps
    python -m benchmarks.tuning_grid --regression --samples 200 --trials 5

Classification: the ten sets of Table 12.2 and the four problems of Table 12.1, a grid of 7 × 7
values of C and γ. Regression: a grid of 7 × 7 × 3 values of C, γ and ε, errors are 1 − R². Five
folds; inputs, and targets of the regression, are standardised for the grid. Both search on the same
samples, one after the other, so that load on the machine meets both.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from maxmargin import AutoSVC

from .tuning_trials import ARTIFICIAL, RAETSCH, artificial, real

GRID = {"svc__C": np.logspace(-2, 4, 7), "svc__gamma": np.logspace(-4, 2, 7)}
SVR_GRID = {
    "regressor__svr__C": np.logspace(-2, 4, 7),
    "regressor__svr__gamma": np.logspace(-4, 2, 7),
    "regressor__svr__epsilon": [0.01, 0.1, 0.3],
}
REGRESSION = ("cadata", "abalone", "cpusmall")
# Test samples, at most.
MOST_TESTED = 10_000
# Samples, and the part of the grid's time that is aimed at.
TARGETS = {200: 1.0, 1000: 0.3, 5000: 0.1, 20_000: 0.1}


def samples_of(name: str, seed: int, size: int) -> tuple[Any, ...]:
    """Inputs and targets to train and to test with."""
    if name in ARTIFICIAL:
        return artificial(name, seed, size, MOST_TESTED)
    X, y, new, targets = real(name, seed, size)
    return X, y, new[:MOST_TESTED], targets[:MOST_TESTED]


def contenders(regression: bool) -> tuple[Any, Any]:
    if not regression:
        grid = GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID, cv=5)
        return AutoSVC(), grid
    from maxmargin import AutoSVR

    machine = make_pipeline(StandardScaler(), SVR())
    machine = TransformedTargetRegressor(machine, transformer=StandardScaler())
    return AutoSVR(), GridSearchCV(machine, SVR_GRID, cv=5)


def measured(model: Any, data: tuple[Any, ...]) -> tuple[float, float]:
    """Error and seconds of the processor."""
    X, y, new, targets = data
    began = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - began
    return 1.0 - model.score(new, targets), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--sets", default="")
    parser.add_argument("--regression", action="store_true")
    options = parser.parse_args()
    every = REGRESSION if options.regression else (*RAETSCH, *ARTIFICIAL)
    names = options.sets.split(",") if options.sets else every
    for name in names:
        # Compiles what is to be timed.
        contenders(options.regression)[0].fit(*samples_of(name, 0, options.samples)[:2])
    target = TARGETS.get(options.samples)
    print(f"{options.samples} samples, {options.trials} splits; error, CPU seconds, ratio")
    print(f"{'':<12}{'Auto':>9}{'grid':>9}{'s':>9}{'s':>9}{'ratio':>8}")
    means = []
    for name in names:
        rows = []
        for seed in range(options.trials):
            data = samples_of(name, seed, options.samples)
            if len(data[3]) == 0:
                break
            rows.append([measured(model, data) for model in contenders(options.regression)])
        if not rows:
            print(f"{name:<12} has no more than {options.samples} samples")
            continue
        (ours, mine), (theirs, grid) = np.mean(rows, axis=0)
        means.append((ours, theirs, mine / grid))
        print(
            f"{name:<12}{ours:9.4f}{theirs:9.4f}{mine:9.2f}{grid:9.2f}{mine / grid:8.2f}",
            flush=True,
        )
    ours, theirs, ratio = np.mean(means, axis=0)
    verdict = "" if target is None else f", aim {target}: {'met' if ratio <= target else 'MISSED'}"
    print(f"{'mean':<12}{ours:9.4f}{theirs:9.4f}{'':18}{ratio:8.2f}{verdict}")


if __name__ == "__main__":
    main()
