"""`SVRSearch`: an SVR whose kernel parameters, C and ε are searched for when it is fitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from ...estimators import SVR
from ...estimators.inputs import training_inputs
from ...estimators.parameters import check_option, refuse
from ..objectives.regression.held_out import LOSSES
from ..outcome import Outcome
from ..search import KernelSearch
from ..start import halves
from .strategies import REGRESSION_STRATEGIES, RegressionTask, tuned_regression


class SVRSearch(RegressorMixin, KernelSearch):  # type: ignore[misc]
    """Search for the kernel parameters, the C and the ε of a support vector regression.

    Parameters
    ----------
    estimator : SVR, default=None
        Everything but C, ε and the kernel parameters is taken from it; None stands for ``SVR()``. A
        kernel given as an object of `maxmargin.kernels` is where the search starts; "rbf" starts
        from the median distance between samples with small and large targets.
    strategy : {"cv-loss", "grid", "span", "leave-one-out"}, default="cv-loss"
        See `maxmargin.tuning.regression.strategies`.
    metric : {"radial", "diagonal", "full"}, default="radial"
        For the kernel "rbf": one γ, one for each feature, or a full matrix.
    loss : {"squared", "absolute"}, default="squared"
        The error of held-out samples that is minimised.
    cv : int, default=5
        Number of folds.
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
    best_estimator_ : SVR
        Fitted to all samples with the parameters found.
    best_params_ : dict
        "C", "kernel" and "epsilon".
    best_score_ : float
        Minus the mean loss of held-out samples there.
    cv_results_ : dict of arrays
        Every evaluation that the history keeps: "stage", "evaluation", "seconds", "value" and one
        "param_" column for each coordinate.
    search_ : Outcome
        The whole search, stage by stage; its `status` says why it ended.
    refit_time_ : float
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVR
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import SVRSearch
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> y = X[:, 0] ** 2
    >>> search = SVRSearch(SVR(kernel=Gaussian(1.0))).fit(X, y)
    >>> bool(search.score(X, y) > 0.99)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        strategy: str = "cv-loss",
        *,
        metric: str = "radial",
        loss: str = "squared",
        cv: int = 5,
        effort: float = 1.0,
        max_seconds: float | None = None,
        random_state: int = 0,
        n_jobs: int = 1,
        callback: Callable[..., Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.metric = metric
        self.loss = loss
        self.cv = cv
        self.effort = effort
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _model(self) -> Any:
        return SVR() if self.estimator is None else self.estimator

    def _check_parameters(self) -> None:
        if not isinstance(self._model(), SVR):
            refuse(self, "estimator", "an SVR of maxmargin")
        check_option(self, "strategy", tuple(REGRESSION_STRATEGIES))
        check_option(self, "loss", LOSSES)
        self._check_common_parameters()

    def _search(self, model: Any, X: Any, y: Any) -> Outcome:
        inputs, targets = training_inputs(model, X, y)
        targets = column_or_1d(targets, warn=True).astype(np.float64)
        kernel = self._start(model, inputs, halves(targets))
        task = RegressionTask(inputs, targets, kernel, judged_by=self.loss, **self._means(targets))
        return tuned_regression(task, self.strategy, callback=self.callback)
