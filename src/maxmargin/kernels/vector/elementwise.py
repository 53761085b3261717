"""Functions applied to every element of a block, in place and in passes that stay in the cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..base import Array

# Elements handled at a time by passes over large arrays.
CHUNK = 1 << 15


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
