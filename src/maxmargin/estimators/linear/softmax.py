"""Softmax (multinomial logistic) regression: `SoftmaxRegression`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logsumexp

from ...solvers.linear import Point
from ...solvers.linear.primal.softmax import SoftmaxProblem, fit_softmax
from .base import Task
from .kinds import LinearClassifier


class SoftmaxRegression(LinearClassifier):
    """Logistic regression of all classes in one problem, solved to a certified duality gap.

        minimise  ½ Σ_k ‖w_k‖² − C Σ_i weight_i log softmax(W x_i + b)_{y_i}

    For two classes it is `LogisticRegression` with twice the C.

    Parameters
    ----------
    tol : float, default=1e-6
        Duality gap relative to the objective at the end.
    C : float, default=1.0
    fit_intercept : bool, default=True
    intercept_scaling : float, default=None
        None leaves the intercept unpenalised; a number s penalises the weight of the constant
        feature s.
    class_weight : dict or "balanced", default=None
    verbose, max_iter, max_seconds, warm_start, callback
        As for `LinearSVC`.

    Attributes
    ----------
    coef_, intercept_, classes_, certificate_, fit_status_, status_, solution_, n_iter_, \
n_features_in_, feature_names_in_
        As for `LinearSVC`; there is one certificate for all classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SoftmaxRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxRegression().fit(X, y)
    >>> model.status_, model.predict_proba(X[:1]).round(2)
    ('converged', array([[0.98, 0.02, 0.  ]]))
    """

    penalty = "l2"
    solver = "auto"
    random_state = None

    def __init__(
        self,
        *,
        tol: Any = 1e-6,
        C: Any = 1.0,
        fit_intercept: Any = True,
        intercept_scaling: Any = None,
        class_weight: Any = None,
        verbose: Any = 0,
        max_iter: Any = 1000,
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.tol = tol
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    def _learn(
        self,
        matrix: Any,
        y: np.ndarray,
        weight: np.ndarray,
        reporter: Any,
        data: Any,
        previous: Any,
    ) -> None:
        name = "all classes"
        reporter.begin(1, **data)
        classes = self.classes_.size
        problem = SoftmaxProblem(matrix, y, self._cost() * weight, classes, self._intercept())
        last: Any = None if previous is None else previous.solution_
        known = last is not None and last.w.shape == (classes, matrix.d)
        solution = fit_softmax(
            problem,
            tol=float(self.tol),
            start=Point(np.zeros(0), last.w, last.b) if known else None,
            max_steps=self.max_iter,
            max_seconds=self._seconds_left(),
            callback=reporter.listen(0, name),
        )
        reporter.finish(0)
        self._cost_ = self._cost()
        self.solution_, self.certificate_ = solution, solution.certificate
        self.status_, self.n_iter_ = solution.status, solution.steps
        self.fit_status_ = int(not solution.converged)
        self.coef_, self.intercept_ = solution.w, np.asarray(solution.b)
        if classes == 2:
            self.coef_ = self.coef_[1:] - self.coef_[:1]
            self.intercept_ = self.intercept_[1:] - self.intercept_[:1]
        self._warn([Task(name, None)], [solution])

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([expit(-values), expit(values)])
        result: np.ndarray = np.exp(values - logsumexp(values, axis=1, keepdims=True))
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
        result: np.ndarray = values - logsumexp(values, axis=1, keepdims=True)
        return result
