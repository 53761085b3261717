"""Linear machines by what they predict: `LinearClassifier` a label, `LinearRegressor` a value."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d

from ...solvers.linear import CLASSIFICATION, LinearSolution
from .. import parameters as p
from ..decisions import LargestDecides
from ..targets import class_targets
from .base import LinearMachine, Task


class LinearClassifier(LargestDecides, ClassifierMixin, LinearMachine):  # type: ignore[misc]
    """One function for two classes, one for each class against the rest for more."""

    _rules: ClassVar[Any] = {
        "C": partial(p.check_number, low=0, closed="right", or_text="auto"),
        "penalty": partial(p.check_option, options=("l1", "l2")),
        "class_weight": p.check_class_weight,
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self._chooses_C() and np.isinf(self.C):
            self._check_without_penalty()

    def _check_without_penalty(self) -> None:
        """Raise unless C = ∞, which means no penalty, is supported."""
        raise p.ParameterError(f"C of {type(self).__name__} must be finite, got inf")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, memmap or chunks} of shape (n_samples, n_features)
            Data larger than memory is a `numpy.memmap`, or a file opened by
            `maxmargin.data.chunks`.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        fitted: Self = self._fit(X, y, sample_weight)
        return fitted

    def _loss_name(self) -> str:
        raise NotImplementedError

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = class_targets(y, weight, self.class_weight)
        self.classes_ = found.classes
        # Absent samples, whose code is -1, have no weight.
        return found.codes, found.weight * found.factors[found.codes]

    def _tasks(self, y: np.ndarray, weight: np.ndarray) -> list[Task]:
        loss, cost = CLASSIFICATION[self._loss_name()], self._cost() * weight
        labels = self.classes_
        if labels.size == 2:
            name = f"{labels[1]} vs {labels[0]}"
            return [Task(name, loss(np.where(y == 1, 1.0, -1.0), cost))]
        return [
            Task(f"{label} vs rest", loss(np.where(y == c, 1.0, -1.0), cost))
            for c, label in enumerate(labels)
        ]


class LinearRegressor(RegressorMixin, LinearMachine):  # type: ignore[misc]
    """One function of real values."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples with target values.

        Parameters
        ----------
        X : {array-like, sparse matrix, memmap or chunks} of shape (n_samples, n_features)
            Data larger than memory is a `numpy.memmap`, or a file opened by
            `maxmargin.data.chunks`.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        fitted: Self = self._fit(X, y, sample_weight)
        return fitted

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return column_or_1d(y, warn=True).astype(np.float64), weight

    def _write(self, tasks: list[Task], solutions: list[LinearSolution]) -> None:
        super()._write(tasks, solutions)
        self.coef_ = self.coef_[0]

    def predict(self, X: Any) -> np.ndarray:
        """The value of the function at each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._values(X)[:, 0]
