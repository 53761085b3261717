"""Estimated cost and accuracy of a kernel machine and a linear one, from fits on few samples.

The kernel machine is fitted to twice as many samples each time, until a fit takes a second. Time
and support vectors are extrapolated from the last two sizes, m and 2m:

    seconds(n) = t₂ (n / 2m)^p,   p = log₂(t₂ / t₁), kept between 1 and 2
    support(n) = s₂ (n / 2m)^q,   q = log₂(s₂ / s₁), kept between 0 and 1

Accuracy (or R²) is that on held-out samples.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...estimators import SVC, SVR, LinearSVC, LinearSVR
from ...tuning import AutoSVC, AutoSVR
from ...tuning.auto.scaling import divided, standard_deviations


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
    samples: int

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
        return [f"estimated from {self.samples:,} samples: {chosen};", f"{other} ({option})"]

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


def compared(
    X: Any, y: NDArray[Any], classifies: bool, seed: int = 0, held: int = 2000, most: int = 32_000
) -> Comparison:
    """Estimate both machines from fits on a part of the samples, at least 6,000.

    A search of at most ten seconds on 1,000 samples finds the kernel.
    """
    n = X.shape[0]
    chosen = np.random.default_rng(seed).permutation(n)[: held + most]
    some = divided(X[chosen], standard_deviations(X[chosen]))
    targets = y[chosen]
    test, train = (some[:held], targets[:held]), (some[held:], targets[held:])
    few = train[0][:1000], train[1][:1000]
    options: dict[str, Any] = {"scale": False, "max_seconds": 10.0, "random_state": seed}
    if classifies:
        found = AutoSVC(strategy="kta", **options).search(*few)
        kernel: Any = SVC(C=found.C, kernel=found.kernel)
        linear: Any = LinearSVC()
    else:
        found = AutoSVR(**options).search(few[0], few[1].astype(np.float64))
        kernel = SVR(C=found.C, kernel=found.kernel, epsilon=found.epsilon)
        linear = LinearSVR(C="auto")
    fits = growing_fits(kernel, *train)
    last = fits[-1]
    seconds = extrapolated([max(fit.seconds, 1e-3) for fit in fits], n / last.samples, 1.0, 2.0)
    support = extrapolated([max(fit.support, 1) for fit in fits], n / last.samples, 0.0, 1.0)
    exact = Estimate(float(kernel.score(*test)), seconds, int(support))
    part = train[0][: last.samples], train[1][: last.samples]
    seconds = timed(linear, *part) * n / last.samples
    plain = Estimate(float(linear.score(*test)), seconds)
    return Comparison(exact, plain, "accuracy" if classifies else "R²", last.samples)


class Fit(NamedTuple):
    """A fit on a part of the samples."""

    samples: int
    seconds: float
    support: int


def growing_fits(model: Any, X: Any, y: Any, size: int = 2000, enough: float = 1.0) -> list[Fit]:
    """Fits on twice as many samples each time, until one takes `enough` seconds; at least two."""
    model.fit(X[:size], y[:size])  # compiles
    fits: list[Fit] = []
    while size <= len(y) and (len(fits) < 2 or fits[-1].seconds < enough):
        seconds = timed(model, X[:size], y[:size])
        if fits and seconds > 4.0 * fits[-1].seconds:
            # More than a square: the first fit of this size may have compiled.
            seconds = min(seconds, timed(model, X[:size], y[:size]))
        fits.append(Fit(size, seconds, int(model.support_.size)))
        size *= 2
    return fits


def extrapolated(values: list[float], ratio: float, low: float, high: float) -> float:
    """The value at `ratio` times the last size, by a power between two bounds; each size is twice
    the one before."""
    power = float(np.clip(np.log2(values[-1] / values[-2]), low, high))
    return float(values[-1] * ratio**power)


def timed(model: Any, X: Any, y: Any) -> float:
    """Seconds of a fit."""
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began
