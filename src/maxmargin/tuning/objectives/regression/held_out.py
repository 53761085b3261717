"""The loss of a regression on held-out samples, with its exact gradient in kernel, C and ε.

With the outputs z of the machine on the held-out samples V, and N held-out samples in all folds,

    squared:   Φ = Σ_V (z − y)² / N          absolute:   Φ = Σ_V |z − y| / N

On the free vectors u, y_u − f(x_u) = s_u ε with s = ±1: the right side of the system of `adjoint`
is y_u − s_u ε instead of y_u, so that ∂Φ/∂ε = −Σ_u λ_u s_u; the rest is as for the hinge loss.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....kernels.base import Inputs, count, take
from ...base import Evaluation, Float, Objective, TubePoint
from ...machines.tube import TubeFit, tube_fit
from ..adjoint import adjoint, bounded_part, saddle_of
from ..samples import as_inputs, checked_start
from ..splits import Split, Splits

LOSSES = ("squared", "absolute")


def checked_regression(samples: int, y: ArrayLike, loss: str) -> Float:
    """Targets in float64, after checking that all are finite and that the loss is known."""
    targets: Float = np.asarray(y, dtype=np.float64)
    if targets.shape != (samples,):
        raise ValueError(f"y must have a value for each of {samples} inputs, got {targets.shape}")
    if not np.isfinite(targets).all():
        raise ValueError("y contains NaN or infinity")
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {LOSSES}, got {loss!r}")
    return targets


def judged(away: Float, loss: str) -> tuple[float, Float]:
    """Summed loss of differences, and its derivative in them."""
    if loss == "absolute":
        return float(np.abs(away).sum()), np.sign(away)
    return float(away @ away), 2.0 * away


class HeldOutLoss(Objective[TubePoint]):
    """Mean loss of an ε-insensitive machine on the held-out samples of fixed splits.

    Parameters
    ----------
    X : inputs
    y : float array
    splits : Splits
    loss : {"squared", "absolute"}

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import FixedSplits, HeldOutLoss, TubePoint, plain_folds
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> objective = HeldOutLoss(X, np.sin(X[:, 0]), FixedSplits(plain_folds(40, 5)))
    >>> value, gradient = objective.evaluate(TubePoint(Gaussian(0.5), C=10.0, epsilon=0.01))
    >>> bool(value < 1e-3), gradient.shape
    (True, (3,))
    """

    def __init__(self, X: Inputs, y: ArrayLike, splits: Splits, loss: str = "squared") -> None:
        self.X: Any = as_inputs(X)
        self.n = count(X)
        self.y = checked_regression(self.n, y, loss)
        self.splits, self.loss, self.noisy = splits, loss, splits.random
        self._state = threading.local()

    def value(self, point: TubePoint) -> float:
        """The value alone."""
        return self._sum(point, with_gradient=False).value

    def evaluate(self, point: TubePoint) -> Evaluation:
        return self._sum(point, with_gradient=True)

    def _sum(self, point: TubePoint, with_gradient: bool) -> Evaluation:
        splits = self.splits.next()
        K = point.kernel(self.X)
        unit = float(sum(split.test.size for split in splits))
        total, slope = 0.0, np.zeros(len(point.names))
        if not np.isfinite(K).all():
            return Evaluation(np.nan, slope * np.nan)
        weights, along = np.zeros_like(K), np.zeros(2)
        for number, split in enumerate(splits):
            found = self._fit(K[split.train[:, None], split.train], point, number, split)
            if not found.fit.bounded:
                return Evaluation(np.nan, slope * np.nan)
            block = K[split.test[:, None], split.train]
            value, push = self._judged(block @ found.fit.alpha + found.fit.bias, split)
            total += value
            if with_gradient:
                along += self._differentiated(found, K, split, push, weights)
        if not with_gradient:
            return Evaluation(total / unit)
        rows, columns = (np.flatnonzero(weights.any(axis=axis)) for axis in (1, 0))
        slope = point.kernel.gradient(
            take(self.X, rows), take(self.X, columns), weights[rows[:, None], columns]
        )
        gradient = point.gradient(slope, float(along[0]), point.epsilon * float(along[1]))
        return Evaluation(total / unit, gradient / unit)

    def _judged(self, outputs: Float, split: Split) -> tuple[float, Float]:
        """Summed loss of one held-out part, and its derivative in the outputs."""
        return judged(outputs - self.y[split.test], self.loss)

    def _fit(self, K: Float, point: TubePoint, number: int, split: Split) -> TubeFit:
        starts = self._state.__dict__.setdefault("starts", {})
        start = starts.setdefault(0 if self.splits.random else number, np.zeros(self.n))
        y = self.y[split.train]
        found = tube_fit(K, y, point.C, point.epsilon, start[split.train])
        start[split.train] = found.fit.alpha
        return found

    def _differentiated(
        self, found: TubeFit, K: Float, split: Split, push: Float, weights: Float
    ) -> Float:
        """Add the weights of ∂K for one split; return the derivatives in log C and ε."""
        fit, train = found.fit, split.train
        own = K[train[:, None], train]
        pulled = push @ K[split.test[:, None], train]
        solved = adjoint(fit, saddle_of(fit, own), pulled[fit.free], float(push.sum()))
        coefficients = np.zeros(self.n)
        coefficients[split.test] = push
        np.subtract.at(coefficients, train[solved.rows], solved.weights)
        rows, columns = np.flatnonzero(coefficients), np.flatnonzero(fit.alpha)
        weights[rows[:, None], train[columns]] += np.outer(coefficients[rows], fit.alpha[columns])
        bounded = bounded_part(fit)
        moving = np.flatnonzero(bounded)
        in_C = coefficients @ K[:, train[moving]] @ bounded[moving] - solved.last * bounded.sum()
        in_epsilon = -np.sum(np.asarray(solved.weights) * found.sides[solved.rows])
        return np.array([float(in_C), float(in_epsilon)])

    def state(self) -> dict[str, Any]:
        starts = self._state.__dict__.get("starts", {})
        copies = {number: start.copy() for number, start in starts.items()}
        return {"starts": copies, "splits": self.splits.state()}

    def restore(self, state: dict[str, Any]) -> None:
        starts = {k: checked_start(start, self.n) for k, start in state["starts"].items()}
        if any(type(number) is not int or start is None for number, start in starts.items()):
            raise ValueError("starts must map split numbers to vectors")
        self._state.starts = starts
        self.splits.restore(state["splits"])

    def __getstate__(self) -> dict[str, object]:
        return {name: kept for name, kept in self.__dict__.items() if name != "_state"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._state = threading.local()
