"""Estimated cost and accuracy of a kernel machine and a linear one, from fits on few samples.

Time and support vectors of the kernel machine are extrapolated from two sizes, m and 2m:

    seconds(n) = t₂ (n / 2m)^p,   p = log₂(t₂ / t₁), kept between 1 and 2

Accuracy (or R²) is that on samples held out from the larger size.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimators import SVC, SVR, LinearSVC, LinearSVR
from ..tuning import AutoSVC, AutoSVR
from ..tuning.auto.scaling import divided, standard_deviations

# Samples of the two fits, of the search for a kernel, and of the test.
SMALLER, SEARCHED, TESTED = 2000, 1000, 2000
LARGER = 2 * SMALLER
# Seconds that the search for a kernel may take.
SEARCH_SECONDS = 5.0
# Seconds up to which an exact kernel machine is worth its gain, and the largest negligible gain.
AFFORDABLE, NO_GAIN = 900.0, 0.002
# Fits shorter than this (in seconds) are always acceptable.
SHORT = 30.0


class Estimate(NamedTuple):
    """Score, seconds and support vectors of a machine on all samples."""

    score: float
    seconds: float
    support: int = 0


class Comparison(NamedTuple):
    """Both machines on samples like these."""

    kernel: Estimate
    linear: Estimate
    measure: str

    def prefers_linear(self, max_seconds: float | None = None) -> bool:
        """Whether the linear machine is the better choice."""
        gain = self.kernel.score - self.linear.score
        affordable = AFFORDABLE if max_seconds is None else 0.5 * max_seconds
        if self.kernel.seconds > affordable:
            return True
        return gain <= NO_GAIN and self.kernel.seconds > SHORT

    def in_words(self, linear: bool) -> list[str]:
        """The choice, and the cost of the alternative."""
        kernel = self._of("a Gaussian kernel", self.kernel)
        plain = self._of("a linear machine", self.linear)
        chosen, other = (plain, kernel) if linear else (kernel, plain)
        option = "--kernel rbf" if linear else "--linear"
        return [f"estimated from {LARGER:,} samples: {chosen};", f"{other} ({option})"]

    def _of(self, name: str, estimate: Estimate) -> str:
        score = (
            f"{100 * estimate.score:.1f} %"
            if self.measure == "accuracy"
            else f"R² {estimate.score:.3f}"
        )
        text = f"{name} reaches {score} in about {duration(estimate.seconds)}"
        return text + (f", {estimate.support:,} support vectors" if estimate.support else "")


def duration(seconds: float) -> str:
    """A duration to one or two digits, with its unit."""
    if seconds < 90:
        return f"{max(seconds, 1.0):.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"


def compared(X: Any, y: NDArray[Any], classifies: bool, seed: int = 0) -> Comparison:
    """Estimate both machines for samples of which there are more than `LARGER` + `TESTED`."""
    n = X.shape[0]
    chosen = np.random.default_rng(seed).permutation(n)[: LARGER + TESTED]
    few = divided(X[chosen], standard_deviations(X[chosen]))
    targets = y[chosen]
    train, test = (few[:LARGER], targets[:LARGER]), (few[LARGER:], targets[LARGER:])
    small = (few[:SMALLER], targets[:SMALLER])
    options: dict[str, Any] = {"scale": False, "max_seconds": SEARCH_SECONDS, "random_state": seed}
    if classifies:
        found = AutoSVC(strategy="kta", **options).search(few[:SEARCHED], targets[:SEARCHED])
        kernel: Any = SVC(C=found.C, kernel=found.kernel)
        linear: Any = LinearSVC()
    else:
        targets = targets.astype(np.float64)
        found = AutoSVR(**options).search(few[:SEARCHED], targets[:SEARCHED])
        kernel = SVR(C=found.C, kernel=found.kernel, epsilon=found.epsilon)
        linear = LinearSVR(C="auto")
    kernel.fit(*small)  # compiles
    first, second = timed(kernel, *small), timed(kernel, *train)
    power = float(np.clip(np.log2(max(second, 1e-3) / max(first, 1e-3)), 1.0, 2.0))
    support = int(kernel.support_.size * n / LARGER)
    score = float(kernel.score(*test))
    exact = Estimate(score, second * (n / LARGER) ** power, support)
    seconds = timed(linear, *train)
    plain = Estimate(float(linear.score(*test)), seconds * n / LARGER)
    return Comparison(exact, plain, "accuracy" if classifies else "R²")


def timed(model: Any, X: Any, y: Any) -> float:
    """Seconds of a fit."""
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began
