"""LAPACK's Cholesky factor from compiled code."""

import numba
import numpy as np
from scipy.linalg.lapack import dpotrf

from .blas import address_of, call
from .jit import inlined

POTRF = address_of("dpotrf", "cython_lapack")
LOWER = np.uint8(ord("L"))


@inlined
def lapack_factor(address, R):
    """R ← its upper Cholesky factor, using only entries on and right of the diagonal; returns
    whether it is positive definite."""
    # In Fortran order it is the lower factor of the transpose.
    size = R.shape[0]
    return call(address, (LOWER, size, R, size, 0)) == 0


if numba.config.DISABLE_JIT:

    def lapack_factor(_address, R):
        factor, info = dpotrf(R.T, lower=1, clean=0)
        R[...] = factor.T
        return info == 0
