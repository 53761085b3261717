"""Gram blocks of a Gaussian, tile by tile in compiled code, with one Python call per thread.

    K = exp(ΦΦᵀ + o1ᵀ + 1oᵀ)     GEMM of rows (φ, o, 1) of one table with rows (φ, 1, o) of another

A tile stays in the cache until it is finished. A tile of a whole matrix, some rows right of the
diagonal, is then copied to both of its places.
"""

from __future__ import annotations

import numpy as np

from ...runtime.blas import address_for, call
from ...runtime.jit import borrowing, inlined
from ...runtime.parallel import in_parts, in_turn
from ..base import Array
from .embedding import swap_offset_columns
from .exp import COMPILED, exponential_line
from .gaussian_rows import DIRECT_FEATURES, fill_gaussian_block
from .strides import memory_line, place_tile, uneven_step

TRANSPOSED, PLAIN = np.uint8(ord("T")), np.uint8(ord("N"))
# Columns of a block computed at a time, and number of features up to which that is faster than one
# product for all columns.
COLUMNS, MOST_FEATURES = 128, 64


def fill_gaussian_matrix(table: Array, matrix: Array, shares: list[list[int]], rows: int) -> bool:
    """Fill the Gram matrix of a table with rows (φ, o, 1), in tiles of `rows` rows; `shares` are
    the first rows of the tiles of each thread. Returns whether it was done."""
    # More multiplications are done in parts, so that the run can be interrupted.
    if not _is_usual(table, table, matrix) or matrix.size * table.shape[1] > 1e10:
        return False
    is_direct = table.shape[1] - 2 <= DIRECT_FEATURES
    swapped = table if is_direct else swap_offset_columns(table)
    step = uneven_step(len(table), table.itemsize)
    line = matrix.reshape(-1)

    def some_tiles(tops: list[int]) -> None:
        tile = np.empty(rows * step, table.dtype)
        if not is_direct:
            gemm = address_for(table.dtype, "gemm")
            fill_tiles(table, swapped, line, np.array(tops, dtype=np.int64), rows, step, gemm, tile)
            return
        for top in tops:
            height = min(rows, len(table) - top)
            fill_gaussian_block(table[top : top + height], table[top:], tile, step)
            place_tile(tile, step, height, len(table) - top, line, len(table), top)

    in_turn(some_tiles, shares)
    return True


def fill_gaussian_columns(left: Array, right: Array, out: Array) -> bool:
    """Fill the block of two tables with rows (φ, o, 1); false if a single product is faster."""
    usual = _is_usual(left, right, out) and left.shape[1] - 2 <= MOST_FEATURES
    line = memory_line(out) if usual else None
    if line is None:
        return False
    (memory, step), swapped, gemm = line, swap_offset_columns(left), address_for(out.dtype, "gemm")

    def some_columns(start: int, stop: int) -> None:
        fill_columns(swapped, right[start:stop], memory[start:], step, gemm)

    # An entry costs as much as four of a plain pass over an array.
    in_parts(some_columns, len(right), 4 * out.size, grain=COLUMNS)
    return True


def _is_usual(left: Array, right: Array, out: Array) -> bool:
    contiguous = left.flags.c_contiguous and right.flags.c_contiguous
    return COMPILED and contiguous and left.dtype == right.dtype == out.dtype


@borrowing
def fill_columns(left: Array, right: Array, line: Array, step: int, gemm: int) -> None:
    """Fill a block in flat memory with `step` entries per row, some columns at a time."""
    for start in range(0, right.shape[0], COLUMNS):
        some, here = right[start : start + COLUMNS], line[start:]
        multiply(gemm, left, some, here, step)
        exponential_line(here, step, left.shape[0], some.shape[0])


@borrowing
def fill_tiles(
    table: Array,
    swapped: Array,
    line: Array,
    tops: Array,
    rows: int,
    step: int,
    gemm: int,
    tile: Array,
) -> None:
    """Compute the tiles that begin at rows `tops` and write them to both places of a matrix in flat
    memory; rows of a tile begin `step` entries apart."""
    n = table.shape[0]
    for top in tops:
        height, columns = min(rows, n - top), n - top
        multiply(gemm, swapped[top : top + height], table[top:], tile, step)
        exponential_line(tile, step, height, columns)
        place_tile(tile, step, height, columns, line, n, top)


@inlined
def multiply(gemm: int, left: Array, right: Array, tile: Array, step: int) -> None:
    """tile ← left·rightᵀ by the routine at that address"""
    one, zero = tile.dtype.type(1.0), tile.dtype.type(0.0)
    n, m, k = right.shape[0], left.shape[0], left.shape[1]
    # In Fortran order all of them are transposed.
    call(gemm, (TRANSPOSED, PLAIN, n, m, k, one, right, k, left, k, zero, tile, step))
