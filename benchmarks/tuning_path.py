"""Tune and train at n = 10,000, d = 1,000: 10 folds × 50 values of C with a Gaussian kernel.

python -m benchmarks.tuning_path --peers
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC as Peer

from maxmargin import SVC
from maxmargin.kernels import Gaussian
from maxmargin.tuning import Split, cross_validate_C, median_gamma

TARGET = 120.0
# Of a GPU system and of scikit-learn, as published.
PUBLISHED = 37.7, 14_323.0


def mixture(n: int, d: int) -> tuple[Any, Any]:
    """Twenty Gaussian clouds, ten for each class, that overlap."""
    random = np.random.default_rng(0)
    centres, cloud = random.standard_normal((20, d)), random.integers(20, size=n)
    X = centres[cloud] + 4.0 * random.standard_normal((n, d))
    return X.astype(np.float32), np.where(cloud < 10, 1, -1)


def path(n: int, d: int, peers: bool) -> None:
    X, y = mixture(n, d)
    C = np.logspace(-3, 3, 50)
    warm = mixture(200, d)
    cross_validate_C(Gaussian(0.001), *warm, C=[1.0])
    SVC(kernel=Gaussian(0.001)).fit(*warm)
    began = time.perf_counter()
    kernel = Gaussian(median_gamma(X, y))
    curve = cross_validate_C(kernel, X, y, C, splits=10, n_jobs=2)
    tuning = time.perf_counter() - began
    model = SVC(C=curve.best_C, kernel=kernel).fit(X, y)
    seconds = time.perf_counter() - began
    print(f"n = {n}, d = {d}, 10 folds × 50 C: {tuning:.1f} s, with the last fit {seconds:.1f} s")
    print(f"best C {curve.best_C:.3g}, error {curve.mean.min():.4f}, {model.certificate_}")
    verdict = "met" if seconds <= TARGET else "MISSED"
    print(
        f"target {TARGET:.0f} s: {verdict}; published: GPU {PUBLISHED[0]} s, "
        f"scikit-learn {PUBLISHED[1]:.0f} s"
    )
    if peers:
        against_sklearn(X, y, kernel.gamma)


def against_sklearn(X: Any, y: Any, gamma: float) -> None:
    """Two folds and three values of C, both libraries."""
    C = np.array([0.1, 1.0, 10.0])
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))[:2]
    began = time.perf_counter()
    theirs = [
        cross_val_score(Peer(C=c, gamma=gamma, cache_size=2000), X, y, cv=folds).mean() for c in C
    ]
    peer = time.perf_counter() - began
    began = time.perf_counter()
    ours = cross_validate_C(Gaussian(gamma), X, y, C, splits=[Split(*fold) for fold in folds])
    own = time.perf_counter() - began
    print(f"2 folds × 3 C: scikit-learn {peer:.1f} s, ours {own:.1f} s, ratio {peer / own:.1f}")
    print(f"accuracies {np.round(theirs, 4)} and {np.round(1 - ours.mean, 4)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", action="store_true", help="scikit-learn on a reduced grid")
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=1_000)
    options = parser.parse_args()
    path(options.samples, options.features, options.peers)


if __name__ == "__main__":
    main()
