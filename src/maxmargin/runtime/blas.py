"""BLAS and LAPACK from compiled code, which receives the address of a routine as an integer.

Compiled code with the address as a constant could not be cached on disk.
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
    """Address of a routine of SciPy's "cython_blas" or "cython_lapack"."""
    return int(get_cython_function_address(f"scipy.linalg.{module}", name))


def address_for(dtype: Any, name: str, module: str = "cython_blas") -> int:
    """Address of the variant for a dtype: "gemm" of float32 is sgemm."""
    return address_of(("s" if dtype == np.float32 else "d") + name, module)


@intrinsic
def call(_typing: Any, address: Any, arguments: Any) -> Any:
    """Call a routine with arrays, and with numbers by reference: np.uint8 is passed as a char,
    other integers as C's int. Returns the value of the last argument if that is a number, like
    LAPACK's `info`, else 0."""

    def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
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
