"""The base of rules by distances in feature space: inputs, kernels, blocks of the Gram matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ...kernels import Kernel, Linear
from ...kernels.base import count, take
from ...runtime.parallel import single_threaded_blas
from .. import parameters as p
from ..inputs import (
    checked_weights,
    is_precomputed,
    new_inputs,
    resolved_kernel,
    tag_inputs,
    training_inputs,
)
from ..kernel.prediction import PREDICTION_BLOCK


class FeatureSpaceRule(BaseEstimator):  # type: ignore[misc]
    """A rule by the distances ‖φ(x) − φ(x')‖² = k(x, x) − 2 k(x, x') + k(x', x').

    Distances do not depend on the origin: for the linear kernel it is moved to the mean of the
    training inputs, which avoids cancellation.
    """

    kernel: Any
    kernel_: Kernel
    X_fit_: Any
    center_: np.ndarray

    def __init__(
        self,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tag_inputs(tags.input_tags, self.kernel)
        return tags

    def _check_parameters(self) -> None:
        p.check_kernel(self)
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            p.refuse(self, "kernel", "a name or a kernel of maxmargin.kernels")
        p.check_number(self, "degree", 0, closed="left", whole=True)
        p.check_gamma(self)
        p.check_number(self, "coef0")

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray]:
        """Check the parameters; return checked inputs, targets and weights of samples."""
        self._check_parameters()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X, y = training_inputs(self, X, y)
        return X, y, checked_weights(sample_weight, len(y))

    def _remember(self, X: Any, weight: np.ndarray, kept: np.ndarray) -> Any:
        """Set `kernel_`, `center_` and `X_fit_`; return the inputs relative to the centre."""
        self.kernel_ = resolved_kernel(self, X, weight)
        if is_precomputed(self.kernel):
            self.center_ = np.zeros(0)
            self.X_fit_ = kept
            return X
        inputs = take(X, kept)
        self.center_ = np.zeros(0)
        if isinstance(self.kernel_, Linear) and isinstance(inputs, np.ndarray):
            self.center_ = np.average(inputs.astype(np.float64), axis=0, weights=weight[kept])
            inputs = inputs - self.center_
        self.X_fit_ = inputs
        return inputs

    def _new(self, X: Any) -> Any:
        """Checked inputs of `predict`, relative to the centre."""
        check_is_fitted(self)
        X = new_inputs(self, X, self.X_fit_)
        return X - self.center_ if self.center_.size and not sparse.issparse(X) else X

    def _blocks(self, X: Any) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of the Gram matrix of new and training inputs, in float64, in batches."""
        total, fitted = count(X), count(self.X_fit_)
        step = max(1, PREDICTION_BLOCK // max(1, fitted))
        with single_threaded_blas():
            for start in range(0, total, step):
                rows = slice(start, min(start + step, total))
                if is_precomputed(self.kernel):
                    block = np.asarray(X[rows])[:, self.X_fit_]
                else:
                    block = self.kernel_(take(X, rows), self.X_fit_)
                yield rows, np.asarray(block, dtype=np.float64)

    def _squares(self, X: Any) -> np.ndarray:
        """k(x, x) of the training inputs."""
        if is_precomputed(self.kernel):
            return np.asarray(np.diagonal(X)[self.X_fit_], dtype=np.float64)
        return np.asarray(self.kernel_.diagonal(self.X_fit_), dtype=np.float64)
