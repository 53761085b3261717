"""Positive definite systems: Cholesky factors that survive rounding."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from .losses import Float


def factor(A: Float) -> Float:
    """Cholesky factor in the lower triangle, with the diagonal raised where rounding needs it."""
    result, info = lapack.dpotrf(A, lower=1, clean=0)
    lift = 1e-14
    while info != 0:
        lifted = A.copy(order="F")
        lifted[np.diag_indices_from(A)] *= 1.0 + lift
        result, info = lapack.dpotrf(lifted, lower=1, clean=0, overwrite_a=1)
        lift *= 100.0
    return result


def factored_solve(factored: Float, right: Float) -> Float:
    return lapack.dpotrs(factored, right, lower=1)[0]


def solve(A: Float, right: Float) -> Float:
    """A⁻¹ right."""
    return factored_solve(factor(A), right) if right.size else right
