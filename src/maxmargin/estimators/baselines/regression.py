"""`LinearRegression`: least squares by the generalised inverse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import parameters as p
from ..inputs import checked_weights


class LinearRegression(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares without a penalty (thesis, section 1.2.3).

        minimise  Σ_i w_i ‖M x_i + b − y_i‖²,    M = ỹ X̃⁻¹,  b = ȳ − M x̄

    with X̃ = Σ_i w_i (x_i − x̄) x_iᵀ and ỹ = Σ_i w_i (y_i − ȳ) x_iᵀ, and the generalised inverse: the
    solution M with the smallest norm. It is computed from the singular values of the centred
    inputs, which X̃ would square.

    Parameters
    ----------
    fit_intercept : bool, default=True
        If False, b = 0 and nothing is centred.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        M.
    intercept_ : ndarray of shape (1,) or (n_targets,)
    rank_ : int
        Of the centred inputs.
    singular_values_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)

    Examples
    --------
    >>> from maxmargin.estimators.baselines import LinearRegression
    >>> model = LinearRegression().fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [1.0, 3.0, 5.0])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([1., 1.]), array([1.]))
    """

    def __init__(self, *, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    def _check_parameters(self) -> None:
        p.check_boolean(self, "fit_intercept")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Solve for coefficients and intercept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, multi_output=True)
        weight = checked_weights(sample_weight, X.shape[0])
        kept = np.flatnonzero(weight > 0)
        X, targets, weight = X[kept], np.asarray(y, dtype=np.float64)[kept], weight[kept]
        columns = targets if targets.ndim == 2 else targets[:, None]
        middle, level = np.zeros(X.shape[1]), np.zeros(columns.shape[1])
        if self.fit_intercept:
            middle = np.average(X, axis=0, weights=weight)
            level = np.average(columns, axis=0, weights=weight)
        root = np.sqrt(weight)[:, None]
        # Smaller singular values are zero up to rounding.
        cutoff = max(X.shape) * np.finfo(np.float64).eps
        inputs = root * (X - middle)
        M, _, rank, values = linalg.lstsq(inputs, root * (columns - level), cond=cutoff)
        self.coef_ = M.T if targets.ndim == 2 else M[:, 0]
        self.intercept_ = level - middle @ M
        self.rank_, self.singular_values_ = int(rank), values
        return self

    def predict(self, X: Any) -> np.ndarray:
        """M x + b.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        values: np.ndarray = X @ self.coef_.T + self.intercept_
        return values
