"""AutoSVC against grid search with scikit-learn, on the ten sets of Table 12.2.

    python -m benchmarks.tuning_raetsch --trials 20 --processes 1

200 training samples, the rest is for the test. The grid has 7 × 7 points and 5 folds; its inputs
are standardised, as those of AutoSVC are.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maxmargin import AutoSVC

from .tuning_trials import RAETSCH, real, run_trials

GRID = {"svc__C": np.logspace(-2, 4, 7), "svc__gamma": np.logspace(-4, 2, 7)}
MAKERS: dict[str, Any] = {
    "AutoSVC": lambda: AutoSVC(),
    "posterior": lambda: AutoSVC(strategy="posterior"),
    "kta": lambda: AutoSVC(strategy="kta"),
    "grid search": lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID, cv=5),
}
LONGEST = 20.0


def trial(job: tuple[str, int]) -> dict[str, Any]:
    """Errors and seconds of all contenders, one after the other on the same samples."""
    name, seed = job
    X, y, new, labels = real(name, seed)
    errors, seconds = {}, {}
    for contender, make in MAKERS.items():
        model = make()
        began = time.perf_counter()
        model.fit(X, y)
        seconds[contender] = time.perf_counter() - began
        errors[contender] = float(np.mean(model.predict(new) != labels))
    return {"errors": errors, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    AutoSVC(max_seconds=1.0).fit(*real(RAETSCH[0], 0)[:2])  # compiles what is to be timed
    jobs = [(name, seed) for name in RAETSCH for seed in range(options.trials)]
    records = run_trials(trial, jobs, "tuning_raetsch", options.processes)
    print(f"{'':<12}" + "".join(f"{c:>24}" for c in MAKERS) + "   AutoSVC   kta")
    better = faster = 0
    slowest = 0.0
    for name in RAETSCH:
        own = [record for record in records if record["job"][0] == name]
        error = {c: np.array([r["errors"][c] for r in own]) for c in MAKERS}
        second = {c: np.median([r["seconds"][c] for r in own]) for c in MAKERS}
        slowest = max(slowest, *(r["seconds"]["AutoSVC"] for r in own))
        no_worse = error["AutoSVC"].mean() <= error["grid search"].mean()
        quicker = second["kta"] < second["grid search"]
        better, faster = better + no_worse, faster + quicker
        cells = "".join(
            f"{error[c].mean():10.4f} ±{error[c].std(ddof=1):.3f} {second[c]:5.2f}s" for c in MAKERS
        )
        print(
            f"{name:<12}{cells}   {'no worse' if no_worse else 'WORSE':<9} "
            f"{'faster' if quicker else 'SLOWER'}"
        )
    print(f"AutoSVC no worse on {better} of 10: {'met' if better >= 8 else 'MISSED'} (8)")
    print(f"kta faster on {faster} of 10: {'met' if faster == 10 else 'MISSED'} (10)")
    print(
        f"slowest fit of AutoSVC {slowest:.1f} s: {'met' if slowest <= LONGEST else 'MISSED'} (20)"
    )


if __name__ == "__main__":
    main()
