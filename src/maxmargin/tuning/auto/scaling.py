"""Standardised inputs for the search, and kernels in the units of the original inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...kernels import Gaussian, Kernel, MetricGaussian
from ..base import Float


def standard_deviations(X: Any) -> Float:
    """The scale of each feature; 1 if it is constant."""
    if sparse.issparse(X):
        X = X if X.has_canonical_format else X.copy()  # SciPy brings it into form in place
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.power(2).mean(axis=0)).ravel()
        deviations = np.sqrt(np.maximum(square - mean**2, 0.0))
    else:
        deviations = X.std(axis=0, dtype=np.float64)
    # The standard deviation of a constant that is left by rounding.
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
    # ‖Bx/s‖ = ‖B'x‖ with B' = √(MᵀM), M = B/s, by an SVD of M: squaring would lose half the digits.
    _, values, vectors = np.linalg.svd(kernel.metric / scales)
    floor = np.finfo(np.float64).eps * values[0]
    return MetricGaussian(vectors.T * np.maximum(values, floor) @ vectors)
