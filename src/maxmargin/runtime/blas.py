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

C_INT = ir.IntType(32)


@cache
def address_of(name: str, module: str = "cython_blas") -> int:
    """Of a routine of SciPy's BLAS, or of its "cython_lapack"."""
    return int(get_cython_function_address(f"scipy.linalg.{module}", name))


def address_for(dtype: Any, name: str, module: str = "cython_blas") -> int:
    """The same for numbers of a type: "gemm" of float32 is sgemm."""
    return address_of(("s" if dtype == np.float32 else "d") + name, module)


@intrinsic
def call(_typing, address, arguments):  # type: ignore[no-untyped-def]
    """Call a routine with arrays, and with numbers by reference as it wants them: np.uint8 is a
    letter, other integers are C's int. Returns what is in the last argument if that is a number, as
    LAPACK's `info` is, else 0."""

    def codegen(context, builder, signature, values):  # type: ignore[no-untyped-def]
        byte, kinds = ir.IntType(8).as_pointer(), signature.args[1]
        pointers = []
        for kind, value in zip(kinds, cgutils.unpack_tuple(builder, values[1], len(kinds))):
            if isinstance(kind, types.Array):
                place = make_array(kind)(context, builder, value).data
            elif isinstance(kind, types.Integer) and kind.bitwidth > C_INT.width:
                place = cgutils.alloca_once_value(builder, builder.trunc(value, C_INT))
            else:
                place = cgutils.alloca_once_value(builder, value)
            pointers.append(builder.bitcast(place, byte))
        kind = ir.FunctionType(ir.VoidType(), [byte] * len(pointers))
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), pointers)
        if isinstance(kinds[-1], types.Array):
            return ir.Constant(C_INT, 0)
        return builder.load(place)

    return types.int32(address, arguments), codegen
