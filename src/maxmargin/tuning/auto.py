"""`AutoSVC`: a support vector classifier without parameters to set."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimators import SVC
from ..estimators.parameters import check_boolean, check_callable, check_number, check_option
from ..kernels import Gaussian, Kernel, MetricGaussian
from .base import Float
from .chosen import Chosen
from .course import Outcome, Task
from .journal import Journal, SearchInterrupted
from .objectives import Prior
from .search import METRICS, feasible_folds
from .start import gaussian_start
from .strategies import STRATEGIES, tuned

# Samples from which and up to which the posterior is climbed, and beyond which the search takes a
# part of them.
FEWEST, SMALL, SUBSAMPLE = 10, 500, 2000
# Seconds that the last fit gets even where none are left.
LEAST_SECONDS = 0.05
# Part of a given time limit that the search may take; the rest is for the last fit.
SHARE = 0.6
# Evaluations of a noisy objective with 200 samples, and the power of n by which they get fewer.
EVALUATIONS, FEWER = 15_000, 1.5
# Features beyond which they get fewer by the square root of their number.
MANY_FEATURES = 30


def _has_probabilities(model: Any) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class AutoSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector classification that chooses its Gaussian kernel and its C itself.

    Up to 500 samples it climbs the log-posterior with NoisyRprop; beyond, it maximises the kernel
    target alignment and takes C from cross-validation along a path. Inputs are standardised first;
    the scales end up in the metric of the kernel, so that the result is an ordinary `SVC` for the
    inputs as they are.

    Parameters
    ----------
    metric : {"radial", "diagonal", "full"}, default="radial"
        One width for all (standardised) features, one for each, or a full matrix.
    strategy : {"auto", "kta", "posterior", "likelihood", "span", "radius_margin", "cv-cma", \
"grid"}, default="auto"
        How to choose; "auto" goes by the number of samples.
    scale : bool, default=True
        Whether to standardise the inputs.
    prior : Prior, default=None
        For "posterior", on the kernel of standardised inputs.
    cv : int, default=5
        Number of folds.
    max_seconds : float, default=None
        Time limit for `fit`. Without one a search takes about ten seconds.
    probability : bool or "platt", default=False
        As for `SVC`.
    random_state : int, RandomState or None, default=None
        None stands for 0: every fit is repeatable, time limits aside.
    n_jobs : int, default=1
        Threads.
    callback : callable, default=None
        Called with a `SearchProgress` after each evaluation of the search. If it returns True the
        search ends, and the fit follows with the best so far.

    Attributes
    ----------
    search_ : Chosen
        What it did and why: print it. After Ctrl-C during the search it holds the best so far; the
        fit is left out.
    svc_ : SVC
        The fitted classifier.
    C_ : float
    kernel_, certificate_, status_, solution_, classes_, support_, support_vectors_, n_support_, \
dual_coef_, intercept_, n_features_in_, feature_names_in_
        As of `SVC`.

    Examples
    --------
    >>> from maxmargin import AutoSVC
    >>> from maxmargin.data import chess_board
    >>> X, y = chess_board(600, random_state=0)
    >>> model = AutoSVC().fit(X, y)
    >>> bool(model.score(*chess_board(1000, random_state=1)) > 0.9)
    True
    >>> model.search_.strategy
    'kta'
    >>> bool(model.certificate_.relative_gap < 1e-6)
    True
    """

    def __init__(
        self,
        *,
        metric: str = "radial",
        strategy: str = "auto",
        scale: bool = True,
        prior: Prior | None = None,
        cv: int = 5,
        max_seconds: float | None = None,
        probability: Any = False,
        random_state: Any = None,
        n_jobs: int = 1,
        callback: Callable[..., Any] | None = None,
    ) -> None:
        self.metric = metric
        self.strategy = strategy
        self.scale = scale
        self.prior = prior
        self.cv = cv
        self.max_seconds = max_seconds
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        check_option(self, "metric", METRICS)
        check_option(self, "strategy", ("auto", *STRATEGIES))
        check_boolean(self, "scale")
        check_number(self, "cv", 2, closed="left", whole=True)
        check_number(self, "max_seconds", 0, np.inf, closed="right", optional=True)
        check_option(self, "probability", (False, True, "platt"))
        check_number(self, "n_jobs", 1, closed="left", whole=True)
        check_callable(self, "callback")

    def fit(self, X: Any, y: Any) -> AutoSVC:
        """Choose kernel and C, then train on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, of two or more classes.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        X, y = self._checked(X, y)
        seed = self._seed()
        try:
            self.search_ = self._chosen(X, y, seed, began, None)
        except SearchInterrupted as interrupted:
            self.search_ = interrupted.found
            raise
        self.C_ = self.search_.C
        left = None
        if self.max_seconds is not None:
            left = max(self.max_seconds - (time.perf_counter() - began), LEAST_SECONDS)
        model: Any = SVC(  # type: ignore[no-untyped-call]
            C=self.C_,
            kernel=self.search_.kernel,
            probability=self.probability,
            random_state=seed,
            max_seconds=left,
            n_jobs=self.n_jobs,
        )
        try:
            model.fit(X, y)
        finally:
            if hasattr(model, "solution_"):
                self._take_over(model)
        return self

    def search(self, X: Any, y: Any, *, journal: Journal | None = None) -> Chosen:
        """Choose kernel and C, and train nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, of two or more classes.
        journal : Journal, optional
            Keeps what is computed; one of an equal search that ended early is gone on from.

        Returns
        -------
        Chosen

        Examples
        --------
        >>> from maxmargin import AutoSVC
        >>> from maxmargin.data import chess_board
        >>> chosen = AutoSVC(strategy="kta").search(*chess_board(200, random_state=0))
        >>> chosen.status, [stage.what for stage in chosen.stages][-1]
        ('finished', 'path of C')
        """
        began = time.perf_counter()
        X, y = self._checked(X, y)
        return self._chosen(X, y, self._seed(), began, journal)

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        self._check_parameters()
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C"
        )
        check_classification_targets(y)
        if np.unique(y).size == 1:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        return X, y

    def _seed(self) -> int:
        given = self.random_state
        return 0 if given is None else int(check_random_state(given).randint(2**31 - 1))

    def _take_over(self, model: Any) -> None:
        self.svc_ = model
        for name, value in vars(model).items():
            if name.endswith("_") and not name.startswith("_") and name != "n_features_in_":
                setattr(self, name, value)

    def _chosen(
        self, X: Any, y: NDArray[Any], seed: int, began: float, journal: Journal | None
    ) -> Chosen:
        codes = np.unique(y, return_inverse=True)[1]
        strategy, reason = self._strategy(codes.size)
        scales = standard_deviations(X) if self.scale else np.ones(X.shape[1])
        samples = subsample(codes, SUBSAMPLE, seed)
        inputs, labels = divided(X[samples], scales), codes[samples]
        spent = time.perf_counter() - began
        limit = np.inf if self.max_seconds is None else SHARE * self.max_seconds - spent
        start = gaussian_start(inputs, labels, self.metric)
        task = Task(
            inputs,
            labels,
            start,
            prior=self.prior,
            k=feasible_folds(labels, self.cv),
            effort=effort(strategy, start.theta.size + 1, *inputs.shape),
            max_seconds=max(limit, 0.0),
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        if labels.size < codes.size:
            reason += f"; the search used {labels.size} of them"

        def chosen(outcome: Outcome) -> Chosen:
            return Chosen(
                strategy,
                reason,
                in_units(outcome.point.kernel, scales),
                float(outcome.point.C),
                outcome.score,
                labels.size,
                time.perf_counter() - began,
                outcome.stages,
                outcome.status,
            )

        try:
            return chosen(tuned(task, strategy, callback=self.callback, journal=journal))
        except SearchInterrupted as interrupted:
            raise SearchInterrupted(chosen(interrupted.found)) from None

    def _strategy(self, samples: int) -> tuple[str, str]:
        if self.strategy != "auto":
            return self.strategy, "asked for"
        if samples < FEWEST:
            return "kta", f"{samples} samples are too few to hold some out at random"
        if samples <= SMALL:
            return "posterior", f"{samples} samples, few enough for its many small machines"
        return "kta", f"{samples} samples, too many for the posterior"

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The function whose sign decides, as of `SVC`."""
        check_is_fitted(self, "svc_")
        return np.asarray(self.svc_.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each sample."""
        check_is_fitted(self, "svc_")
        return np.asarray(self.svc_.predict(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of the classes."""
        check_is_fitted(self, "svc_")
        return np.asarray(self.svc_.predict_proba(X))


def effort(strategy: str, size: int, samples: int, features: int) -> float:
    """The part of a strategy's iterations that is affordable: ten seconds' worth of machines."""
    if strategy not in ("posterior", "likelihood"):
        return 1.0
    evaluations = EVALUATIONS * min(1.0, (200.0 / samples) ** FEWER)
    evaluations *= min(1.0, np.sqrt(MANY_FEATURES / features))
    return float(min(1.0, evaluations / (10_000.0 * np.sqrt(size))))


def standard_deviations(X: Any) -> Float:
    """Of each feature; 1 where it is constant."""
    if sparse.issparse(X):
        X = X if X.has_canonical_format else X.copy()  # SciPy brings it into form in place
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.power(2).mean(axis=0)).ravel()
        deviations = np.sqrt(np.maximum(square - mean**2, 0.0))
    else:
        deviations = X.std(axis=0, dtype=np.float64)
    # What rounding leaves of the deviation of a constant.
    largest = abs(X).max(axis=0)
    size = largest.toarray().ravel() if sparse.issparse(X) else largest
    return np.where(deviations <= 1e-7 * size, 1.0, deviations)


def divided(X: Any, scales: Float) -> Any:
    """Inputs with each feature divided by its scale, in float64."""
    if sparse.issparse(X):
        return sparse.csr_array(X.astype(np.float64).multiply(1.0 / scales))
    return X.astype(np.float64) / scales


def in_units(kernel: Kernel, scales: Float) -> Kernel:
    """The kernel of x that equals the given kernel of x/scales."""
    if (scales == 1.0).all():
        return kernel
    if isinstance(kernel, Gaussian):
        return Gaussian(tuple(np.asarray(kernel.gamma) / scales**2))
    assert isinstance(kernel, MetricGaussian)
    # ‖Bx/s‖ = ‖B'x‖ with B' = √(MᵀM), M = B/s; of M itself, squares would lose half the digits.
    _, values, vectors = np.linalg.svd(kernel.metric / scales)
    floor = np.finfo(np.float64).eps * values[0]
    return MetricGaussian(vectors.T * np.maximum(values, floor) @ vectors)


def subsample(codes: NDArray[Any], most: int, seed: int) -> NDArray[Any]:
    """Indices of at most so many samples, with the share of each class kept."""
    if codes.size <= most:
        return np.arange(codes.size)
    random = np.random.default_rng(seed)
    order = random.permutation(codes.size)
    chosen = []
    for code in range(codes.max() + 1):
        members = order[codes[order] == code]
        chosen.append(members[: max(2, round(most * members.size / codes.size))])
    return np.sort(np.concatenate(chosen))
