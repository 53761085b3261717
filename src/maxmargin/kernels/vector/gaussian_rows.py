"""Gaussian blocks of inputs with few features: distances and exponential in one compiled pass.

GEMM packs its factors and passes over its output three times; if an inner product has only a
handful of terms, that takes longer than the products. Sums of squared differences also avoid the
cancellation in ‖x‖² + ‖z‖² − 2⟨x, z⟩, and do not depend on the batch.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import compiled_fused, inlined_fused
from ...runtime.parallel import in_parts
from ..base import Array
from .exp import COMPILED, capped_exp
from .strides import memory_line

# Number of features up to which this is faster than GEMM.
DIRECT_FEATURES = 12
# Number of columns that fit into the first-level cache with their features.
STRIPE = 256
# The same for a single row, of which only the sums need to fit.
ROW_STRIPE = 512


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
        fill_gaussian_block(left[start:stop], right, memory[start * step :], step)

    in_parts(some_rows, len(left), out.size)
    return True


@compiled_fused
def fill_gaussian_block(left: Array, right: Array, line: Array, step: int) -> None:
    """Fill a block stripe by stripe of columns, two rows and four features at a time."""
    rows, columns, features = left.shape[0], right.shape[0], left.shape[1] - 2
    padded = (features + 3) // 4 * 4
    across = np.zeros((padded, STRIPE), right.dtype)
    first, second = np.zeros(padded, left.dtype), np.zeros(padded, left.dtype)
    p, q = np.empty(STRIPE, right.dtype), np.empty(STRIPE, right.dtype)
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
