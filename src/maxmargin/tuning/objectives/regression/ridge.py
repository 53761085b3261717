"""Leave-one-out error of kernel ridge regression in closed form, with its exact gradient.

With A = K + λI, η = A⁻¹1 and C = A⁻¹ − ηηᵀ/1ᵀη (C = A⁻¹ without a bias) the coefficients are
β = Ct and the residual of sample i, left out, is e_i = β_i / C_ii. As dC = −C·dA·C,

    L = (1/n) Σ e_i²,    dL = Σ_ij G_ij dA_ij,
    G = (2/n) (C diag(e²/c) C − ½(βvᵀ + vβᵀ)),   v = C(e/c),  c = diag C
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from ....kernels.base import Inputs, count
from ...base import Evaluation, Float, Objective, Point


class RidgeLeaveOneOut(Objective[Point]):
    """Mean squared leave-one-out residual of `KernelRidge` with ``alpha = 1/C``.

    Parameters
    ----------
    X : inputs
    y : float array of shape (samples,) or (samples, targets)
    fit_intercept : bool

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Point, RidgeLeaveOneOut
    >>> x = np.linspace(-3, 3, 30)[:, None]
    >>> objective = RidgeLeaveOneOut(x, np.sin(x).ravel())
    >>> rough, smooth = (objective.value(Point(Gaussian(g), C=100.0)) for g in (100.0, 0.5))
    >>> bool(smooth < rough)
    True
    """

    def __init__(self, X: Inputs, y: ArrayLike, fit_intercept: bool = True) -> None:
        targets = np.asarray(y, dtype=np.float64)
        if targets.ndim not in (1, 2) or len(targets) != count(X):
            raise ValueError(
                f"y must have a row for each of the {count(X)} samples, got shape {targets.shape}"
            )
        if not np.isfinite(targets).all():
            raise ValueError("y contains NaN or infinity")
        self.X, self.targets = X, targets.reshape(len(targets), -1)
        self.fit_intercept = fit_intercept

    def evaluate(self, point: Point) -> Evaluation:
        K = np.array(point.kernel(self.X), dtype=np.float64)
        penalty = 1.0 / point.C
        C = inverse(K, penalty, self.fit_intercept) if np.isfinite(K).all() else None
        if C is None:
            return Evaluation(np.nan)
        c, beta = np.diagonal(C)[:, None], C @ self.targets
        residual = beta / c
        share = 1.0 / residual.size
        value = float(share * np.sum(residual * residual))
        spread = np.sum(residual * residual / c, axis=1)
        slope = C @ (residual / c)
        G = C @ (spread[:, None] * C) - 0.5 * (beta @ slope.T + slope @ beta.T)
        G *= 2.0 * share
        kernel_gradient = point.kernel.gradient(self.X, None, G)
        gradient = point.gradient(kernel_gradient, -penalty * float(np.trace(G)))
        return Evaluation(value, gradient)


def inverse(K: Float, penalty: float, intercept: bool) -> Float | None:
    """C, or None if K + λ is not positive definite in float64."""
    K[np.diag_indices(len(K))] += penalty
    factor, info = lapack.dpotrf(K.T, lower=1, overwrite_a=1)
    if info:
        return None
    C, info = lapack.dpotri(factor, lower=1, overwrite_c=1)
    if info:
        return None
    C = np.tril(C) + np.tril(C, -1).T
    if intercept:
        eta = C.sum(axis=1)
        C -= np.outer(eta, eta / eta.sum())
    return np.asarray(C)
