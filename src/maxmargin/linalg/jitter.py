"""Positive definite systems: Cholesky factors that survive rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Float = NDArray[np.float64]


# Relative shifts of the diagonal, tried in this order; with the last one only a matrix with
# non-finite entries has no factor.
LIFTS = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e8, 1e16)


def factor(A: Float) -> Float:
    """Cholesky factor in the lower triangle, with the diagonal shifted if rounding requires it.

    If no factor exists (the matrix has overflowed), the identity is returned.
    """
    result: Float
    result, info = lapack.dpotrf(A, lower=1, clean=0)
    for lift in LIFTS:
        if info == 0:
            return result
        lifted = A.copy(order="F")
        size = np.abs(np.diag(A))
        lifted[np.diag_indices_from(A)] += lift * (size + 1e-16 * size.max())
        result, info = lapack.dpotrf(lifted, lower=1, clean=0, overwrite_a=1)
    return result if info == 0 else np.eye(A.shape[0], order="F")


def factored_solve(factored: Float, right: Float) -> Float:
    x: Float = lapack.dpotrs(factored, right, lower=1)[0]
    return x


def solve(A: Float, right: Float) -> Float:
    """A⁻¹ right."""
    return factored_solve(factor(A), right) if right.size else right
