"""exp of non-positive numbers in compiled code: of blocks in place, and of single numbers.

    exp(x) = 2^k·exp(r),   k = x / ln 2 rounded,   |r| ≤ ½ ln 2

exp(r) is a polynomial through Chebyshev points. NumPy needs as much time for float64, and as much
again to clip arguments that are positive by rounding.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

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


class Format(NamedTuple):
    """Constants of exp in one precision."""

    lowest: Any  # below this argument exp would be subnormal, and 0 is returned
    rounder: Any  # adding it to a number rounds that to an integer in the last bits
    log2_e: Any
    # ln 2 in two parts; the first has so few bits that small multiples of it are exact.
    high: Any
    low: Any
    # Coefficients of exp(r): degree 6 has a relative error of 3e-9, degree 11 of 4e-18.
    terms: tuple[Any, ...]


SINGLE = Format(
    lowest=float32(-87.3),
    rounder=float32(1.5 * 2**23),
    log2_e=float32(1.4426950408889634),
    high=float32(0.693359375),
    low=float32(-2.1219444005469057e-4),
    terms=(
        float32(1.0),
        float32(1.0000000377162138),
        float32(0.5000000047117758),
        float32(0.16666415514653275),
        float32(0.041666352896775157),
        float32(0.008375126398153336),
        float32(0.0013941108433972675),
    ),
)
DOUBLE = Format(
    lowest=-708.3,
    rounder=1.5 * 2**52,
    log2_e=1.4426950408889634,
    high=0.693147180369123816490,
    low=1.90821492927058770002e-10,
    terms=(
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
    ),
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
        lowest = (SINGLE if block.dtype == float32 else DOUBLE).lowest
        np.copyto(rows, -np.inf, where=rows < lowest)
        np.exp(rows, out=rows)


def capped_exp(x: Any) -> Any:
    """exp(min(x, 0)) of one number, in its precision"""
    return type(x)(math.exp(min(x, 0.0)))


@overload(capped_exp, jit_options=FUSED)
def _capped_exp(x: Any) -> Any:
    return exp32 if x == numba.float32 else exp64


def exp32(x: Any) -> Any:
    """exp(min(x, 0)) in float32"""
    lowest, rounder, log2_e, high, low, terms = SINGLE
    a0, a1, a2, a3, a4, a5, a6 = terms
    y = lowest if x < lowest else x
    y = float32(0.0) if y > float32(0.0) else y
    shifted = y * log2_e + rounder
    k = shifted - rounder
    r = (y - k * high) - k * low
    p = r * (r * (r * (r * (r * (r * a6 + a5) + a4) + a3) + a2) + a1) + a0
    exponent: Any = bits_of(shifted)
    two_to_k: Any = float_of(int32((exponent + int32(127)) << int32(23)))
    return float32(0.0) if x < lowest else p * two_to_k


def exp64(x: Any) -> Any:
    """exp(min(x, 0)) in float64"""
    lowest, rounder, log2_e, high, low, terms = DOUBLE
    b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11 = terms
    y = lowest if x < lowest else x
    y = 0.0 if y > 0.0 else y
    shifted = y * log2_e + rounder
    k = shifted - rounder
    r = (y - k * high) - k * low
    p = r * (r * (r * (r * (r * (r * b11 + b10) + b9) + b8) + b7) + b6) + b5
    p = r * (r * (r * (r * (r * p + b4) + b3) + b2) + b1) + b0
    exponent: Any = bits_of(shifted)
    two_to_k: Any = float_of((exponent + 1023) << 52)
    return 0.0 if x < lowest else p * two_to_k


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
