"""Gaussian blocks in compiled code: of few features directly, of more by GEMM, tile by tile.

    K = exp(−½ ‖φ_i − φ_j‖²)     few features: distances and exponential in one pass
    K = exp(ΦΦᵀ + o1ᵀ + 1oᵀ)     GEMM of rows (φ, o, 1) of one table with rows (φ, 1, o) of another

GEMM packs its factors and passes over its output three times; if an inner product has only a
handful of terms, that takes longer than the products. Sums of squared differences also avoid the
cancellation in ‖x‖² + ‖z‖² − 2⟨x, z⟩, and do not depend on the batch.

There is one Python call for each thread. A tile stays in the cache until it is finished; one of a
whole matrix, some rows right of the diagonal, is then copied to both of its places.
"""

from __future__ import annotations

import numpy as np

from ...runtime.blas import address_for, call
from ...runtime.costs import DIRECT_FEATURES
from ...runtime.jit import borrowing, borrowing_fused, from_python, inlined, inlined_fused
from ...runtime.parallel import in_parts, in_turn
from ..base import Array
from .embedding import swap_offset_columns
from .exp import COMPILED, capped_exp, exponential_line
from .strides import memory_line, place_tile, uneven_step

# Number of columns that fit into the first-level cache with their features.
STRIPE = 256
# The same for a single row, of which only the sums need to fit.
ROW_STRIPE = 512
TRANSPOSED, PLAIN = np.uint8(ord("T")), np.uint8(ord("N"))


def gaussian_block(left: Array, right: Array, out: Array) -> bool:
    """out_ij = exp(−½ ‖φ_i − φ_j‖²) from tables with rows (φ, o, 1); false if GEMM is faster."""
    if (
        not COMPILED
        or left.shape[1] - 2 > DIRECT_FEATURES
        or not left.dtype == right.dtype == out.dtype
    ):
        return False
    line = memory_line(out)
    if line is None:
        block = np.empty(out.shape, dtype=out.dtype)
        if block.size:
            gaussian_block(left, right, block)
        out[...] = block
        return True
    memory, step = line

    def some_rows(start: int, stop: int) -> None:
        scratch = scratch_for(left)
        fill_gaussian_block(left[start:stop], right, memory[start * step :], step, scratch)

    in_parts(some_rows, len(left), out.size)
    return True


def fill_gaussian_matrix(table: Array, matrix: Array, shares: list[list[int]], rows: int) -> bool:
    """Fill the Gram matrix of a table with rows (φ, o, 1), in tiles of `rows` rows; `shares` are
    the first rows of the tiles of each thread. Returns whether it was done."""
    usual = COMPILED and table.flags.c_contiguous and table.dtype == matrix.dtype
    # More multiplications are done in parts, so that the run can be interrupted.
    if not usual or matrix.size * table.shape[1] > 1e10:
        return False
    is_direct = table.shape[1] - 2 <= DIRECT_FEATURES
    swapped = table if is_direct else swap_offset_columns(table)
    gemm = 0 if is_direct else address_for(table.dtype, "gemm")
    step = uneven_step(len(table), table.itemsize)
    line = matrix.reshape(-1)

    def some_tiles(tops: list[int]) -> None:
        tile, starts = np.empty(rows * step, table.dtype), np.array(tops, dtype=np.int64)
        if is_direct:
            fill_direct_tiles(table, line, starts, rows, step, tile, scratch_for(table))
        else:
            fill_tiles(table, swapped, line, starts, rows, step, gemm, tile)

    in_turn(some_tiles, shares)
    return True


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


def scratch_for(table: Array) -> Array:
    """Scratch memory of `direct_block`: the features of a stripe of columns, padded with zeros to a
    multiple of four, and four more lines."""
    padded = (table.shape[1] - 2 + 3) // 4 * 4
    return np.zeros((padded + 4, STRIPE), table.dtype)


@inlined_fused
def direct_block(left: Array, right: Array, line: Array, step: int, scratch: Array) -> None:
    """Fill a block stripe by stripe of columns, two rows and four features at a time."""
    rows, columns, features = left.shape[0], right.shape[0], left.shape[1] - 2
    padded = scratch.shape[0] - 4
    across, first, second = scratch[:padded], scratch[padded], scratch[padded + 1]
    p, q = scratch[padded + 2], scratch[padded + 3]
    minus_half = right.dtype.type(-0.5)
    for start in range(0, columns, STRIPE):
        width = min(STRIPE, columns - start)
        for j in range(width):
            for k in range(features):
                across[k, j] = right[start + j, k]
        for i in range(0, rows, 2):
            other = min(i + 1, rows - 1)
            for k in range(features):
                first[k], second[k] = left[i, k], left[other, k]
            for j in range(width):
                p[j] = q[j] = 0.0
            for k in range(0, padded, 4):
                a, b, c, d = first[k], first[k + 1], first[k + 2], first[k + 3]
                e, f, g, h = second[k], second[k + 1], second[k + 2], second[k + 3]
                s, t, u, v = across[k], across[k + 1], across[k + 2], across[k + 3]
                for j in range(width):
                    p[j] += (
                        (a - s[j]) * (a - s[j])
                        + (b - t[j]) * (b - t[j])
                        + (c - u[j]) * (c - u[j])
                        + (d - v[j]) * (d - v[j])
                    )
                    q[j] += (
                        (e - s[j]) * (e - s[j])
                        + (f - t[j]) * (f - t[j])
                        + (g - u[j]) * (g - u[j])
                        + (h - v[j]) * (h - v[j])
                    )
            row = line[i * step + start : i * step + start + width]
            for j in range(width):
                row[j] = capped_exp(minus_half * p[j])
            row = line[other * step + start : other * step + start + width]
            for j in range(width):
                row[j] = capped_exp(minus_half * q[j])


fill_gaussian_block = from_python(direct_block, borrowing_fused)


@borrowing_fused
def fill_direct_tiles(
    table: Array,
    line: Array,
    tops: Array,
    rows: int,
    step: int,
    tile: Array,
    scratch: Array,
) -> None:
    """As `fill_tiles`, for few features."""
    n = table.shape[0]
    for top in tops:
        height = min(rows, n - top)
        direct_block(table[top : top + height], table[top:], tile, step, scratch)
        place_tile(tile, step, height, n - top, line, n, top)


@inlined_fused
def fill_gaussian_row(across: Array, place: int, row: Array) -> None:
    """row_j = exp(−½ ‖φ − φ_j‖²) for the point φ in column `place`; points are columns, and their
    number of rows is a multiple of four."""
    features, columns = across.shape
    minus_half = across.dtype.type(-0.5)
    for start in range(0, columns, ROW_STRIPE):
        stop = min(start + ROW_STRIPE, columns)
        part = row[start:stop]
        for j in range(part.size):
            part[j] = 0.0
        for k in range(0, features, 4):
            a, b = across[k, place], across[k + 1, place]
            c, d = across[k + 2, place], across[k + 3, place]
            s, t = across[k, start:stop], across[k + 1, start:stop]
            u, v = across[k + 2, start:stop], across[k + 3, start:stop]
            for j in range(part.size):
                part[j] += (
                    (a - s[j]) * (a - s[j])
                    + (b - t[j]) * (b - t[j])
                    + (c - u[j]) * (c - u[j])
                    + (d - v[j]) * (d - v[j])
                )
        for j in range(part.size):
            part[j] = capped_exp(minus_half * part[j])
    row[place] = 1.0
