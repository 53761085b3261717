"""`AutoSVC`: a support vector classifier without parameters to set."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import validate_data

from ...estimators import SVC
from ...estimators.available import available_if
from ...estimators.inputs import takes_strings
from ...estimators.parameters import check_option, refuse
from ...estimators.targets import refuse_missing_labels
from ...kernels import Kernel, Oligo
from ...kernels.sequence.encoding import encoded
from .. import costs
from ..base import Float
from ..course import Task
from ..journal import Journal, SearchInterrupted
from ..objectives import Prior
from ..outcome import Chosen, Outcome
from ..search import feasible_folds
from ..start import gaussian_start, subsample
from ..strategies import STRATEGIES, UNWEIGHTED, tuned
from .base import NUMBERS, AutoMachine
from .correction import Correction, corrected, held_out
from .scaling import divided, in_units, standard_deviations
from .strings import alphabet_of, are_strings

# Sparse features beyond which inputs are treated as text.
TEXT_FEATURES = 1000
# Numeric targets with more distinct values may be measurements.
MOST_CLASSES = 20
SCORINGS = (None, "accuracy", "balanced_accuracy", "roc_auc")
# Evaluations of a noisy objective with 200 samples.
EVALUATIONS = 15_000


def _require_probabilities(model: Any) -> None:
    if model.probability is False:
        raise AttributeError(
            "predict_proba of this AutoSVC is not available with probability=False: leave "
            "probability out and fit again"
        )


class AutoSVC(ClassifierMixin, AutoMachine):  # type: ignore[misc]
    """Support vector classification that chooses its kernel and C itself.

    It maximises the likelihood of the samples held out in fixed folds, with a prior on the kernel,
    by its exact gradient; see `maxmargin.tuning.strategies`. Inputs are standardised first; the
    scales are then absorbed by the metric of the kernel, so that the result is an ordinary `SVC`
    for the original inputs. Strings, such as DNA or proteins, are compared by oligo kernels.

    Parameters
    ----------
    metric : {"radial", "diagonal", "full"}, default="radial"
        One width for all (standardised) features, one for each, or a full matrix.
    strategy : {"auto", "cv-posterior", "kta", "posterior", "likelihood", "span", \
"radius_margin", "cv-cma", "grid", "kernels"}, default="auto"
        How to choose; "auto" is "cv-posterior", except for fewer than ten samples, and "kernels"
        (without scaling) for more than 1,000 sparse features and for strings.
    class_weight : dict or "balanced", default=None
        Factors on the C of each class, as for `SVC`.
    scoring : {"accuracy", "balanced_accuracy", "roc_auc"}, default=None
        The score to optimise. None stands for the accuracy weighted by `class_weight`. The balanced
        accuracy and the AUC give every class the same importance in the search.
    scale : bool, default=True
        Whether to standardise the inputs.
    prior : Prior, default=None
        For "posterior" and "cv-posterior", on the kernel of standardised inputs.
    cv : int, default=5
        Number of folds.
    max_seconds : float, default=None
        Time limit for `fit`.
    probability : bool, "platt" or "auto", default="auto"
        As for `SVC`. "auto" fits probabilities with up to 2,000 samples; with more, on the first
        call of `predict_proba`, for which the samples are kept in memory but not in pickles.
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
    >>> model.search_.reason
    '600 samples, thorough search'
    >>> model.predict_proba(X[:3]).shape
    (3, 2)
    >>> bool(model.certificate_.relative_gap < 1e-6)
    True
    """

    _fitted_name = "svc_"

    def __init__(
        self,
        *,
        metric: str = "radial",
        strategy: str = "auto",
        class_weight: Any = None,
        scoring: str | None = None,
        scale: bool = True,
        prior: Prior | None = None,
        cv: int = 5,
        max_seconds: float | None = None,
        probability: Any = "auto",
        random_state: Any = None,
        n_jobs: int = 1,
        callback: Callable[..., Any] | None = None,
    ) -> None:
        self.metric = metric
        self.strategy = strategy
        self.class_weight = class_weight
        self.scoring = scoring
        self.scale = scale
        self.prior = prior
        self.cv = cv
        self.max_seconds = max_seconds
        self.probability = probability
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def _check_parameters(self) -> None:
        self._check_common_parameters()
        check_option(self, "strategy", ("auto", *STRATEGIES))
        check_option(self, "scoring", SCORINGS)
        check_option(self, "probability", (False, True, "platt", "auto"))
        weighted = self.class_weight is not None or self.scoring not in (None, "accuracy")
        if weighted and self.strategy in UNWEIGHTED:
            refuse(self, "strategy", "one that supports class weights, such as 'cv-posterior'")

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        self._check_parameters()
        if are_strings(X):
            y = self._checked_with_strings(X, y)
        else:
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBERS, order="C")
        refuse_missing_labels(y)
        refuse_measurements(y)
        classes = np.unique(y).size
        if classes == 1:
            raise ValueError("The number of classes has to be greater than one; got 1 class")
        if self.scoring == "roc_auc" and classes > 2:
            raise ValueError(
                f"scoring='roc_auc' is for two classes, got {classes}: use 'balanced_accuracy'"
            )
        return X, y

    def _checked_with_strings(self, X: Any, y: Any) -> NDArray[Any]:
        """Labels of strings."""
        if self.metric != "radial":
            refuse(self, "metric", "'radial' for strings, which have no features")
        alphabet_of(X)
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        return np.asarray(y)

    def _new_inputs(self, X: Any) -> Any:
        return X if takes_strings(self.svc_.kernel) else super()._new_inputs(X)

    def fit(self, X: Any, y: Any) -> AutoSVC:
        """Choose kernel and C, then train on all samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or a list or 1-D array of strings.
        y : array-like of shape (n_samples,)
            Class labels, of two or more classes.

        Returns
        -------
        self
        """
        self._kept = None
        super().fit(X, y)
        if self.probability == "auto" and not self.svc_.probability:
            self._kept = X, y
        return self

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {**state, "_kept": None} if "_kept" in state else state

    def _machine(self, seed: int, seconds: float | None, samples: int) -> Any:
        likely = self.probability
        if likely == "auto":
            likely = samples <= costs.PROBABILITY_SAMPLES
        return SVC(
            C=self.C_,
            kernel=self.search_.kernel,
            class_weight=self.class_weight,
            probability=likely,
            random_state=seed,
            max_seconds=seconds,
            n_jobs=self.n_jobs,
        )

    def _weights(self, codes: NDArray[Any], y: NDArray[Any]) -> tuple[Float | None, Float | None]:
        """The penalty and the importance of each sample, None where all are 1."""
        classes = np.unique(y)
        penalty = importance = None
        if self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=classes, y=y)
            penalty = np.asarray(factors, dtype=np.float64)[codes]
        if self.scoring is None:
            importance = penalty
        elif self.scoring in ("balanced_accuracy", "roc_auc"):
            sizes = np.bincount(codes)
            importance = codes.size / (classes.size * sizes[codes].astype(np.float64))
        return penalty, importance

    def _chosen(
        self, X: Any, y: NDArray[Any], seed: int, began: float, journal: Journal | None
    ) -> Chosen:
        codes = np.unique(y, return_inverse=True)[1]
        strategy, reason = self._strategy(X, codes.size)
        samples = subsample(codes, costs.SEARCH_SAMPLES, seed)
        labels = codes[samples]
        inputs, scales, start = self._inputs_and_start(X, samples, labels, strategy)
        features = scales.size or 1
        penalty, importance = self._weights(codes, y)
        task = Task(
            inputs,
            labels,
            start,
            prior=self.prior,
            k=feasible_folds(labels, self.cv),
            effort=effort(strategy, start.theta.size + 1, labels.size, features),
            max_seconds=self._search_seconds(began),
            random_state=seed,
            n_jobs=self.n_jobs,
            penalty=None if penalty is None else penalty[samples],
            importance=None if importance is None else importance[samples],
            scoring="roc_auc" if self.scoring == "roc_auc" else "accuracy",
        )
        if labels.size < codes.size:
            reason += f"; the search used {labels.size:,} of them"

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
            outcome = tuned(task, strategy, callback=self.callback, journal=journal)
        except SearchInterrupted as interrupted:
            raise SearchInterrupted(chosen(interrupted.found)) from None
        found = chosen(outcome)
        if found.samples == codes.size or found.status != "finished":
            return found
        data = held_out(X, y, codes, importance, seed)
        if np.unique(data.y).size < np.unique(y).size:
            return found
        model = SVC(kernel=found.kernel, class_weight=self.class_weight, n_jobs=self.n_jobs)
        left = self._search_seconds(began)
        losses = misrankings if self.scoring == "roc_auc" else misses
        correction = Correction(model, data, losses, left, self.callback)
        return corrected(found, correction, outcome.point.kernel)

    def _inputs_and_start(
        self, X: Any, samples: NDArray[Any], labels: NDArray[Any], strategy: str
    ) -> tuple[Any, Float, Kernel]:
        """Inputs of the search, the scales they were divided by (none of strings), and the kernel
        to start from."""
        if are_strings(X):
            inputs = encoded(X, alphabet_of(X), "X")[samples]
            return inputs, np.ones(0), Oligo(k=3, alphabet=inputs.alphabet)
        # Text is not scaled, because rare terms must not weigh more than frequent ones.
        scaled = self.scale and strategy != "kernels"
        scales = standard_deviations(X) if scaled else np.ones(X.shape[1])
        inputs = divided(X[samples], scales)
        return inputs, scales, gaussian_start(inputs, labels, self.metric)

    def _strategy(self, X: Any, samples: int) -> tuple[str, str]:
        if self.strategy != "auto":
            return self.strategy, "asked for"
        if samples < 10:
            return "kta", f"{samples} samples, too few to hold any out"
        if are_strings(X):
            return "kernels", "strings: comparing oligo kernels"
        if sparse.issparse(X) and X.shape[1] > TEXT_FEATURES and self.metric == "radial":
            return "kernels", "many sparse features: comparing linear and Gaussian kernels"
        if samples <= costs.SCAN_SAMPLES:
            return "cv-posterior", f"small data set ({samples} samples), thorough search"
        return "cv-posterior", f"{samples:,} samples, thorough search"

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The decision function, as of `SVC`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        model, X = self._fitted_and_inputs(X)
        return np.asarray(model.decision_function(X))

    @available_if(_require_probabilities)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Class probabilities; the first call may train five more machines.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        model, X = self._fitted_and_inputs(X)
        if not model.probability:
            self._fit_probabilities(model)
        return np.asarray(model.predict_proba(X))

    @available_if(_require_probabilities)
    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        return np.asarray(np.log(self.predict_proba(X)))

    def _fit_probabilities(self, model: Any) -> None:
        """Fit probabilities of the fitted classifier to the samples that were kept."""
        if self._kept is None:
            raise AttributeError(
                "predict_proba needs the training samples, which are not kept in files: call it "
                "once before saving, or fit with probability=True"
            )
        X, y = self._kept
        if not are_strings(X):
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=NUMBERS, order="C", reset=False
            )
        model.set_params(probability=True, warm_start=True, max_seconds=None).fit(X, y)
        model.set_params(warm_start=False)
        self._take_over(model)
        self._kept = None


def misses(model: Any, X: Any, y: NDArray[Any]) -> Float:
    """1 for each sample that a classifier gets wrong."""
    return np.asarray(model.predict(X) != y, dtype=np.float64)


def misrankings(model: Any, X: Any, y: NDArray[Any]) -> Float:
    """For each sample the part of the other class on its wrong side; ties count half.

    The mean within each class is 1 − AUC.
    """
    decision, second = model.decision_function(X), y == model.classes_[1]
    ranks, losses = rankdata(decision), np.empty(y.size)
    for own in (second, ~second):
        below = ranks[own] - rankdata(decision[own])
        losses[own] = below / max(1, np.count_nonzero(~own))
    losses[second] = 1.0 - losses[second]
    return losses


def refuse_measurements(y: NDArray[Any]) -> None:
    """Raise ValueError for targets of a regression."""
    remedy = "use AutoSVR for numbers to be predicted, or y.astype(str) to take them as classes"
    kind = type_of_target(y, input_name="y")
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"Unknown label type: {kind}. AutoSVC predicts classes; {remedy}")
    if y.dtype.kind in "iuf":
        values = np.unique(y).size
        if values > MOST_CLASSES and y.size < 4 * values:
            raise ValueError(
                f"y has {values} different numbers in {y.size} samples, so it looks like a "
                f"measurement, not like classes: {remedy}"
            )


def effort(strategy: str, size: int, samples: int, features: int) -> float:
    """The affordable fraction of a strategy's iterations: about ten seconds of training.

    They decrease with the power 1.5 of the samples, and with the root of more than 30 features.
    """
    if strategy not in ("posterior", "likelihood"):
        return 1.0
    evaluations = EVALUATIONS * min(1.0, (200.0 / samples) ** 1.5)
    evaluations *= min(1.0, np.sqrt(30 / features))
    return float(min(1.0, evaluations / (10_000.0 * np.sqrt(size))))
