"""The support set of an online machine, and quantities derived from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dual import DualProblem
from .loop import EVICTED, INSERTED, REMOVED, SIZE, STEPS, Support


class SupportSet:
    """Members with their coefficients, gradients and Gram matrix."""

    support: Support
    counters: np.ndarray
    points: Any

    @property
    def size(self) -> int:
        """Members of the support set."""
        return int(self.counters[SIZE])

    @property
    def steps(self) -> int:
        return int(self.counters[STEPS])

    @property
    def alpha(self) -> np.ndarray:
        return self.support.alpha[: self.size]

    @property
    def gradient(self) -> np.ndarray:
        """G = y − Kα on the support set."""
        return self.support.gradient[: self.size]

    @property
    def labels(self) -> np.ndarray:
        return np.where(self.support.upper[: self.size] > 0, 1.0, -1.0)

    @property
    def bound(self) -> np.ndarray:
        return (self.support.upper - self.support.lower)[: self.size]

    @property
    def number(self) -> np.ndarray:
        """Which examples of the stream are in the support set."""
        return self.support.number[: self.size]

    @property
    def inputs(self) -> Any:
        return self.points.inputs

    @property
    def dual(self) -> float:
        """y·α − ½ αᵀKα"""
        return float(0.5 * (self.alpha @ (self.labels + self.gradient)))

    @property
    def violation(self) -> float:
        """ψ(α) on the support set; 0 while there is only one class."""
        top, bottom = self._extremes()
        return max(0.0, top - bottom)

    @property
    def gap(self) -> float:
        """Duality gap of the problem of the support set."""
        short = np.maximum(0.0, self.labels * (self.gradient - self.bias))
        return float(self.bound @ short - self.alpha @ self.gradient)

    @property
    def bias(self) -> float:
        """The b of least Σ bound·max(0, 1 − y(f + b)) over the support set; its middle if it is
        an interval, its end if that is infinite.

        Before the optimum it is much better than the middle between rising and falling.
        """
        order = np.argsort(self.gradient)
        gradient, bound, positive = self.gradient[order], self.bound[order], self.labels[order] > 0
        if gradient.size == 0:
            return 0.0
        if positive.all() or not positive.any():
            return float(gradient[-1] if positive.all() else gradient[0])
        # The slope of the loss right of each gradient, in ascending order.
        slope = np.cumsum(bound) - bound[positive].sum()
        rounding = 1e-12 * bound.sum()
        first = int(np.searchsorted(slope, -rounding))
        last = int(np.searchsorted(slope, rounding, side="right"))
        return float(0.5 * (gradient[first] + gradient[min(last, gradient.size - 1)]))

    def _extremes(self) -> tuple[float, float]:
        n, s = self.size, self.support
        top = (s.gradient[:n] + s.rise[:n]).max(initial=-np.inf)
        return float(top), float((s.gradient[:n] + s.fall[:n]).min(initial=np.inf))

    def counts(self) -> dict[str, int]:
        """Steps taken, members inserted, removed and evicted so far."""
        names = {"steps": STEPS, "inserted": INSERTED, "removed": REMOVED, "evicted": EVICTED}
        return {name: int(self.counters[slot]) for name, slot in names.items()}

    def problem(self) -> DualProblem:
        """The dual problem of the support set."""
        n, s = self.size, self.support
        return DualProblem(
            linear=self.labels,
            lower=s.lower[:n].copy(),
            upper=s.upper[:n].copy(),
            ridge=np.zeros(n),
            group=np.zeros(n, dtype=np.int64),
            totals=np.zeros(1),
            samples=n,
        )


def empty_support(places: int, dtype: np.dtype[Any]) -> Support:
    return Support(
        alpha=np.zeros(places),
        gradient=np.zeros(places),
        lower=np.zeros(places),
        upper=np.zeros(places),
        ridge=np.zeros(places),
        diagonal=np.zeros(places),
        group=np.zeros(places, dtype=np.int64),
        rise=np.zeros(places),
        fall=np.zeros(places),
        scores=np.zeros(places, dtype=np.float32),
        number=np.zeros(places, dtype=np.int64),
        column=np.zeros(places, dtype=np.int64),
        # Padded: with a power of two between rows, entries of a column share one cache set.
        rows=np.empty((places, places + 16), dtype=dtype),
    )
