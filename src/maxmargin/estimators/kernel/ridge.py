"""Kernel ridge regression: `KernelRidge`, for one target or several."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length

from ...solvers.ridge.solver import RidgeSolution
from ...solvers.ridge.system import RidgeSystem
from .. import parameters as p
from ..distinct import Samples
from .least_squares import Functions, LeastSquaresMachine


class KernelRidge(RegressorMixin, LeastSquaresMachine):  # type: ignore[misc]
    """Least squares with a penalty on the norm of the function::

        ½ Σ_i weight_i (y_i − f(x_i))² + ½ alpha ‖w‖² → min,   f(x) = ⟨w, φ(x)⟩ + b

    All targets share one linear system. It is solved directly where memory allows, else by
    preconditioned conjugate gradients, in both cases to a duality gap that is computed from the
    model as delivered.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, not negative. 0 is the limit of small ones: of all functions with
        the least squared error, that of least norm (generalised inverse).
    kernel, degree, gamma, coef0
        As of `SVC`.
    fit_intercept : bool, default=True
        Whether b is free; else it is 0, as in scikit-learn's `KernelRidge`.
    gap : float, default=1e-12
        Largest duality gap at the end, relative to the objective; values of the
        function are then within about the square root of it.
    leave_one_out : bool, default=False
        Compute `loo_residuals_`; it takes about as long as the fit again.
    cache_size : float or "auto", default="auto"
        Megabytes that the Gram matrix may take; "auto" is half of the free memory.
    verbose, max_seconds, callback
        As of `SVC`.

    Attributes
    ----------
    certificate_ : Certificate, or Certificates of several targets
        Of the objective above.
    status_ : str
    dual_coef_ : ndarray of shape (n_targets, n_support_vectors)
    intercept_ : ndarray of shape (n_targets,)
    loo_residuals_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        y_i − f(x_i) of the machine trained without sample i (NaN for samples without weight), with
        ``leave_one_out=True``.
    method_ : {"cholesky", "mixed", "iterative", "spectrum"}
        How the system was solved.
    n_iter_ : int
        Conjugate gradient steps.
    coef_, fit_status_, kernel_, n_features_in_, feature_names_in_, n_support_, shape_fit_, \
support_, support_vectors_
        As of `SVR`.

    Examples
    --------
    >>> from maxmargin import KernelRidge
    >>> model = KernelRidge(alpha=2.0, kernel="linear").fit([[-1.0], [0.0], [1.0]], [0, 1, 2])
    >>> model.predict([[2.0]]).round(6)
    array([2.])
    >>> model.status_, round(model.certificate_.primal, 6)
    ('converged', 0.5)
    """

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "rbf",
        degree: Any = 3,
        gamma: Any = "scale",
        coef0: Any = 0.0,
        fit_intercept: Any = True,
        gap: Any = 1e-12,
        leave_one_out: Any = False,
        cache_size: Any = "auto",
        verbose: Any = False,
        max_seconds: Any = None,
        callback: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.gap = gap
        self.leave_one_out = leave_one_out
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_seconds = max_seconds
        self.callback = callback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples with target values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the Gram matrix, of shape (n_samples, n_samples). For a
            callable or a kernel on other things (sequences), a list of these.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 3 counts as three copies of the sample, a weight of 0 (or below) as none.

        Returns
        -------
        self
        """
        fitted: Self = self._fit(X, y, sample_weight)
        return fitted

    _rules: ClassVar[Any] = {"alpha": partial(p.check_number, low=0, closed="left")}

    def _penalty(self) -> float:
        return float(self.alpha)

    def _coded(self, y: Any, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        targets = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        check_consistent_length(targets, weight)
        if targets.ndim > 2 or (targets.ndim == 2 and not targets.shape[1]):
            raise ValueError(f"y must have one or two dimensions, got shape {targets.shape}")
        self._one_target_ = targets.ndim == 1
        if self._one_target_:
            self._rows_ = None
            return targets, weight
        self._rows_, codes = np.unique(targets, axis=0, return_inverse=True)
        return codes.ravel().astype(np.float64), weight

    def _functions_of(self, codes: np.ndarray) -> Functions:
        targets = codes[:, None] if self._rows_ is None else self._rows_[codes.astype(np.intp)]
        del self._rows_
        names = tuple(f"target {k}" for k in range(targets.shape[1]))
        return Functions(np.ascontiguousarray(targets), names)

    def _left_out(
        self, samples: Samples, system: RidgeSystem, solution: RidgeSolution
    ) -> np.ndarray:
        residuals = super()._left_out(samples, system, solution)
        return residuals[:, 0] if self._one_target_ else residuals

    def predict(self, X: Any) -> np.ndarray:
        """The value of the function at each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or (n_samples, n_training_samples) for ``kernel="precomputed"``, of which only the
            columns in `support_` matter.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        values = self._values(X)
        return values[:, 0] if self._one_target_ else values
