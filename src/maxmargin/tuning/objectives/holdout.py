"""Objectives that train on a part of the samples and evaluate the machine on the rest.

hold-out error        one fixed split                                        9.1.1
cross-validation      k fixed splits, each sample held out once              9.1.1
bootstrap error       a new random split at every evaluation                 9.1.7
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs, take
from ..base import Evaluation, Float, Objective, Point
from ..machines.optimum import Fit, hinge_fit
from .adjoint import saddle_of, sensitivities
from .samples import Samples, checked_start
from .splits import FixedSplits, Int, RandomSplits, Split, Splits, folds


class SplitObjective(Samples, Objective[Point]):
    """A function of held-out outputs, summed over the splits of an evaluation.

    To add one, implement `_judged`: the value of a split and, if it exists, its derivative in the
    outputs. Every fit starts from the coefficients of its samples in the previous fit.

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    splits : Splits
    penalty : float array, optional
        Factor on the C of each sample; 1 by default.
    """

    def __init__(
        self, X: Inputs, y: ArrayLike, splits: Splits, penalty: Float | None = None
    ) -> None:
        super().__init__(X, y)
        self.splits, self.penalty = splits, penalty
        self.noisy = splits.random
        self._state = threading.local()

    @abstractmethod
    def _judged(self, outputs: Float, labels: Float, test: Int) -> Evaluation:
        """Value of the held-out samples `test`, and its derivative in their outputs."""

    def _unit(self, splits: Sequence[Split]) -> float:
        """The divisor of the sum over the splits."""
        return float(len(splits))

    def evaluate(self, point: Point) -> Evaluation:
        splits = self.splits.next()
        K = point.kernel(self.X) if len(splits) > 1 else None
        total, slope = 0.0, np.zeros(len(point.names))
        for number, split in enumerate(splits):
            judged = self._split(point, number, split, K)
            total += judged.value
            if judged.gradient is not None:
                slope += judged.gradient
        unit = self._unit(splits)
        if not self.differentiable:
            return Evaluation(total / unit)
        return Evaluation(total / unit, slope / unit if np.isfinite(total) else slope * np.nan)

    def _split(self, point: Point, number: int, split: Split, K: Float | None) -> Evaluation:
        """Value of one split and its gradient in the coordinates of the point."""
        y, labels = self.y[split.train], self.y[split.test]
        if (y == y[0]).all():
            # A machine trained on one class predicts that class, whatever the parameters.
            return Evaluation(self._judged(np.full(labels.size, y[0]), labels, split.test).value)
        order = np.concatenate([split.train, split.test])
        stacked, inputs = take(self.X, order), take(self.X, split.train)
        block = point.kernel(stacked, inputs) if K is None else K[order[:, None], split.train]
        if not np.isfinite(block).all():
            return Evaluation(np.nan)
        fit = self._fit(block[: y.size], point.C, number, split)
        if not fit.bounded:
            return Evaluation(np.nan)
        judged = self._judged(block[y.size :] @ fit.alpha + fit.bias, labels, split.test)
        if judged.gradient is None or not judged.gradient.any():
            return Evaluation(judged.value)
        slope = np.concatenate([np.zeros(y.size), judged.gradient])
        coefficients, log_C = sensitivities(fit, block, slope, saddle_of(fit, block))
        rows, columns = np.flatnonzero(coefficients), np.flatnonzero(fit.alpha)
        along = point.kernel.gradient(
            take(stacked, rows),
            take(inputs, columns),
            np.outer(coefficients[rows], fit.alpha[columns]),
        )
        return Evaluation(judged.value, point.gradient(along, log_C))

    def _fit(self, K: Float, C: float, number: int, split: Split) -> Fit:
        starts = self._state.__dict__.setdefault("starts", {})
        start = starts.setdefault(0 if self.splits.random else number, np.zeros(self.n))
        y = self.y[split.train]
        bound: Any = C if self.penalty is None else C * self.penalty[split.train]
        fit = hinge_fit(K, y, bound, start[split.train], exact=self.differentiable)
        start[split.train] = fit.alpha
        return fit

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


class ErrorRate(SplitObjective):
    """Fraction of the held-out samples that are misclassified, over all splits.

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    splits : Splits
    penalty : float array, optional
        Factor on the C of each sample; 1 by default.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import ErrorRate, FixedSplits, Point, folds
    >>> X, y = chess_board(100, random_state=0)
    >>> objective = ErrorRate(X, y, FixedSplits(folds(y, 5, random_state=0)))
    >>> objective.value(Point(Gaussian(2.0), C=100.0))
    0.13
    """

    differentiable = False

    def _judged(self, outputs: Float, labels: Float, test: Int) -> Evaluation:
        del test
        return Evaluation(float(np.sum(np.where(outputs > 0, 1.0, -1.0) != labels)))

    def _unit(self, splits: Sequence[Split]) -> float:
        return float(sum(split.test.size for split in splits))


class HoldOutError(ErrorRate):
    """Error rate on one fixed held-out part (9.1.1).

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    fraction : float
        Share of the samples to train on.
    random_state : int

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import HoldOutError, Point
    >>> objective = HoldOutError(*chess_board(200, random_state=0))
    >>> objective.value(Point(Gaussian(2.0), C=100.0))
    0.025
    """

    def __init__(
        self, X: Inputs, y: ArrayLike, fraction: float = 0.8, random_state: int = 0
    ) -> None:
        labels = np.asarray(y, dtype=np.float64)
        splits = RandomSplits(labels, fraction, random_state).next()
        super().__init__(X, y, FixedSplits(splits))


class CrossValidationError(ErrorRate):
    """Error rate of stratified k-fold cross-validation (9.1.1).

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    k : int
        Number of folds.
    random_state : int

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import CrossValidationError, Point
    >>> objective = CrossValidationError(*chess_board(200, random_state=0))
    >>> objective.value(Point(Gaussian(2.0), C=100.0))
    0.1
    """

    def __init__(self, X: Inputs, y: ArrayLike, k: int = 5, random_state: int = 0) -> None:
        labels = np.asarray(y, dtype=np.float64)
        super().__init__(X, y, FixedSplits(folds(labels, k, random_state)))


class BootstrapError(ErrorRate):
    """Error rate on a held-out part that is drawn anew at every evaluation (9.1.7).

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    fraction : float
        Share of the samples to train on.
    random_state : int, optional

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import BootstrapError, Point
    >>> objective = BootstrapError(*chess_board(100, random_state=0), random_state=0)
    >>> objective.noisy, objective.value(Point(Gaussian(2.0), C=100.0)) < 0.5
    (True, True)
    """

    def __init__(
        self,
        X: Inputs,
        y: ArrayLike,
        fraction: float = 0.8,
        random_state: int | None = None,
    ) -> None:
        labels = np.asarray(y, dtype=np.float64)
        super().__init__(X, y, RandomSplits(labels, fraction, random_state))
