"""`AutoSVR`: a support vector regression without parameters to set."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from ...estimators import SVR
from ...estimators.parameters import check_option
from ...estimators.targets import numeric_targets
from .. import costs
from ..base import Float, TubePoint
from ..journal import Journal, SearchInterrupted
from ..objectives.regression.held_out import LOSSES
from ..outcome import Chosen, Outcome, Stage
from ..regression.strategies import REGRESSION_STRATEGIES, RegressionTask, tuned_regression
from ..search import feasible_folds
from ..start import gaussian_start, halves
from .base import NUMBERS, AutoMachine
from .correction import Correction, corrected, held_out
from .scaling import divided, in_units, standard_deviations
from .strings import are_strings


class AutoSVR(RegressorMixin, AutoMachine):  # type: ignore[misc]
    """Support vector regression that chooses its Gaussian kernel, C and ε itself.

    It minimises the loss of the samples held out in fixed folds by its exact gradient in all
    parameters. Inputs and targets are standardised for the search; the scales are then absorbed by
    the kernel's metric, C and ε, so that the result is an ordinary `SVR` for the original data.

    Parameters
    ----------
    metric : {"radial", "diagonal", "full"}, default="radial"
        One width for all (standardised) features, one for each, or a full matrix.
    strategy : {"auto", "cv-loss", "grid", "span", "leave-one-out"}, default="auto"
        How to choose; "auto" is "cv-loss". The others are described in
        `maxmargin.tuning.regression.strategies`.
    loss : {"squared", "absolute"}, default="squared"
        The error of held-out samples that is minimised.
    scale : bool, default=True
        Whether to standardise the inputs.
    cv : int, default=5
        Number of folds.
    max_seconds : float, default=None
        Time limit for `fit`.
    random_state : int, RandomState or None, default=None
        None stands for 0: fits are repeatable, except under a time limit.
    n_jobs : int, default=1
        Threads.
    callback : callable, default=None
        Called with a `SearchProgress` after each evaluation of the search. If it returns True, the
        search ends and the best point so far is fitted.

    Attributes
    ----------
    search_ : Chosen
        What was chosen and why, to be printed. After Ctrl-C during the search it holds the best
        point so far, and nothing is fitted.
    svr_ : SVR
        The fitted regression.
    C_, epsilon_ : float
    kernel_, certificate_, status_, solution_, support_, support_vectors_, n_support_, \
dual_coef_, intercept_, n_features_in_, feature_names_in_
        As of `SVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import AutoSVR
    >>> X = np.linspace(-3, 3, 80)[:, None]
    >>> y = 100.0 * np.sin(2 * X[:, 0])
    >>> model = AutoSVR().fit(X, y)
    >>> bool(model.score(X, y) > 0.999)
    True
    >>> bool(model.certificate_.relative_gap < 1e-4)
    True
    """

    _fitted_name = "svr_"

    def __init__(
        self,
        *,
        metric: str = "radial",
        strategy: str = "auto",
        loss: str = "squared",
        scale: bool = True,
        cv: int = 5,
        max_seconds: float | None = None,
        random_state: Any = None,
        n_jobs: int = 1,
        callback: Callable[..., Any] | None = None,
    ) -> None:
        self.metric = metric
        self.strategy = strategy
        self.loss = loss
        self.scale = scale
        self.cv = cv
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_parameters(self) -> None:
        self._check_common_parameters()
        check_option(self, "strategy", ("auto", *REGRESSION_STRATEGIES))
        check_option(self, "loss", LOSSES)

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        self._check_parameters()
        if are_strings(X):
            raise ValueError(
                "AutoSVR takes vectors, got strings: use SVRSearch(SVR(kernel=Oligo())) with a "
                "kernel of maxmargin.kernels for strings"
            )
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=NUMBERS, order="C", y_numeric=True
        )
        return X, numeric_targets(y)

    def _machine(self, seed: int, seconds: float | None, samples: int) -> Any:
        del seed, samples
        self.epsilon_ = self.search_.epsilon
        return SVR(
            C=self.C_, kernel=self.search_.kernel, epsilon=self.epsilon_, max_seconds=seconds
        )

    def _chosen(
        self, X: Any, y: NDArray[Any], seed: int, began: float, journal: Journal | None
    ) -> Chosen:
        strategy, reason = "cv-loss", f"{y.size:,} samples, thorough search"
        if self.strategy != "auto":
            strategy, reason = self.strategy, "asked for"
        elif y.size <= costs.SCAN_SAMPLES:
            reason = f"small data set ({y.size} samples), thorough search"
        scales = standard_deviations(X) if self.scale else np.ones(X.shape[1])
        centre, spread = float(np.median(y)), float(y.std())
        spread = spread if np.isfinite(spread) and spread > 1e-12 * abs(centre) else 1.0
        order = np.random.default_rng(seed).permutation(y.size)
        samples = np.sort(order[: costs.SEARCH_SAMPLES])
        inputs, targets = divided(X[samples], scales), (y[samples] - centre) / spread
        if targets.size < y.size:
            reason += f"; the search used {targets.size:,} of them"
        task = RegressionTask(
            inputs,
            targets,
            gaussian_start(inputs, halves(targets), self.metric),
            k=feasible_folds(targets, self.cv),
            max_seconds=self._search_seconds(began),
            random_state=seed,
            n_jobs=self.n_jobs,
            judged_by=self.loss,
        )

        def chosen(outcome: Outcome) -> Chosen:
            return Chosen(
                strategy,
                reason,
                in_units(outcome.point.kernel, scales),
                float(outcome.point.C) * spread,
                outcome.score,
                targets.size,
                time.perf_counter() - began,
                [in_units_of_targets(stage, spread) for stage in outcome.stages],
                outcome.status,
                float(outcome.point.epsilon) * spread,
            )

        try:
            outcome = tuned_regression(task, strategy, callback=self.callback, journal=journal)
        except SearchInterrupted as interrupted:
            raise SearchInterrupted(chosen(interrupted.found)) from None
        found = chosen(outcome)
        if found.samples == y.size or found.status != "finished":
            return found
        data = held_out(X, y, np.zeros(y.size, dtype=np.int64), None, seed)
        model = SVR(kernel=found.kernel, epsilon=found.epsilon)
        left = self._search_seconds(began)
        correction = Correction(model, data, self._losses, left, self.callback)
        return corrected(found, correction, outcome.point.kernel)

    def _losses(self, model: Any, X: Any, y: NDArray[Any]) -> Float:
        """The loss of each sample."""
        away = model.predict(X) - y
        return np.asarray(np.abs(away) if self.loss == "absolute" else away**2)


def in_units_of_targets(stage: Stage, spread: float) -> Stage:
    """A stage whose targets were divided by `spread`, with C and ε as of the targets themselves."""
    point, factor = stage.result.point, np.log(spread)
    result = stage.result._replace(
        point=TubePoint(point.kernel, point.C * spread, point.epsilon * spread)
    )
    moved = {name: stage.history[name] + factor for name in ("log_C", "log_epsilon")}
    return Stage(stage.what, result, {**stage.history, **moved})
