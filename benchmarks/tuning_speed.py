"""What one evaluation costs, and tune-and-train at n = 10,000, d = 1,000.

python -m benchmarks.tuning_speed            # objectives
python -m benchmarks.tuning_speed --path     # 10 folds × 50 values of C, and scikit-learn
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.data import chess_board, sparse_coordinate
from maxmargin.dual import hinge
from maxmargin.dual.batch import Parts
from maxmargin.kernels import Gaussian
from maxmargin.solvers import solve
from maxmargin.solvers.drivers.batch import solve_batch
from maxmargin.tuning import KernelTargetAlignment, LogLikelihood, Point, RadiusMargin
from maxmargin.tuning.machines.optimum import hinge_fit

# Milliseconds aimed at; those of the thesis author's library on the reference machine, where known.
TARGETS = {
    "likelihood, 200 samples, radial": (1.5, None),
    "likelihood, 200 samples, 20 parameters": (2.5, None),
    "alignment, 1,000 samples, radial": (10.0, 11.0),
    "alignment, 1,000 samples, 20 parameters": (20.0, 40.0),
    "radius-margin, 1,000 samples, radial": (40.0, 44.0),
    "alignment, 10,000 samples, 20 parameters": (1500.0, None),
}


def milliseconds(work: Callable[[], Any], repeats: int) -> float:
    work()
    spans = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        spans.append(time.perf_counter() - began)
    return 1e3 * float(np.median(spans))


def gaussian_blob(n: int, d: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.3 * random.standard_normal(n) > 0, 1, -1)


def objectives() -> None:
    board, sparse = chess_board(200, random_state=0), sparse_coordinate(200, random_state=0)
    thousand, many = gaussian_blob(1000, 20), gaussian_blob(10_000, 20)
    diagonal = Gaussian((0.05,) * 20)
    likelihood = LogLikelihood(*board, random_state=0), LogLikelihood(*sparse, random_state=0)
    alignment, large = KernelTargetAlignment(*thousand), KernelTargetAlignment(*many)
    works = (
        (lambda: likelihood[0].evaluate(Point(Gaussian(2.0), 10.0)), 300),
        (lambda: likelihood[1].evaluate(Point(diagonal, 1.0)), 300),
        (lambda: alignment.evaluate(Point(Gaussian(0.05))), 20),
        (lambda: alignment.evaluate(Point(diagonal)), 20),
        (lambda: RadiusMargin(*thousand).evaluate(Point(Gaussian(0.05), 10.0)), 10),
        (lambda: large.evaluate(Point(diagonal)), 3),
    )
    found = {name: milliseconds(*work) for name, work in zip(TARGETS, works)}
    print(f"{'value and gradient':<44}{'ms':>10}{'target':>10}{'Shark':>8}")
    for name, (target, shark) in TARGETS.items():
        verdict = "met" if found[name] <= target else "MISSED"
        print(f"{name:<44}{found[name]:10.2f}{target:10.1f}{shark or '':>8}   {verdict}")


def small_fits() -> None:
    """A fit of 160 samples, as the likelihood makes five of per value, near the last one: by the
    machine of tuning, from its α; by a batch of one, which begins at 0; by `solve`, from its α."""
    X, y = chess_board(160, random_state=0)
    y, K, near = y.astype(np.float64), Gaussian(2.0)(X, X), Gaussian(2.02)(X, X)
    alpha, problem = hinge_fit(K, y, 10.0).alpha, hinge(y, 10.0).problem
    parts = Parts.of([problem], [np.arange(y.size)], near, np.empty((0, 0)))
    ways: dict[str, tuple[Callable[[], Any], Callable[[Any], float]]] = {
        "tuning.machine": (lambda: hinge_fit(near, y, 10.0, alpha), lambda fit: fit.violation),
        "batch of one": (lambda: solve_batch(parts, 1e-3)[0][1], lambda told: told.violation),
        "solve": (
            lambda: solve(problem, near, tol=1e-11, alpha=alpha),
            lambda solution: solution.violation,
        ),
    }
    print(f"\n{'fit of 160 samples':<44}{'ms':>10}   violation")
    for name, (work, violation) in ways.items():
        print(f"{name:<44}{milliseconds(work, 300):10.3f}   {violation(work()):.0e}")


if __name__ == "__main__":
    objectives()
    small_fits()
