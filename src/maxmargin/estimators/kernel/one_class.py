"""Novelty detection: `OneClassSVM` tells where most of the samples are."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from ...dual import Machine, one_class
from .. import parameters as p
from .single import SingleMachine

# Many training samples lie exactly on the boundary: what rounding makes of 0, relative to ρ.
ON_BOUNDARY = 1e-8


class OneClassSVM(OutlierMixin, SingleMachine):  # type: ignore[misc]
    """The half-space with most of the samples, furthest from the origin::

        ½‖w‖² − ν·Σweight·ρ + Σ_i weight_i max(0, ρ − ⟨w, φ(x_i)⟩) → min over w and ρ

    The fraction of training samples outside is at most ν, that of support vectors at least ν.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, gap
        As of `SVC`.
    nu : float, default=0.5
        In (0, 1].
    shrinking, cache_size, verbose, max_iter, solver, selection, planning, precision, max_seconds, \
warm_start, callback
        As of `SVC`.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        ρ: ``decision_function = score_samples - offset_``.
    certificate_, status_, solution_, coef_, dual_coef_, fit_status_, intercept_, kernel_, \
n_features_in_, feature_names_in_, n_iter_, n_support_, shape_fit_, support_, support_vectors_
        As of `SVR`.

    Examples
    --------
    >>> from maxmargin import OneClassSVM
    >>> model = OneClassSVM(gamma=0.5).fit([[0.0], [0.44], [0.45], [0.46], [1.0]])
    >>> model.predict([[0.45], [5.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        tol: Any = 1e-3,
        gap: Any = 1e-4,
        nu: Any = 0.5,
        shrinking: Any = True,
        cache_size: Any = "auto",
        verbose: Any = False,
        max_iter: Any = -1,
        solver: Any = "auto",
        selection: Any = "second_order",
        planning: Any = 0,
        precision: Any = "auto",
        max_seconds: Any = None,
        warm_start: Any = False,
        callback: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.gap = gap
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.solver = solver
        self.selection = selection
        self.planning = planning
        self.precision = precision
        self.max_seconds = max_seconds
        self.warm_start = warm_start
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix, of shape (n_samples, n_samples). For a
            callable or a kernel on other things (sequences), a list of these.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        del y
        fitted: Self = self._fit(X, None, sample_weight)
        return fitted

    @property
    def _has_free_intercept(self) -> bool:
        return False

    _rules: ClassVar[Any] = {"nu": partial(p.check_number, low=0, high=1, closed="right")}

    def _targets(self, y: Any, weight: np.ndarray) -> tuple[None, np.ndarray]:
        del y
        return None, weight

    def _machine(self, targets: Any, weight: Any) -> Machine:
        del targets
        return one_class(weight, self.nu)

    def _write(self, X: Any, samples: Any, tasks: Any, outcomes: Any) -> None:
        super()._write(X, samples, tasks, outcomes)
        self.offset_ = -self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive inside, negative outside, 0 (up to rounding, and then exactly) on the boundary.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self._values(X).ravel()
        values[np.abs(values) <= ON_BOUNDARY * np.abs(self.offset_)] = 0.0
        return values

    def score_samples(self, X: Any) -> np.ndarray:
        """⟨w, φ(x)⟩, the decision function without its offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        result: np.ndarray = self.decision_function(X) + self.offset_
        return result

    def predict(self, X: Any) -> np.ndarray:
        """+1 for samples inside or on the boundary, -1 for those outside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
