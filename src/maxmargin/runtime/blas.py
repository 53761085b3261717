"""BLAS and LAPACK from compiled code, which gets the address of a routine as a number.

A number, because compiled code that holds the address itself could not be kept on disk.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import get_cython_function_address, intrinsic
from numba.np.arrayobj import make_array


@cache
def address_of(name: str, module: str = "cython_blas") -> int:
    """Of a routine of SciPy's BLAS, or of its "cython_lapack"."""
    return int(get_cython_function_address(f"scipy.linalg.{module}", name))


def address_for(dtype: Any, name: str, module: str = "cython_blas") -> int:
    """The same for numbers of a type: "gemm" of float32 is sgemm."""
    return address_of(("s" if dtype == np.float32 else "d") + name, module)


@intrinsic
def call(_typing, address, arguments):  # type: ignore[no-untyped-def]
    """Call a routine with the first entries of arrays, by reference as it wants them."""

    def codegen(context, builder, signature, values):  # type: ignore[no-untyped-def]
        pointer = ir.IntType(8).as_pointer()
        arrays = cgutils.unpack_tuple(builder, values[1], len(signature.args[1]))
        pointers = [
            builder.bitcast(make_array(kind)(context, builder, array).data, pointer)
            for kind, array in zip(signature.args[1], arrays)
        ]
        kind = ir.FunctionType(ir.VoidType(), [pointer] * len(pointers))
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(address, arguments), codegen
