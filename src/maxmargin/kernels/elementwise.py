"""Functions applied to every element of a block, in place and in passes that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import config
from numba.extending import intrinsic
from numpy import float32, int32

from ..compiled import compiled_fused
from ..threads import in_parts, threads_worth
from .base import Array
from .memory_lines import memory_line

COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]
# Elements handled at a time by passes over large arrays.
CHUNK = 1 << 15
# Below this exp leaves the normal numbers of float32 and takes ten times as long.
LOWEST32 = float32(-87.3)
LOG2_E = float32(1.4426950408889634)
# ln 2 in two parts, the first with so few bits that small multiples of it are exact.
LN2_HIGH = float32(0.693359375)
LN2_LOW = float32(-2.1219444005469057e-4)


def exponential(block: Array) -> None:
    """x ← exp(min(x, 0))"""
    threads = threads_worth(block.size)
    in_parts(lambda start, stop: _exponential(block[start:stop]), len(block), threads)


def _exponential(block: Array) -> None:
    line = memory_line(block) if COMPILED else None
    if block.dtype == float32 and line is not None:
        exponential32(*line, *block.shape)
        return
    for part in chunks(*block.shape):
        rows = block[part]
        if line is not None:
            cap(line[0], line[1], part.start, part.stop, block.shape[1])
        else:
            np.minimum(rows, 0.0, out=rows)
        if block.dtype == float32:
            np.copyto(rows, -np.inf, where=rows < LOWEST32)
        np.exp(rows, out=rows)


def power(block: Array, degree: int) -> None:
    """x ← x^degree, for a whole number, by repeated squaring"""
    if degree == 0:
        block[...] = 1.0
    if degree <= 1:
        return
    for part in chunks(*block.shape):
        rows = block[part]
        base = rows.copy() if degree & (degree - 1) else rows
        for bit in bin(degree)[3:]:
            np.multiply(rows, rows, out=rows)
            if bit == "1":
                np.multiply(rows, base, out=rows)


def hyperbolic_tangent(block: Array) -> None:
    """x ← tanh x"""
    for part in chunks(*block.shape):
        rows = block[part]
        np.tanh(rows, out=rows)


def chunks(rows: int, columns: int, size: int = CHUNK, least: int = 1) -> Iterator[slice]:
    """Slices of rows of about `size` elements together, and of no fewer rows than `least`."""
    step = max(least, size // max(columns, 1))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


@intrinsic
def float_of_bits(_typing, _bits):  # type: ignore[no-untyped-def]
    def codegen(_context, builder, _signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.FloatType())

    return numba.float32(numba.int32), codegen


@compiled_fused
def cap(line: Array, step: int, start: int, stop: int, columns: int) -> None:
    """x ← min(x, 0) in some rows; NumPy's minimum takes as long as its exponential"""
    for i in range(start, stop):
        row = line[i * step : i * step + columns]
        for j in range(columns):
            row[j] = 0.0 if row[j] > 0.0 else row[j]


@compiled_fused
def exponential32(line: Array, step: int, rows: int, columns: int) -> None:
    """x ← exp(min(x, 0)) = 2^k·exp(r) with |r| ≤ ½ ln 2; 0 below the normal numbers

    The Taylor polynomial of order 7 leaves less than 6e-9 of exp(r).
    """
    for i in range(rows):
        row = line[i * step : i * step + columns]
        for j in range(columns):
            x = row[j]
            y = LOWEST32 if x < LOWEST32 else x
            y = float32(0.0) if y > float32(0.0) else y
            k = int32(y * LOG2_E - float32(0.5))
            r = (y - float32(k) * LN2_HIGH) - float32(k) * LN2_LOW
            p = r * float32(1 / 5040) + float32(1 / 720)
            p = r * p + float32(1 / 120)
            p = r * p + float32(1 / 24)
            p = r * p + float32(1 / 6)
            p = r * p + float32(1 / 2)
            p = r * p + float32(1)
            p = r * p + float32(1)
            two_to_k: Any = float_of_bits(int32((k + 127) << 23))  # type: ignore[call-arg]
            row[j] = float32(0.0) if x < LOWEST32 else p * two_to_k
