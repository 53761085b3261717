"""Blocks of a matrix as flat memory: one array layout for compiled code, for any block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.jit import compiled
from ...runtime.parallel import in_parts

Array = NDArray[Any]

# Side of the tiles in which one triangle is copied to the other; they fit the first-level cache.
TILE = 32
CACHE_LINE = 64


def as_slice(indices: Array | slice) -> Array | slice:
    """Consecutive indices as a slice, so that indexing with it copies nothing."""
    if isinstance(indices, slice) or len(indices) < 2:
        return indices
    first, last = int(indices[0]), int(indices[-1])
    if last - first != len(indices) - 1 or first < 0 or not (np.diff(indices) == 1).all():
        return indices
    return slice(first, last + 1)


def memory_line(block: Array) -> tuple[Array, int] | None:
    """The memory of a block with contiguous rows as a flat array, and the step between rows."""
    rows, columns = block.shape
    if block.flags.c_contiguous and block.size:
        return block.reshape(-1), columns
    step, rest = divmod(block.strides[0], block.itemsize)
    if rest or step < columns or block.strides[1] != block.itemsize or not block.size:
        return None
    size = (rows - 1) * step + columns
    return np.lib.stride_tricks.as_strided(block, (size,), (block.itemsize,)), step


def mirror(matrix: Array, start: int = 0, stop: int | None = None) -> None:
    """Copy the entries right of the diagonal in rows start to stop to their mirror images."""
    n = len(matrix)
    stop = n if stop is None else min(stop, n)
    line = memory_line(matrix)
    if line is None:
        for i in range(start, stop):
            matrix[i + 1 :, i] = matrix[i, i + 1 :]
        return

    def some_rows(first: int, last: int) -> None:
        mirror_line(*line, n, start + first, start + last)

    in_parts(some_rows, stop - start, (stop - start) * (n - start))


@compiled
def mirror_line(line: Array, step: int, n: int, start: int, stop: int) -> None:
    """As `mirror`, for flat memory with `step` entries per row, tile by tile."""
    for top in range(start, stop, TILE):
        bottom = min(top + TILE, stop)
        for left in range(top, n, TILE):
            for j in range(left, min(left + TILE, n)):
                for i in range(top, min(bottom, j)):
                    line[j * step + i] = line[i * step + j]


@compiled
def place_tile(
    tile: Array, step: int, rows: int, columns: int, line: Array, n: int, start: int
) -> None:
    """Copy rows from `start` on of a symmetric n × n matrix, right of the diagonal, to both places.

    Rows of the tile begin `step` entries apart: see `uneven_step`.
    """
    for i in range(rows):
        across = line[(start + i) * n + start + i : (start + i) * n + start + columns]
        here = tile[i * step + i : i * step + columns]
        for j in range(across.size):
            across[j] = here[j]
    for j in range(columns):
        below = line[(start + j) * n + start : (start + j) * n + start + min(rows, j)]
        for i in range(below.size):
            below[i] = tile[i * step + j]


def uneven_step(columns: int, itemsize: int) -> int:
    """A distance between rows at which the entries of a column fall into different cache sets: an
    odd number of cache lines."""
    entries = CACHE_LINE // itemsize
    return (-(-columns // entries) | 1) * entries
