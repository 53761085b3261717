"""LAPACK's Cholesky factor from compiled code, which gets the address of the function as a number.

A number, because compiled code that holds the address itself could not be kept on disk.
"""

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import get_cython_function_address, intrinsic
from numba.np.arrayobj import make_array
from scipy.linalg.lapack import dpotrf

from ..compiled import compiled

POTRF = get_cython_function_address("scipy.linalg.cython_lapack", "dpotrf")
LOWER = ord("L")


@intrinsic
def call(_typing, address, letter, order, matrix, info):
    """dpotrf(letter, order, matrix, order, info), each the first entry of an array."""

    def codegen(context, builder, signature, values):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * 5)
        arrays = [
            builder.bitcast(make_array(of)(context, builder, value).data, pointer)
            for of, value in zip(signature.args[1:], values[1:])
        ]
        letter, order, matrix, info = arrays
        function = builder.inttoptr(values[0], kind.as_pointer())
        builder.call(function, [letter, order, matrix, order, info])
        return context.get_dummy_value()

    return types.void(address, letter, order, matrix, info), codegen


@compiled
def lapack_factor(address, R):
    """R ← its upper Cholesky factor, reading and writing what is right of the diagonal; whether
    it is positive definite."""
    # In the order of Fortran it is the lower factor of the transpose.
    letter, order = np.full(1, LOWER, np.uint8), np.full(1, R.shape[0], np.int32)
    info = np.zeros(1, np.int32)
    call(address, letter, order, R, info)
    return info[0] == 0


if numba.config.DISABLE_JIT:

    def lapack_factor(_address, R):
        factor, info = dpotrf(R.T, lower=1, clean=0)
        R[...] = factor.T
        return info == 0
