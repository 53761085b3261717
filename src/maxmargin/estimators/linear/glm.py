"""Ridge regression, Lasso and logistic regression, by the solvers of linear machines."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit
from sklearn.utils.validation import check_is_fitted

from ...solvers.linear import squared
from .. import parameters as p
from .base import Task
from .kinds import LinearClassifier, LinearRegressor


class RidgeRegression(LinearRegressor):
    """Least squares with a penalty on the length of w.

        minimise  Σ_i weight_i (y_i − w·x_i − b)² + alpha ‖w‖²

    The objective of `certificate_` is this one divided by 2·alpha.

    Parameters
    ----------
    alpha : float, default=1.0
        0 is least squares without penalty, by the generalised inverse; the certificate is then that
        of half the sum of squares.
    tol : float, default=1e-6
        Duality gap relative to the objective at the end.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=None
        None leaves the intercept unpenalised; a number s penalises the weight of the constant
        feature s.
    verbose, random_state, max_iter, solver, max_seconds, warm_start, callback
        As for `LinearSVR`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    certificate_, fit_status_, status_, solution_, n_iter_, n_features_in_, feature_names_in_
        As for `LinearSVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import RidgeRegression
    >>> model = RidgeRegression(alpha=2.0).fit([[-1.0], [0.0], [1.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([0.5]), array([1.]))
    """

    _strength = "alpha"

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        tol: Any = 1e-6,
        fit_intercept: Any = True,
        intercept_scaling: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: Any = 1000,
        solver: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    _rules: ClassVar[Any] = {"alpha": partial(p.check_number, low=0, closed="left")}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.alpha == 0 and self.intercept_scaling is not None:
            raise p.ParameterError("intercept_scaling of RidgeRegression must be None with alpha=0")

    def _cost(self) -> float:
        return 0.5 / float(self.alpha) if self.alpha > 0 else 0.5

    def _penalty(self) -> str:
        return "l2" if self.alpha > 0 else "none"

    def _tasks(self, y: np.ndarray, weight: np.ndarray) -> list[Task]:
        return [Task(type(self).__name__, squared(y, self._cost() * weight))]


class Lasso(LinearRegressor):
    """Least squares with the penalty ‖w‖₁, which selects few features.

        minimise  Σ_i weight_i (y_i − w·x_i − b)² / (2 Σ_i weight_i) + alpha ‖w‖₁

    The objective of `certificate_` is this one divided by alpha.

    Parameters
    ----------
    alpha : float, default=1.0
    tol : float, default=1e-6
        Duality gap relative to the objective at the end.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=None
        None leaves the intercept unpenalised; a number s penalises the weight of the constant
        feature s.
    verbose, random_state, max_iter, max_seconds, warm_start, callback
        As for `LinearSVR`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : ndarray of shape (1,)
    certificate_, fit_status_, status_, solution_, n_iter_, n_features_in_, feature_names_in_
        As for `LinearSVR`.

    Examples
    --------
    >>> from maxmargin import Lasso
    >>> model = Lasso(alpha=0.5).fit([[-1.0, 1.0], [1.0, 1.0]], [-2.0, 2.0])
    >>> model.coef_.round(6)
    array([1.5, 0. ])
    """

    _strength = "alpha"
    solver = "auto"

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        tol: Any = 1e-6,
        fit_intercept: Any = True,
        intercept_scaling: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: Any = 1000,
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    _rules: ClassVar[Any] = {"alpha": partial(p.check_number, low=0)}

    def _cost(self) -> float:
        return 0.5 / float(self.alpha)

    def _penalty(self) -> str:
        return "l1"

    def _tasks(self, y: np.ndarray, weight: np.ndarray) -> list[Task]:
        return [Task(type(self).__name__, squared(y, self._cost() * (weight / weight.sum())))]


class LogisticRegression(LinearClassifier):
    """Logistic regression with the penalty ½‖w‖² or ‖w‖₁, solved to a certified duality gap.

        minimise  penalty(w) + C Σ_i weight_i · log(1 + exp(−y_i(w·x_i + b)))

    More than two classes are one-versus-rest, with probabilities scaled to sum to 1.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
    tol : float, default=1e-6
        Duality gap relative to the objective at the end.
    C : float or "auto", default=1.0
        "auto" chooses it by five-fold cross-validation along a path of warm starts (`C_`).
        `numpy.inf` means no penalty; separable classes then have no solution, which is an error.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=None
        None leaves the intercept unpenalised; a number s penalises the weight of the constant
        feature s.
    class_weight : dict or "balanced", default=None
    verbose, random_state, max_iter, solver, max_seconds, warm_start, callback
        As for `LinearSVC`.

    Attributes
    ----------
    coef_, intercept_, classes_, certificate_, fit_status_, status_, solution_, n_iter_, \
n_features_in_, feature_names_in_
        As for `LinearSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.predict_proba(X[:1]).argmax(), model.predict(X[:1])
    (np.int64(0), array([0]))
    """

    def __init__(
        self,
        penalty: Any = "l2",
        *,
        tol: Any = 1e-6,
        C: Any = 1.0,
        fit_intercept: Any = True,
        intercept_scaling: Any = None,
        class_weight: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: Any = 1000,
        solver: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.penalty = penalty
        self.tol = tol
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    def _check_without_penalty(self) -> None:
        if self.intercept_scaling is not None:
            raise p.ParameterError(
                "intercept_scaling must be None with C=inf: nothing is penalised"
            )

    def _loss_name(self) -> str:
        return "logistic"

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        result: np.ndarray = np.exp(self.predict_log_proba(X))
        return result

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([log_expit(-values), log_expit(values)])
        logs = log_expit(values)
        result: np.ndarray = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
        return result
