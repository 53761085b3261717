"""`SVCSearch`, an SVC whose kernel and C are searched for, and what it shares with `SVRSearch`."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..estimators import SVC
from ..estimators.available import available_if
from ..estimators.inputs import is_function, is_precomputed, resolved_kernel, training_inputs
from ..estimators.parameters import check_callable, check_number, check_option, refuse
from ..kernels import Kernel, Precomputed
from .base import TubePoint
from .course import Task
from .journal import SearchInterrupted
from .objectives import Prior
from .outcome import Outcome, table
from .start import gaussian_start
from .strategies import STRATEGIES, tuned

METRICS = ("radial", "diagonal", "full")
# Strategies that can choose C for a precomputed Gram matrix, without evaluating kernels.
WITHOUT_INPUTS = ("kta", "grid")


def _best_has(name: str) -> Any:
    def check(search: KernelSearch) -> None:
        # The error of the estimator says what to do.
        getattr(getattr(search, "best_estimator_", search._model()), name)

    return check


class KernelSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A machine whose kernel and other parameters are searched for when it is fitted.

    Order of calls in `fit`: `_check_parameters`, `_search` (inputs, targets, the search itself),
    `_found` (`best_params_`, `best_score_`, `cv_results_`, `search_`), the fit of
    `best_estimator_`.
    """

    # Strategies that work with a precomputed Gram matrix, without evaluating kernels.
    _without_inputs: tuple[str, ...] = ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self._model().__sklearn_tags__().input_tags
        return tags

    @abstractmethod
    def _model(self) -> Any:
        """The estimator to tune."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError for parameters that are not allowed."""

    @abstractmethod
    def _search(self, model: Any, X: Any, y: Any) -> Outcome:
        """Run the strategy on inputs and targets as passed by the user."""

    def _check_common_parameters(self) -> None:
        check_option(self, "metric", METRICS)
        check_number(self, "cv", 2, closed="left", whole=True)
        check_number(self, "effort", 0)
        check_number(self, "max_seconds", 0, np.inf, closed="right", optional=True)
        check_number(self, "random_state", 0, 2**32 - 1, closed="both", whole=True)
        check_number(self, "n_jobs", 1, closed="left", whole=True)
        check_callable(self, "callback")

    def _means(self, targets: NDArray[Any]) -> dict[str, Any]:
        """Fields of a `Task` that are parameters of this estimator."""
        return {
            "k": feasible_folds(targets, self.cv),
            "effort": self.effort,
            "max_seconds": np.inf if self.max_seconds is None else self.max_seconds,
            "random_state": self.random_state,
            "n_jobs": self.n_jobs,
        }

    def fit(self, X: Any, y: Any) -> Any:
        """Search, then fit to all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or anything else that the estimator accepts.
        y : array-like of shape (n_samples,)
            Targets.

        Returns
        -------
        self
        """
        self._check_parameters()
        model = clone(self._model())
        try:
            self._found(self._search(model, X, y))
        except SearchInterrupted as interrupted:
            self._found(interrupted.found)
            raise
        found = self.best_params_
        if isinstance(found["kernel"], Precomputed):
            found = {**found, "kernel": model.kernel}
        model.set_params(**found)
        began = time.perf_counter()
        self.best_estimator_ = model.fit(X, y)
        self.refit_time_ = time.perf_counter() - began
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        return self

    def _found(self, outcome: Outcome) -> None:
        self.search_ = outcome
        self.best_params_ = parameters(outcome)
        self.best_score_ = outcome.score
        self.cv_results_ = table(outcome.stages)

    def _start(self, model: Any, X: Any, classes: NDArray[Any]) -> Kernel:
        """The kernel to start from."""
        if is_function(model.kernel) or is_precomputed(model.kernel):
            if self.strategy not in self._without_inputs or is_function(model.kernel):
                hint = f", or a Gram matrix with one of the strategies {self._without_inputs}"
                raise ValueError(
                    f"strategy {self.strategy!r} must evaluate the kernel at inputs, which kernel="
                    f"{model.kernel!r} does not allow: use a kernel of maxmargin.kernels"
                    f"{hint if self._without_inputs else ''}"
                )
            return Precomputed()
        if isinstance(model.kernel, str) and model.kernel == "rbf":
            return gaussian_start(X, classes, self.metric)
        weight = np.ones(X.shape[0] if hasattr(X, "shape") else len(X))
        return resolved_kernel(model, X, weight)

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class or value of each sample with `best_estimator_`."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict(X))


class SVCSearch(ClassifierMixin, KernelSearch):  # type: ignore[misc]
    """Search for the kernel parameters and the C of a support vector classifier.

    Parameters
    ----------
    estimator : SVC, default=None
        Supplies everything but C and the kernel parameters; None stands for ``SVC()``. If its
        kernel is an object of `maxmargin.kernels`, the search starts there; "rbf" starts from the
        median distance between classes.
    strategy : {"kta", "posterior", "likelihood", "span", "radius_margin", "cv-cma", "grid", \
"kernels"}, default="kta"
        See `maxmargin.tuning.strategies`.
    metric : {"radial", "diagonal", "full"}, default="radial"
        For the kernel "rbf": one γ, one for each feature, or a full matrix.
    cv : int, default=5
        Number of folds; strategies with random splits hold out 1/cv of the samples.
    prior : Prior, default=None
        For "posterior"; None stands for a `GaussianPrior` around the start.
    effort : float, default=1.0
        Factor on the number of iterations.
    max_seconds : float, default=None
        Time limit for the search, not counting the final fit.
    random_state : int, default=0
    n_jobs : int, default=1
        Threads.
    callback : callable, default=None
        Called with a `SearchProgress` after each evaluation of the search. If it returns True, the
        search ends and the best point so far is fitted.

    Attributes
    ----------
    best_estimator_ : SVC
        Fitted to all samples with the parameters found.
    best_params_ : dict
        "C", "kernel" and "loss".
    best_score_ : float
        The objective at these parameters, larger is better; if C was chosen by cross-validation,
        the accuracy.
    cv_results_ : dict of arrays
        Every evaluation that the history keeps: "stage", "evaluation", "seconds", "value" and one
        "param_" column for each coordinate.
    search_ : Outcome
        The whole search, stage by stage; its `status` says why it ended. After Ctrl-C it holds the
        best point so far, and nothing is fitted.
    refit_time_ : float
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.tuning import SVCSearch
    >>> X, y = chess_board(200, random_state=0)
    >>> search = SVCSearch(SVC(), strategy="kta").fit(X, y)
    >>> search.best_estimator_.certificate_.relative_gap < 1e-6
    True
    >>> round(search.best_score_, 2)
    0.91
    """

    def __init__(
        self,
        estimator: Any = None,
        strategy: str = "kta",
        *,
        metric: str = "radial",
        cv: int = 5,
        prior: Prior | None = None,
        effort: float = 1.0,
        max_seconds: float | None = None,
        random_state: int = 0,
        n_jobs: int = 1,
        callback: Callable[..., Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.metric = metric
        self.cv = cv
        self.prior = prior
        self.effort = effort
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    _without_inputs = WITHOUT_INPUTS

    def _model(self) -> Any:
        return SVC() if self.estimator is None else self.estimator

    def _check_parameters(self) -> None:
        if not isinstance(self._model(), SVC):
            refuse(self, "estimator", "an SVC of maxmargin")
        check_option(self, "strategy", tuple(STRATEGIES))
        self._check_common_parameters()

    def _search(self, model: Any, X: Any, y: Any) -> Outcome:
        inputs, labels = training_inputs(model, X, y)
        labels = column_or_1d(labels, warn=True)
        check_classification_targets(labels)
        kernel = self._start(model, inputs, labels)
        arguments = {"loss": model.loss, "prior": self.prior, **self._means(labels)}
        return tuned(
            Task(inputs, labels, kernel, **arguments), self.strategy, callback=self.callback
        )

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        """The decision function of `best_estimator_`."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.decision_function(X))

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Class probabilities of `best_estimator_`."""
        check_is_fitted(self, "best_estimator_")
        return np.asarray(self.best_estimator_.predict_proba(X))


def parameters(outcome: Outcome) -> dict[str, Any]:
    """The parameters to set on an SVC or SVR."""
    point = outcome.point
    own = {"epsilon": point.epsilon} if isinstance(point, TubePoint) else {"loss": outcome.loss}
    return {"C": float(point.C), "kernel": point.kernel, **own}


def feasible_folds(y: NDArray[Any], k: int) -> int:
    """k, or fewer if there are too few samples for k folds."""
    return max(2, min(k, y.size))
