"""LAPACK's Cholesky factor from compiled code."""

import numba
import numpy as np
from scipy.linalg.lapack import dpotrf

from .blas import address_of, call
from .jit import compiled

POTRF = address_of("dpotrf", "cython_lapack")
LOWER = ord("L")


@compiled
def lapack_factor(address, R):
    """R ← its upper Cholesky factor, reading and writing what is right of the diagonal; whether
    it is positive definite."""
    # In the order of Fortran it is the lower factor of the transpose.
    letter, order = np.full(1, LOWER, np.uint8), np.full(1, R.shape[0], np.int32)
    info = np.zeros(1, np.int32)
    call(address, (letter, order, R, order, info))
    return info[0] == 0


if numba.config.DISABLE_JIT:

    def lapack_factor(_address, R):
        factor, info = dpotrf(R.T, lower=1, clean=0)
        R[...] = factor.T
        return info == 0
