"""Classification that learns from a stream: `OnlineSVC`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..kernels import FromFunction, Kernel
from ..kernels.base import take
from ..solvers.online import POLICIES, OnlineSettings
from . import parameters as p
from .active_learning import STRATEGIES, ActiveLearner
from .certificates import Certificates
from .grams import single_is_enough
from .inputs import (
    checked_weights,
    is_function,
    is_precomputed,
    new_inputs,
    resolved_kernel,
    tag_inputs,
    training_inputs,
)
from .online_classes import ClassesOfStream, labels_of_stream
from .online_machines import Committee
from .online_state import SavedToFile
from .samples import Samples, distinct, size_in_bytes

# Inputs of more bytes are taken in the order of their content without being copied into it.
LARGEST_REORDERED = 1 << 24


class OnlineSVC(ClassifierMixin, ClassesOfStream, ActiveLearner, SavedToFile):
    """Support vector classification from a stream, the machine of `SVC` on the way to its optimum::

        ½‖w‖² + C Σ_i weight_i max(0, 1 − y_i f(x_i)) → min,   f(x) = ⟨w, φ(x)⟩ + b

    Each example is *processed* once, in a step of the dual problem with a partner from the support
    set, and forgotten unless it becomes a support vector. Each is followed by *reprocess* steps
    inside the support set, which also remove what has become useless. One pass is usually enough
    for the accuracy of `SVC`; many passes converge to its optimum.

    Parameters
    ----------
    C : float, default=1.0
        Price of an error, positive and finite.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, Kernel or callable, default="rbf"
        A callable gets two batches of inputs and returns their Gram block.
    degree, coef0
        As of `SVC`.
    gamma : {"scale", "auto"} or float, default="scale"
        As of `SVC`. With `partial_fit` "scale" is taken from the first batch and then kept, so
        give a number if that batch is small.
    tol : float, default=1e-3
        Smallest violation of the optimality conditions that a step is taken for, and the largest
        that `finish` leaves.
    epochs : int, default=1
        Passes of `fit`. Passes that would change nothing are left out.
    selection : {"second_order", "mvp"}, default="second_order"
        Whom an example is paired with: the partner of the largest gain, or of the largest
        violation.
    reprocess : int, default=1
        Steps inside the support set after each example.
    budget : int, default=None
        Largest number of support vectors of each machine, at least 2. When it is exceeded, the
        one whose removal costs the dual value least leaves and its coefficient goes to another.
        The result is an approximation: with a budget below the number of support vectors of the
        exact machine, no number of passes leads to the optimum.
    class_weight : dict or "balanced", default=None
        Factors on C of each class. "balanced" needs all samples at once: `fit` only.
    shuffle : bool, default=True
        Whether `fit` takes the samples in random order, a new one in every pass.
    querying : {"margin", "random", "auto"}, default="margin"
        What `query` and `fit_active` ask for: the samples nearest to the decision boundary, random
        ones, or the nearest among as many random ones as it takes to see a few inside the margin.
    precision : {"auto", "single", "double"}, default="auto"
        Of kernel rows. "auto" takes float32 for float32 inputs unless C is too large for it.
        `finish` works in float64 in any case.
    random_state : int, RandomState or None, default=None
        None stands for 0: every fit is repeatable.

    Attributes
    ----------
    certificate_ : Certificate or Certificates
        Of the last `finish` that was given data; gone once the model has changed.
    class_weight_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    dual_ : ndarray of shape (n_machines,)
        Dual values. Without a budget no example lowers them.
    dual_coef_ : ndarray of shape (n_machines, n_support_vectors)
        One machine for two classes, else one for each class against the rest.
    intercept_ : ndarray of shape (n_machines,)
    kernel_ : Kernel
    label_curve_ : LabelCurve
        After `fit_active`.
    machines_ : Committee
        The machines themselves, one `maxmargin.solvers.online.OnlineMachine` each.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    n_iter_ : ndarray of shape (n_machines,)
        Steps taken.
    n_seen_ : int
        Examples seen; the size of the pool after `fit_active`.
    status_ : str or list of str
        How `finish` ended.
    support_ : ndarray of shape (n_support_vectors,)
        Which example of the stream each support vector is: its index in `fit`, counted on by
        `partial_fit`.
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
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        epochs=1,
        selection="second_order",
        reprocess=1,
        budget=None,
        class_weight=None,
        shuffle=True,
        querying="margin",
        precision="auto",
        random_state=None,
    ):
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
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tag_inputs(tags.input_tags, self.kernel)
        return tags

    def _check_parameters(self) -> None:
        p.check_number(self, "C", 0)
        p.check_kernel(self)
        if is_precomputed(self.kernel):
            p.refuse(self, "kernel", "a kernel that can be computed for inputs yet to come")
        p.check_number(self, "degree", 0, closed="left", whole=True)
        p.check_gamma(self)
        p.check_number(self, "coef0")
        p.check_number(self, "tol", 0)
        p.check_number(self, "epochs", 1, closed="left", whole=True)
        p.check_option(self, "selection", tuple(POLICIES))
        p.check_number(self, "reprocess", 0, closed="left", whole=True)
        p.check_number(self, "budget", 2, closed="left", whole=True, optional=True)
        p.check_class_weight(self)
        p.check_boolean(self, "shuffle")
        p.check_option(self, "querying", STRATEGIES)
        p.check_option(self, "precision", ("auto", "single", "double"))
        check_random_state(self.random_state)

    def _seed(self) -> int:
        given = 0 if self.random_state is None else self.random_state
        if isinstance(given, int | np.integer):
            return int(given)
        return int(check_random_state(given).randint(2**31 - 1))

    # ---- learning --------------------------------------------------------------------------

    def fit(self, X, y, sample_weight=None):
        """Train on samples that are all at hand, in `epochs` passes.

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
        self._check_parameters()
        X, y = training_inputs(self, X, y)
        X, y = _without_frame(X), labels_of_stream(y)
        weight = checked_weights(sample_weight, y.size)
        codes, weight = self._begin_classes(y, weight)
        self._forget()
        small = size_in_bytes(X) <= LARGEST_REORDERED
        samples = distinct(X, codes, weight, ordered=bool(self.shuffle and small))
        self._begin(samples.X, samples.weight)
        self.n_seen_ = y.size
        self._passes(samples)
        return self

    def _passes(self, samples: Samples) -> None:
        random = np.random.default_rng(self._seed())
        codes = samples.y.astype(np.int64)
        bound = self._bound(codes, samples.weight)
        # A copy stands for all: the first of them gives its index.
        present = np.flatnonzero(samples.member >= 0)[::-1]
        number = np.empty(samples.size, dtype=np.int64)
        number[samples.member[present]] = present
        places = [np.full(samples.member.size, -1) for _ in self.machines_.machines]
        # Sorted by content, equal samples come in equal order, whatever order they were given in.
        order = np.argsort(samples.keys, kind="stable") if self.shuffle else np.arange(samples.size)
        for _ in range(self.epochs):
            steps = self.machines_.steps
            if self.shuffle:
                order = order[random.permutation(order.size)]
            self.machines_.learn(samples.X, codes, bound, number, places, order)
            if self.machines_.steps == steps:
                break

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from the next examples of a stream, each processed once in the order given.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All labels that will ever come. Needed in the first call, unless its y has them all.
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
            X = _without_frame(X)
        else:
            X = self._next_inputs(X)
        y = labels_of_stream(y, known=not first)
        check_consistent_length(X, y)
        self._accept_classes(y, classes, first)
        weight = checked_weights(sample_weight, y.size, may_vanish=True)
        if first:
            self._begin(X, np.ones(y.size))
            self.n_seen_ = 0
        codes = np.searchsorted(self.classes_, y)
        self._forget_end()
        number = self.n_seen_ + np.arange(y.size)
        self.machines_.learn(X, codes, self._bound(codes, weight), number)
        self.n_seen_ += y.size
        return self

    def finish(self, X=None, y=None, sample_weight=None, *, max_seconds=None):
        """Go on inside the support set until no pair violates optimality by more than `tol`.

        Parameters
        ----------
        X, y, sample_weight : optional
            Examples to certify the result against. `certificate_` then says how far the machine
            is from the optimum for these examples (together with those support vectors that are
            not among them), recomputed in float64.
        max_seconds : float, optional
            Time limit, without that of the certificate.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._forget_end()
        solutions = self.machines_.finish(self.tol, max_seconds)
        statuses = ["one class" if s is None else s.status for s in solutions]
        self.status_ = statuses[0] if len(statuses) == 1 else statuses
        if "interrupted" in statuses:
            raise KeyboardInterrupt("finish was interrupted; the model so far is kept")
        worst = max((s.violation for s in solutions if s and not s.converged), default=None)
        if worst is not None:
            warnings.warn(
                f"finish ended early ({', '.join(sorted(set(statuses)))}): the largest violation "
                f"is still {worst:.3g} instead of tol={self.tol:g}. Call finish again to go on.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if X is not None:
            self._certify(X, y, sample_weight)
        return self

    def _certify(self, X: Any, y: Any, sample_weight: Any) -> None:
        X, y = self._next_inputs(X), labels_of_stream(y, known=True)
        check_consistent_length(X, y)
        self._accept_classes(y, None, first=False)
        weight = checked_weights(sample_weight, y.size, may_vanish=True)
        codes = np.searchsorted(self.classes_, y)
        proofs = self.machines_.certificates(X, codes, self._bound(codes, weight))
        if len(proofs) == 1:
            self.certificate_ = proofs[0]
        else:
            names = tuple(f"{label} vs rest" for label in self.classes_)
            self.certificate_ = Certificates(names, tuple(proofs))

    def _next_inputs(self, X: Any) -> Any:
        return _without_frame(new_inputs(self, X, self.machines_.machines[0].inputs))

    def _begin(self, X: Any, weight: np.ndarray) -> None:
        """An untrained machine for inputs like these."""
        kernel = self.kernel
        self.kernel_ = (
            FromFunction(kernel) if is_function(kernel) else resolved_kernel(self, X, weight)
        )
        settings = OnlineSettings(self.selection, int(self.reprocess), float(self.tol), self.budget)
        dtype = self._rows_dtype(X, self.kernel_)
        self.machines_ = Committee.new(self.classes_.size, self.kernel_, settings, dtype)

    def _rows_dtype(self, X: Any, kernel: Kernel) -> Any:
        if self.precision != "auto":
            return np.float32 if self.precision == "single" else np.float64
        single = getattr(X, "dtype", None) == np.float32
        enough = single and single_is_enough(kernel, X, float(self.C), float(self.tol))
        return np.float32 if enough else np.float64

    def _forget(self) -> None:
        for name in ("machines_", "n_seen_", "label_curve_"):
            vars(self).pop(name, None)
        self._forget_end()

    def _forget_end(self) -> None:
        """What `finish` told no longer holds."""
        for name in ("certificate_", "status_"):
            vars(self).pop(name, None)

    # ---- the fitted function ---------------------------------------------------------------

    def decision_function(self, X):
        """The functions whose signs decide.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        values = self.machines_.values(self._next_inputs(X))
        return values.ravel() if self.classes_.size == 2 else values

    def predict(self, X):
        """The class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[winners(self.decision_function(X))]

    @property
    def support_vectors_(self) -> Any:
        function = self.machines_.function()
        return take(function.inputs, function.used())

    @property
    def support_(self) -> np.ndarray:
        function = self.machines_.function()
        return function.number[function.used()]

    @property
    def dual_coef_(self) -> np.ndarray:
        function = self.machines_.function()
        return function.coef[:, function.used()]

    @property
    def intercept_(self) -> np.ndarray:
        return self.machines_.function().intercept

    @property
    def dual_(self) -> np.ndarray:
        return np.array([machine.dual for machine in self.machines_.machines])

    @property
    def n_iter_(self) -> np.ndarray:
        return np.array([machine.steps for machine in self.machines_.machines])


def winners(values: np.ndarray) -> np.ndarray:
    """The code of the class that decisions are for."""
    return (values >= 0).astype(np.intp) if values.ndim == 1 else np.argmax(values, axis=1)


def _without_frame(X: Any) -> Any:
    return X.to_numpy() if hasattr(X, "iloc") else X
