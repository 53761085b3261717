"""LAPACK's Cholesky factor from compiled code."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

from .blas import address_of, call
from .jit import inlined

POTRF = address_of("dpotrf", "cython_lapack")
LOWER = np.uint8(ord("L"))


def _factor(address: int, R: NDArray[np.float64]) -> bool:
    """R ← its upper Cholesky factor, using only entries on and right of the diagonal; returns
    whether it is positive definite."""
    # In Fortran order it is the lower factor of the transpose.
    size = R.shape[0]
    info: int = call(address, (LOWER, size, R, size, 0))
    return info == 0


def _factor_by_scipy(_address: int, R: NDArray[np.float64]) -> bool:
    factor, info = dpotrf(R.T, lower=1, clean=0)
    R[...] = factor.T
    return bool(info == 0)


lapack_factor = _factor_by_scipy if numba.config.DISABLE_JIT else inlined(_factor)
