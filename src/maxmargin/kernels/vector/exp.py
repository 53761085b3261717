"""exp of non-positive numbers in compiled code: of blocks in place, and of single numbers.

    exp(x) = 2^k·exp(r),   k = x / ln 2 rounded,   |r| ≤ ½ ln 2

exp(r) is a polynomial through Chebyshev points. NumPy needs as much time for float64, and as much
again to clip arguments that are positive by rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import config
from numba.extending import intrinsic, overload
from numpy import float32, int32

from ...runtime.jit import FUSED, borrowing_fused, from_python, inlined_fused
from ...runtime.parallel import in_parts
from ..base import Array
from .elementwise import chunks
from .strides import memory_line

COMPILED = not config.DISABLE_JIT
# Below these arguments exp would be subnormal, and 0 is returned.
LOWEST32, LOWEST64 = float32(-87.3), -708.3
# Adding these to a number rounds it to an integer in the last bits.
ROUNDER32, ROUNDER64 = float32(1.5 * 2**23), 1.5 * 2**52
LOG2_E32, LOG2_E64 = float32(1.4426950408889634), 1.4426950408889634
# ln 2 in two parts; the first has so few bits that small multiples of it are exact.
HIGH32, LOW32 = float32(0.693359375), float32(-2.1219444005469057e-4)
HIGH64, LOW64 = 0.693147180369123816490, 1.90821492927058770002e-10
# Degree 6 has a relative error of 3e-9 in exp(r), degree 11 of 4e-18.
A0, A1, A2, A3, A4, A5, A6 = map(
    float32,
    (
        1.0,
        1.0000000377162138,
        0.5000000047117758,
        0.16666415514653275,
        0.041666352896775157,
        0.008375126398153336,
        0.0013941108433972675,
    ),
)
B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11 = (
    1.0,
    1.0,
    0.50000000000000183855,
    0.16666666666666680806,
    0.041666666666488095495,
    0.0083333333333196006109,
    0.0013888888952314774652,
    0.00019841269890047113707,
    0.000024801485482328492419,
    2.7557240918578969823e-6,
    2.7632639639041029749e-7,
    2.5110037605963777712e-8,
)


def exponential(block: Array) -> None:
    """x ← exp(min(x, 0))"""
    in_parts(lambda start, stop: _exponential(block[start:stop]), len(block), block.size)


def _exponential(block: Array) -> None:
    line = memory_line(block)
    if line is None:
        copy = block.copy(order="C")
        if copy.size:
            _exponential(copy)
        block[...] = copy
        return
    if COMPILED:
        exponential_rows(*line, *block.shape)
        return
    for part in chunks(*block.shape):
        rows = block[part]
        np.minimum(rows, 0.0, out=rows)
        lowest = LOWEST32 if block.dtype == float32 else LOWEST64
        np.copyto(rows, -np.inf, where=rows < lowest)
        np.exp(rows, out=rows)


def capped_exp(x: Any) -> Any:
    """exp(min(x, 0)) of one number, in its precision"""
    return type(x)(math.exp(min(x, 0.0)))


@overload(capped_exp, jit_options=FUSED)
def _capped_exp(x: Any) -> Any:
    return exp32 if x == numba.float32 else exp64


def exp32(x: Any) -> Any:
    y = LOWEST32 if x < LOWEST32 else x
    y = float32(0.0) if y > float32(0.0) else y
    shifted = y * LOG2_E32 + ROUNDER32
    k = shifted - ROUNDER32
    r = (y - k * HIGH32) - k * LOW32
    p = r * (r * (r * (r * (r * (r * A6 + A5) + A4) + A3) + A2) + A1) + A0
    exponent: Any = bits_of(shifted)
    two_to_k: Any = float_of(int32((exponent + int32(127)) << int32(23)))
    return float32(0.0) if x < LOWEST32 else p * two_to_k


def exp64(x: Any) -> Any:
    y = LOWEST64 if x < LOWEST64 else x
    y = 0.0 if y > 0.0 else y
    shifted = y * LOG2_E64 + ROUNDER64
    k = shifted - ROUNDER64
    r = (y - k * HIGH64) - k * LOW64
    p = r * (r * (r * (r * (r * (r * B11 + B10) + B9) + B8) + B7) + B6) + B5
    p = r * (r * (r * (r * (r * p + B4) + B3) + B2) + B1) + B0
    exponent: Any = bits_of(shifted)
    two_to_k: Any = float_of((exponent + 1023) << 52)
    return 0.0 if x < LOWEST64 else p * two_to_k


@inlined_fused
def exponential_line(line: Array, step: int, rows: int, columns: int) -> None:
    """x ← exp(min(x, 0)) in rows of memory that begin `step` entries apart"""
    for i in range(rows):
        row = line[i * step : i * step + columns]
        for j in range(columns):
            row[j] = capped_exp(row[j])


exponential_rows = from_python(exponential_line, borrowing_fused)


@intrinsic
def bits_of(_typing: Any, x: Any) -> Any:
    """The bits of a float as an integer of its size."""
    size = x.bitwidth

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(size))

    return (numba.int32 if size == 32 else numba.int64)(x), codegen


@intrinsic
def float_of(_typing: Any, bits: Any) -> Any:
    """The float of the same size that has these bits."""
    single = bits.bitwidth == 32

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType() if single else ir.DoubleType())

    return (numba.float32 if single else numba.float64)(bits), codegen
