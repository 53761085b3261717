"""Logistic and ridge regression beside scikit-learn's: `python -m benchmarks.smooth`.

Both minimise the same function with a free intercept, in turn, at their defaults:

    logistic   ½‖w‖² + C Σ log(1 + exp(−y(w·x + b)))
    ridge      α‖w‖² + Σ (y − w·x − b)²

`off by` is how far the value of a model, computed here, lies above the lowest one found, as a part
of it; `gap` is what our certificate states. Text is in CSR form, everything else dense.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import sklearn.linear_model

import maxmargin

from .linear import LONG, timed
from .linear_data import load
from .machine import busy, description
from .report import Table, rendered

SETS = ("long", "covtype", "normal", "points", "wide", "breast", "text-2000", "news20")
STRENGTH = {"logistic": 1.0, "ridge": 1.0}


class Outcome(NamedTuple):
    """One machine on one set: for each contender the median seconds and the value it reached, and
    our gap."""

    data: str
    machine: str
    size: str
    seconds: dict[str, float]
    values: dict[str, float]
    gap: float

    @property
    def ratio(self) -> float:
        """The seconds of the fastest peer over ours."""
        return min(s for name, s in self.seconds.items() if name != "ours") / self.seconds["ours"]


def contenders(machine: str) -> dict[str, Any]:
    """Estimators by name; of scikit-learn's solvers the default, and the other that is exact."""
    linear, strength = sklearn.linear_model, STRENGTH[machine]
    if machine == "ridge":
        return {
            "ours": maxmargin.RidgeRegression(alpha=strength),
            "scikit-learn": linear.Ridge(alpha=strength),
        }
    return {
        "ours": maxmargin.LogisticRegression(C=strength),
        "scikit-learn": linear.LogisticRegression(C=strength),
        "newton-cholesky": linear.LogisticRegression(C=strength, solver="newton-cholesky"),
    }


def data_of(name: str, machine: str) -> tuple[Any, np.ndarray]:
    """Inputs and labels ±1; of `points`, 245,000 samples of 3 features, the side of a plane."""
    if name != "points":
        X, y = load(name)
    else:
        random = np.random.default_rng(0)
        X = random.standard_normal((245_000, 3))
        y = np.where(X.sum(axis=1) + random.standard_normal(len(X)) > 0, 1, -1)
    return X, y.astype(np.float64) if machine == "ridge" else y


def value(machine: str, X: Any, y: np.ndarray, model: Any) -> float:
    """What a model was to make least."""
    w = np.ravel(model.coef_).astype(np.float64)
    f = np.ravel(X @ w) + float(np.ravel(model.intercept_)[0])
    if machine == "ridge":
        return STRENGTH[machine] * float(w @ w) + float(((y - f) ** 2).sum())
    return 0.5 * float(w @ w) + STRENGTH[machine] * float(np.logaddexp(0.0, -y * f).sum())


def compare(name: str, machine: str, repeats: int) -> Outcome:
    """All contenders in turn, round by round."""
    X, y = data_of(name, machine)
    # A text has too many features for a matrix of theirs.
    models = {
        other: model
        for other, model in contenders(machine).items()
        if other != "newton-cholesky" or X.shape[1] <= 5000
    }
    seconds: dict[str, list[float]] = {other: [] for other in models}
    for round_ in range(repeats + 1):
        for other, model in models.items():
            if round_ <= 1 or max(seconds[other]) < LONG:
                took, _ = timed(_fit(model, X, y))
                if round_:
                    seconds[other].append(took)
    values = {other: value(machine, X, y, model) for other, model in models.items()}
    gap = models["ours"].certificate_.relative_gap
    size = f"{X.shape[0]:,} × {X.shape[1]:,}"
    medians = {other: median(found) for other, found in seconds.items()}
    return Outcome(name, machine, size, medians, values, gap)


def _fit(model: Any, X: Any, y: np.ndarray) -> Callable[[], Any]:
    return lambda: model.fit(X, y)


def table(outcomes: Sequence[Outcome]) -> Table:
    rows = []
    for found in outcomes:
        best = min(found.values.values())
        cells = [found.data, found.machine, found.size]
        for name in ("ours", "scikit-learn", "newton-cholesky"):
            if name in found.seconds:
                off = (found.values[name] - best) / best
                cells += [f"{found.seconds[name]:.4f}", f"{off:.1e}"]
            else:
                cells += ["–", "–"]
        rows.append([*cells, f"{found.gap:.1e}", f"{found.ratio:.2f}"])
    header = (
        *("data", "machine", "size", "ours s", "off by", "scikit-learn s", "off by"),
        *("newton-cholesky s", "off by", "our gap", "÷ ours"),
    )
    return Table("Seconds, and relative distance from the lowest value", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", metavar="a,b,c", default=",".join(SETS), help=", ".join(SETS))
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the median counts")
    given = parser.parse_args()
    machine = description()
    print(f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}")
    if warning := busy(machine["load"]):
        print(warning)
    warnings.simplefilter("ignore")
    outcomes = [
        compare(name, kind, given.repeats) for kind in STRENGTH for name in given.data.split(",")
    ]
    print(rendered(table(outcomes)))


if __name__ == "__main__":
    main()
