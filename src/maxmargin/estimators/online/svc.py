"""Classification that learns from a stream: `OnlineSVC`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from ...kernels.base import count
from ...solvers.online.machine import POLICIES
from .. import parameters as p
from ..certificates import Certificates
from ..distinct import chosen
from ..inputs import checked_weights, is_precomputed, tag_inputs, training_inputs
from ..progress import Clock
from ..template import blank, take_over
from ..warn import warn_caller
from .active import STRATEGIES, LabelledPool, queried
from .classes import (
    factors_of,
    first_classes,
    labels_of_stream,
    refuse_new_classes,
    refuse_other_classes,
)
from .progress import Pace, QuietReporter, warn_early
from .training import TrainedOnline, one_or_all, without_frame


def check_kernel_of_stream(owner: Any, name: str) -> None:
    p.check_kernel(owner, name)
    if is_precomputed(getattr(owner, name)):
        p.refuse(owner, name, "a kernel that can be evaluated at new inputs")


class OnlineSVC(ClassifierMixin, TrainedOnline):  # type: ignore[misc]
    """Support vector classification from a stream, which converges to the optimum of `SVC`::

        ½‖w‖² + C Σ_i weight_i max(0, 1 − y_i f(x_i)) → min,   f(x) = ⟨w, φ(x)⟩ + b

    Each example is *processed* once, in a step of the dual problem with a partner from the support
    set, and discarded unless it becomes a support vector. It is followed by *reprocess* steps
    inside the support set, which also remove vectors that are no longer needed. One pass is usually
    enough for the accuracy of `SVC`; many passes converge to its optimum.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error, positive and finite.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, Kernel or callable, default="rbf"
        A callable takes two batches of inputs and returns their Gram block.
    degree, coef0
        As of `SVC`.
    gamma : {"scale", "auto"} or float, default="scale"
        As of `SVC`. With `partial_fit` "scale" is computed from the first batch and then kept, so
        set a number if that batch is small.
    tol : float, default=1e-3
        Smallest violation of the optimality conditions that triggers a step, and the largest that
        `finish` leaves.
    epochs : int, default=1
        Passes of `fit`. Passes that would change nothing are skipped.
    selection : {"second_order", "mvp"}, default="second_order"
        The partner of an example: the one with the largest gain, or with the largest violation.
    reprocess : int, default=1
        Steps inside the support set after each example.
    budget : int, default=None
        Largest number of support vectors of each machine, at least 2. When it is exceeded, the
        one whose removal decreases the dual value least is removed and its coefficient transferred
        to another. The result is an approximation: with a budget below the number of support
        vectors of the exact machine, no number of passes leads to the optimum.
    class_weight : dict or "balanced", default=None
        Factors on C of each class. "balanced" needs all samples at once: `fit` only.
    shuffle : bool, default=True
        Whether `fit` takes the samples in random order, a new one in every pass.
    querying : {"margin", "random", "auto"}, default="margin"
        Samples whose labels `query` and `fit_active` request: those nearest to the decision
        boundary, random ones, or the nearest of a random subset that is large enough to contain a
        few inside the margin.
    precision : {"auto", "single", "double"}, default="auto"
        Of kernel rows. "auto" uses float32 for float32 inputs unless C is too large for it.
        `finish` always works in float64.
    max_seconds : float, default=None
        Time limit for `fit`, `fit_active` and `finish`.
    callback : callable, default=None
        Called in between by `fit` and `fit_active` with a
        `maxmargin.estimators.online.svc.progress.OnlineProgress`, by `finish` with a
        `maxmargin.solvers.Progress`; returning true ends them.
    verbose : bool or int, default=False
        Whether to show one live line on the terminal.
    random_state : int, RandomState or None, default=None
        None stands for 0: fits are repeatable.

    Attributes
    ----------
    certificate_ : Certificate or Certificates
        Of the last `finish` with data; removed when the model changes.
    class_weight_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    dual_ : ndarray of shape (n_machines,)
        Dual values. Without a budget no example decreases them.
    dual_coef_ : ndarray of shape (n_machines, n_support_vectors)
        One machine for two classes, else one for each class against the rest.
    intercept_ : ndarray of shape (n_machines,)
    kernel_ : Kernel
    label_curve_ : LabelCurve
        After `fit_active`.
    machines_ : Committee
        The machines themselves, one `maxmargin.solvers.online.machine.OnlineMachine` each.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    n_iter_ : ndarray of shape (n_machines,)
        Steps taken.
    n_seen_ : int
        Examples seen: in the stream, in `fit`, or the size of the pool of `fit_active`.
    status_ : str or list of str
        How the last training of each machine ended. `fit`: "epochs" after all passes, "converged"
        if one of them changed nothing and no example violates optimality by more than `tol`,
        "precision" if one does, for kernel values are rounded;
        "time_limit", "stopped" by the callback, "interrupted". `finish`: as of
        `maxmargin.solvers.Solution`, or "one class". `fit_active`: the reason in `label_curve_`.
        `partial_fit` has none.
    support_ : ndarray of shape (n_support_vectors,)
        Index of each support vector in the stream: its index in `fit`, continued by `partial_fit`.
    support_vectors_ : array, sparse matrix or list

    References
    ----------
    Bordes, Ertekin, Weston, Bottou (2005), Fast kernel classifiers with online and active
    learning; Glasmachers, Igel (2008), Second-order SMO improves SVM online and active learning.

    Examples
    --------
    >>> from maxmargin import OnlineSVC
    >>> model = OnlineSVC(kernel="linear")
    >>> model = model.partial_fit([[-2.0], [-1.0]], ["left", "left"], classes=["left", "right"])
    >>> model = model.partial_fit([[1.0], [2.0]], ["right", "right"])
    >>> model.predict([[-0.5], [3.0]])
    array(['left', 'right'], dtype='<U5')
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["left", "left", "right", "right"]
    >>> model.finish(X, y).certificate_
    Certificate(primal=0.5, dual=0.5, relative gap 0.0e+00, violation 0.0e+00)
    """

    def __init__(
        self,
        *,
        C: Any = 1.0,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        tol: Any = 1e-3,
        epochs: Any = 1,
        selection: Any = "second_order",
        reprocess: Any = 1,
        budget: Any = None,
        class_weight: Any = None,
        shuffle: Any = True,
        querying: Any = "margin",
        precision: Any = "auto",
        max_seconds: Any = None,
        callback: Any = None,
        verbose: Any = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.epochs = epochs
        self.selection = selection
        self.reprocess = reprocess
        self.budget = budget
        self.class_weight = class_weight
        self.shuffle = shuffle
        self.querying = querying
        self.precision = precision
        self.max_seconds = max_seconds
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tag_inputs(tags.input_tags, self.kernel)
        return tags

    _rules: ClassVar[Any] = {
        "C": partial(p.check_number, low=0),
        "kernel": check_kernel_of_stream,
        "degree": partial(p.check_number, low=0, closed="left", whole=True),
        "gamma": p.check_gamma,
        "coef0": p.check_number,
        "tol": partial(p.check_number, low=0),
        "epochs": partial(p.check_number, low=1, closed="left", whole=True),
        "selection": partial(p.check_option, options=tuple(POLICIES)),
        "reprocess": partial(p.check_number, low=0, closed="left", whole=True),
        "budget": partial(p.check_number, low=2, closed="left", whole=True, optional=True),
        "class_weight": p.check_class_weight,
        "shuffle": p.check_boolean,
        "querying": partial(p.check_option, options=STRATEGIES),
        "precision": partial(p.check_option, options=("auto", "single", "double")),
        "max_seconds": partial(p.check_number, low=0, closed="right", optional=True),
        "callback": p.check_callable,
        "verbose": p.check_verbose,
        "random_state": p.check_seed,
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples in memory, in `epochs` passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For a kernel on other things (sequences), a list of these.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        fitted: Self = self._fit(X, y, sample_weight)
        return fitted

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next examples of a stream, each processed once in the order given.

        After Ctrl-C `n_seen_` is the number of examples learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All labels that can occur. Needed in the first call, unless its y has them all.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ValueError(
                'class_weight="balanced" needs all samples at once: use fit, or give partial_fit '
                "a dict of weights"
            )
        first = not hasattr(self, "machines_")
        if first:
            X, y = training_inputs(self, X, y)
            X = without_frame(X)
        else:
            X = self._next_inputs(X)
        y = labels_of_stream(y, known=not first)
        check_consistent_length(X, y)
        weight = checked_weights(sample_weight, y.size, may_vanish=True)
        if first:
            self.classes_ = first_classes(y, classes)
            self.class_weight_ = factors_of(self.class_weight, self.classes_)
            self._begin(X, np.ones(y.size))
            self.n_seen_ = 0
        else:
            refuse_other_classes(classes, self.classes_)
            refuse_new_classes(y, self.classes_)
            self._refuse_overflow(X)
        codes = np.searchsorted(self.classes_, y)
        self._forget_end()
        number = self.n_seen_ + np.arange(y.size)
        lesson = self.machines_.learn(X, codes, self._bound(codes, weight), number)
        if lesson.ended:
            self.n_seen_ += lesson.last + 1
            raise KeyboardInterrupt(
                f"partial_fit was interrupted after {lesson.last + 1} of {y.size} examples; the "
                "model learned from these is kept"
            )
        self.n_seen_ += y.size
        return self

    def finish(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, max_seconds: Any = None
    ) -> Self:
        """Optimise inside the support set until no pair violates optimality by more than `tol`.

        Parameters
        ----------
        X, y, sample_weight : optional
            Examples to certify the result for. `certificate_` then states how far the machine is
            from the optimum for these examples (together with support vectors that are not among
            them), recomputed in float64.
        max_seconds : float, optional
            Time limit, not counting the certificate; None stands for the parameter `max_seconds`.

        Returns
        -------
        self
        """
        check_is_fitted(self, "machines_")
        self._check_parameters()
        limit = self.max_seconds if max_seconds is None else max_seconds
        examples = None if X is None else self._known_examples(X, y, sample_weight)
        self._forget_end()
        with QuietReporter(self) as reporter:
            names = self._names()
            reporter.begin(len(names))
            solutions, rest = self.machines_.finish(
                self.tol, Clock(limit), lambda place: reporter.listen(place, names[place])
            )
        statuses = ["one class" if s is None else s.status for s in solutions]
        statuses += [rest] * (len(names) - len(solutions))
        self.status_ = one_or_all(statuses)
        if rest == "interrupted":
            raise KeyboardInterrupt("finish was interrupted; the model so far is kept")
        early = sorted(set(statuses) - {"converged", "stationary", "one class"})
        if early:
            worst = max(machine.violation for machine in self.machines_.machines)
            warn_caller(
                f"finish ended early ({', '.join(early)}): the largest violation is still "
                f"{worst:.3g} instead of tol={self.tol:g}. Call finish again to go on.",
                ConvergenceWarning,
            )
        if examples is not None:
            proofs = self.machines_.certificates(*examples)
            together = Certificates(tuple(names), tuple(proofs))
            self.certificate_ = proofs[0] if len(proofs) == 1 else together
        return self

    def query(self, pool: Any, k: Any = 1) -> np.ndarray:
        """The samples whose labels are most informative.

        Parameters
        ----------
        pool : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without labels.
        k : int
            How many to choose.

        Returns
        -------
        ndarray of min(k, n_samples) indices, the most informative first
            An untrained model returns random indices.
        """
        self._check_parameters()
        trained = hasattr(self, "machines_")
        X = self._next_inputs(pool) if trained else pool
        return queried(self, X, np.arange(count(X)), int(k), trained)[0]

    def fit_active(
        self,
        pool: Any,
        oracle: Callable[[np.ndarray], Any],
        *,
        max_labels: Any = None,
        batch_size: Any = None,
        test: Any = None,
    ) -> Self:
        """Train on a pool of samples whose labels are requested in batches.

        It starts with random samples, continues with those of `query`, and ends when no unlabelled
        sample lies inside the margin, when `max_labels` are used or when the pool is empty. All
        labelled samples are processed again after each batch. After Ctrl-C, also during a call of
        the oracle, the model learned from the labels so far is kept.

        Parameters
        ----------
        pool : {array-like, sparse matrix} of shape (n_samples, n_features)
        oracle : callable
            Takes an array of indices into the pool, returns their labels.
        max_labels : int, optional
            None stands for all of them.
        batch_size : int, optional
            Labels requested at a time; None stands for a hundredth of the pool, at least 10.
        test : tuple (X, y), optional
            Samples on which the accuracy in `label_curve_` is measured.

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ValueError('class_weight="balanced" needs all labels: give a dict of weights')
        model = blank(self)
        X, _ = training_inputs(model, pool, None)
        X = without_frame(X)
        size = count(X)
        limit = size if max_labels is None else min(int(max_labels), size)
        batch = max(10, size // 100) if batch_size is None else int(batch_size)
        if limit < 1 or batch < 1:
            raise ValueError(
                f"max_labels and batch_size must be at least 1, got {max_labels}, {batch_size}"
            )
        with QuietReporter(self) as reporter:
            reporter.begin(1)
            pace = Pace(Clock(self.max_seconds), reporter.listen(0, type(self).__name__))
            curve = LabelledPool(model, X, oracle, pace).course(limit, batch, test)
        model.n_seen_, model.label_curve_, model.status_ = size, curve, curve.reason
        take_over(self, model)
        if curve.reason == "interrupted":
            raise KeyboardInterrupt("fit_active was interrupted; the model so far is kept")
        if curve.reason in ("time_limit", "stopped"):
            warn_early(self, curve.reason, f"{curve.asked.size:,} labels were used.")
        return self

    def _names(self) -> list[str]:
        """The names of the machines."""
        if self.classes_.size == 2:
            return [type(self).__name__]
        return [f"{label} vs rest" for label in self.classes_]

    def _known_examples(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """Inputs, codes of the classes and bounds of examples whose classes are known."""
        X, y = self._next_inputs(X), labels_of_stream(y, known=True)
        check_consistent_length(X, y)
        weight = checked_weights(sample_weight, y.size, may_vanish=True)
        if not weight.all():
            X, y, weight = chosen(X, np.flatnonzero(weight)), y[weight > 0], weight[weight > 0]
        refuse_new_classes(y, self.classes_)
        codes = np.searchsorted(self.classes_, y)
        return X, codes, self._bound(codes, weight)
