"""Classification by least squares: `LeastSquaresSVC`."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d

from .. import parameters as p
from ..decisions import LargestDecides
from ..targets import class_targets
from .least_squares import Functions, LeastSquaresMachine


class LeastSquaresSVC(LargestDecides, ClassifierMixin, LeastSquaresMachine):  # type: ignore[misc]
    """The least-squares support vector machine::

        ½‖w‖² + C Σ_i weight_i (y_i − f(x_i))² → min,   f(x) = ⟨w, φ(x)⟩ + b,   y = ±1

    It is the machine with squared hinge loss without the condition ξ ≥ 0, and kernel ridge
    regression of the labels with penalty 1/(2C). Nearly all samples are support vectors. More than
    two classes are one against the rest, which share one linear system. The certificate is that of
    the objective divided by 2C.

    Parameters
    ----------
    C : float, default=1.0
        Price of an error, positive. (The literature writes C/2: its C is twice this one.)
    kernel, degree, gamma, coef0, class_weight
        As of `SVC`.
    fit_intercept, gap, leave_one_out, cache_size, verbose, max_seconds, callback
        As of `KernelRidge`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_weight_ : ndarray of shape (n_classes,)
    dual_coef_ : ndarray of shape (n_functions, n_support_vectors)
        One function for two classes, positive for ``classes_[1]``; one for each class for more.
    intercept_ : ndarray of shape (n_functions,)
    loo_residuals_ : ndarray of shape (n_samples, n_functions)
        With ``leave_one_out=True``.
    certificate_, status_, method_, n_iter_, coef_, fit_status_, kernel_, n_features_in_, \
feature_names_in_, n_support_, shape_fit_, support_, support_vectors_
        As of `KernelRidge`.

    References
    ----------
    Suykens, Vandewalle: Least squares support vector machine classifiers (1999).

    Examples
    --------
    >>> from maxmargin import LeastSquaresSVC
    >>> model = LeastSquaresSVC(kernel="linear").fit([[-1.0], [-0.5], [0.5], [1.0]], [0, 0, 1, 1])
    >>> model.predict([[-2.0], [0.3]])
    array([0, 1])
    """

    def __init__(
        self,
        C: Any = 1.0,
        *,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        class_weight: Any = None,
        fit_intercept: Any = True,
        gap: Any = 1e-12,
        leave_one_out: Any = False,
        cache_size: Any = "auto",
        verbose: Any = False,
        max_seconds: Any = None,
        callback: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.gap = gap
        self.leave_one_out = leave_one_out
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.callback = callback

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on labelled samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix, of shape (n_samples, n_samples). For a
            callable or a kernel on other things (sequences), a list of these.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        fitted: Self = self._fit(X, y, sample_weight)
        return fitted

    _rules: ClassVar[Any] = {
        "C": partial(p.check_number, low=0),
        "class_weight": p.check_class_weight,
    }

    def _penalty(self) -> float:
        return 0.5 / float(self.C)

    def _coded(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = column_or_1d(y, warn=True)
        check_consistent_length(y, weight)
        found = class_targets(y, weight, self.class_weight)
        self.classes_, self.class_weight_ = found.classes, found.factors
        return found.codes.astype(np.float64), found.weight

    def _factors(self, codes: np.ndarray) -> np.ndarray:
        return self.class_weight_[codes.astype(np.intp)]

    def _functions_of(self, codes: np.ndarray) -> Functions:
        labels = self.classes_
        if labels.size == 2:
            return Functions(2.0 * codes[:, None] - 1.0, (f"{labels[1]} vs {labels[0]}",))
        targets = np.where(codes[:, None] == np.arange(labels.size), 1.0, -1.0)
        return Functions(targets, tuple(f"{label} vs rest" for label in labels))
