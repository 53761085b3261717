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

from ...estimators import SVC, SVR, LinearSVC, LinearSVR
from ...tuning import AutoSVC, AutoSVR
from ...tuning.auto.scaling import divided, standard_deviations

# Samples of the larger of the two fits.
LARGER = 4000


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
        """Whether the linear machine is the better choice.

        It is if a kernel machine takes more than 15 minutes (or half of the time there is), or if
        it gains at most 0.2 % and takes more than half a minute.
        """
        gain = self.kernel.score - self.linear.score
        affordable = 900.0 if max_seconds is None else 0.5 * max_seconds
        if self.kernel.seconds > affordable:
            return True
        return gain <= 0.002 and self.kernel.seconds > 30.0

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
    """Estimate both machines from two fits and a test on a part of the samples, at least 6,000.

    A search of at most five seconds finds the kernel.
    """
    n = X.shape[0]
    chosen = np.random.default_rng(seed).permutation(n)[: 3 * LARGER // 2]
    few = divided(X[chosen], standard_deviations(X[chosen]))
    targets = y[chosen]
    train, test = (few[:LARGER], targets[:LARGER]), (few[LARGER:], targets[LARGER:])
    small, fewer = (tuple(part[:size] for part in train) for size in (LARGER // 2, LARGER // 4))
    options: dict[str, Any] = {"scale": False, "max_seconds": 5.0, "random_state": seed}
    if classifies:
        found = AutoSVC(strategy="kta", **options).search(*fewer)
        kernel: Any = SVC(C=found.C, kernel=found.kernel)
        linear: Any = LinearSVC()
    else:
        found = AutoSVR(**options).search(fewer[0], fewer[1].astype(np.float64))
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
