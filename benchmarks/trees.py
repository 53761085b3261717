"""Decision trees beside scikit-learn's: `python -m benchmarks.trees`.

Whole trees, grown in turn by both libraries in one process with one thread each. The table has the
shortest of several runs in processor time, which other processes disturb little; ratios above 1
mean that ours is faster. Inputs are float32, which both take as they are. Trees differ only in
ties: scikit-learn breaks them at random.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.tree
from scipy import sparse

import maxmargin


class Problem(NamedTuple):
    """A data set and what is grown on it."""

    name: str
    X: Any
    y: np.ndarray
    options: dict[str, Any]
    classify: bool = True


class Result(NamedTuple):
    """Seconds of processor time to fit and to predict, and leaves."""

    fit: float
    predict: float
    leaves: int


def folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("MAXMARGIN_DATA", beside))


def problems(place: Path) -> Iterator[Problem]:
    with np.load(place / "covtype_15120.npz") as data:
        X, y = data["X"].astype(np.float32), data["y"]
    yield Problem("covertype", X, y, {})
    yield Problem("covertype, entropy", X, y, {"criterion": "entropy"})
    yield Problem("covertype, 100 leaves", X, y, {"max_leaf_nodes": 100})
    with np.load(place / "mnist.npz") as data:
        X, y = data["X_train"][:10_000].astype(np.float32), data["y_train"][:10_000]
    yield Problem("MNIST", X, y, {})
    with np.load(place / "a9a.npz") as data:
        X, y = data["X_train"].astype(np.float32), data["y_train"]
    yield Problem("a9a", X, y, {})
    yield Problem("a9a, CSC", sparse.csc_matrix(X), y, {})
    with np.load(place / "cadata.npz") as data:
        X, y = data["X"].astype(np.float32), data["y"]
    yield Problem("cadata", X, y, {}, False)
    yield Problem("cadata, leaves of 20", X, y, {"min_samples_leaf": 20}, False)
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 20)).astype(np.float32)
    yield Problem("normal, no ties", X, X[:, 0] + random.normal(size=20_000), {}, False)


def contenders(problem: Problem) -> dict[str, Callable[[], Any]]:
    kind = "DecisionTreeClassifier" if problem.classify else "DecisionTreeRegressor"
    return {
        "maxmargin": lambda: getattr(maxmargin, kind)(**problem.options),
        "scikit-learn": lambda: getattr(sklearn.tree, kind)(random_state=0, **problem.options),
    }


def measured(make: Callable[[], Any], problem: Problem) -> Result:
    began = time.process_time()
    model = make().fit(problem.X, problem.y)
    fitted = time.process_time()
    model.predict(problem.X)
    return Result(fitted - began, time.process_time() - fitted, model.get_n_leaves())


def compared(problem: Problem, repeats: int) -> dict[str, Result]:
    """The shortest times of each contender, in turn."""
    makers = contenders(problem)
    small = problem._replace(X=problem.X[:50], y=problem.y[:50])
    measured(makers["maxmargin"], small)  # compiles
    runs: dict[str, list[Result]] = {name: [] for name in makers}
    for _ in range(repeats):
        for name, make in makers.items():
            runs[name].append(measured(make, problem))
    return {
        name: Result(min(r.fit for r in of), min(r.predict for r in of), of[0].leaves)
        for name, of in runs.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    from threadpoolctl import threadpool_limits

    print("| problem | samples × features | leaves | maxmargin | scikit-learn | ratio | predict |")
    print("|---|---|---|---|---|---|---|")
    with threadpool_limits(1):
        for problem in problems(folder()):
            found = compared(problem, repeats)
            ours, theirs = found["maxmargin"], found["scikit-learn"]
            n, d = problem.X.shape
            print(
                f"| {problem.name} | {n:,} × {d} | {ours.leaves:,} | {ours.fit:.3f} s | "
                f"{theirs.fit:.3f} s | {theirs.fit / ours.fit:.1f} | "
                f"{theirs.predict / max(ours.predict, 1e-9):.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
