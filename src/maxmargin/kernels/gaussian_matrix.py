"""The Gram matrix of a Gaussian, tile by tile in compiled code: each thread needs Python but once.

    K = exp(ΦΦᵀ + o1ᵀ + 1oᵀ)     rows (φ, o, 1) of a table meet rows (φ, 1, o) of another in GEMM

A tile of some rows, right of the diagonal, stays in the cache until it stands in both of its
places.
"""

from __future__ import annotations

import numpy as np

from ..compiled import called, compiled
from ..routines import address_for, call
from ..threads import in_parts
from .base import Array
from .exponential import COMPILED, exponential_line
from .few_features import FEW, fill_gaussian_block
from .memory_lines import place_tile, uneven_step

TRANSPOSED, PLAIN = ord("T"), ord("N")
# Matrices that take more multiplications are better paused in between.
AT_ONCE = 1e10


def fill_gaussian_matrix(table: Array, matrix: Array, shares: list[list[int]], rows: int) -> bool:
    """Fill the matrix of points in a table with rows (φ, o, 1), in tiles of so many rows that begin
    where each thread's share says; whether it was done."""
    usual = table.dtype == matrix.dtype and table.flags.c_contiguous
    if not (COMPILED and usual) or matrix.size * table.shape[1] > AT_ONCE:
        return False
    turned = table.copy()
    turned[:, -2:] = table[:, :-3:-1]
    step = uneven_step(len(table), table.itemsize)
    gemm, line = address_for(table.dtype, "gemm"), matrix.reshape(-1)

    def some_tiles(first: int, last: int) -> None:
        tops = np.array([top for share in shares[first:last] for top in share], dtype=np.int64)
        fill_tiles(table, turned, line, tops, rows, step, gemm)

    in_parts(some_tiles, len(shares), len(shares))
    return True


@compiled
def fill_tiles(
    table: Array, turned: Array, line: Array, tops: Array, rows: int, step: int, gemm: int
) -> None:
    """Tiles of so many rows, from `tops` on, to both places of a matrix that is a line of memory;
    in a tile rows are `step` entries apart."""
    n, width = table.shape
    tile = np.empty(rows * step, table.dtype)
    for top in tops:
        height, columns = min(rows, n - top), n - top
        left, right = turned[top : top + height], table[top:]
        if width - 2 <= FEW:
            fill_gaussian_block(left, right, tile, step)
        else:
            multiply(gemm, left, right, tile, step)
            exponential_line(tile, step, height, columns)
        place_tile(tile, step, height, columns, line, n, top)


@called
def multiply(gemm: int, left: Array, right: Array, tile: Array, step: int) -> None:
    """tile ← left·rightᵀ by the routine at that address"""
    sizes = np.empty(4, np.int32)
    sizes[0], sizes[1], sizes[2], sizes[3] = right.shape[0], left.shape[0], left.shape[1], step
    letters = np.empty(2, np.uint8)
    letters[0], letters[1] = TRANSPOSED, PLAIN
    factors = np.zeros(2, tile.dtype)
    factors[0] = 1.0
    # In the order of Fortran all of them are their transposes.
    call(  # type: ignore[call-arg]
        gemm,
        (
            letters[:1],
            letters[1:],
            sizes[:1],
            sizes[1:2],
            sizes[2:3],
            factors[:1],
            right,
            sizes[2:3],
            left,
            sizes[2:3],
            factors[1:],
            tile,
            sizes[3:],
        ),
    )
