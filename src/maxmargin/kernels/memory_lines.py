"""Blocks of a matrix as lines of memory: one layout for compiled code, whatever the block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiled import compiled, inlined
from ..threads import in_parts, threads_worth

Array = NDArray[Any]

# Side of the tiles in which a triangle is copied to the other: they fit the first-level cache.
TILE = 32


def memory_line(block: Array) -> tuple[Array, int] | None:
    """The memory of a block with contiguous rows as one line, and the step between its rows."""
    rows, columns = block.shape
    if block.flags.c_contiguous and block.size:
        return block.reshape(-1), columns
    step, rest = divmod(block.strides[0], block.itemsize)
    if rest or step < columns or block.strides[1] != block.itemsize or not block.size:
        return None
    size = (rows - 1) * step + columns
    return np.lib.stride_tricks.as_strided(block, (size,), (block.itemsize,)), step


def mirror(matrix: Array, start: int = 0, stop: int | None = None) -> None:
    """Copy what lies right of the diagonal in rows start to stop to its place below it."""
    n = len(matrix)
    stop = n if stop is None else min(stop, n)
    line = memory_line(matrix)
    if line is None:
        for i in range(start, stop):
            matrix[i + 1 :, i] = matrix[i, i + 1 :]
        return

    def some_rows(first: int, last: int) -> None:
        mirror_line(*line, n, start + first, start + last)

    in_parts(some_rows, stop - start, threads_worth((stop - start) * (n - start)))


@compiled
def mirror_line(line: Array, step: int, n: int, start: int, stop: int) -> None:
    """The same for a line of memory with `step` entries a row, tile by tile."""
    for top in range(start, stop, TILE):
        bottom = min(top + TILE, stop)
        for left in range(top, n, TILE):
            for j in range(left, min(left + TILE, n)):
                for i in range(top, min(bottom, j)):
                    line[j * step + i] = line[i * step + j]


@compiled
def place_tile(tile: Array, rows: int, columns: int, line: Array, n: int, start: int) -> None:
    """Rows from `start` on of a symmetric n × n matrix, right of the diagonal, to both places."""
    for i in range(rows):
        row, here = (start + i) * n + start, i * columns
        for j in range(i, columns):
            line[row + j] = tile[here + j]
    for left in range(0, columns, TILE):
        right = min(left + TILE, columns)
        for top in range(0, min(rows, right), 8):
            if top + 8 <= min(rows, left):
                turn_eight(tile, columns, line, n, start, top, left, right)
                continue
            for j in range(max(left, top), right):
                for i in range(top, min(top + 8, rows, j)):
                    line[(start + j) * n + start + i] = tile[i * columns + j]


@inlined
def turn_eight(
    tile: Array, columns: int, line: Array, n: int, start: int, top: int, left: int, right: int
) -> None:
    """Eight rows of a tile become eight neighbours in each of some rows: one line of the cache."""
    first = top * columns
    for j in range(left, right):
        at, to = first + j, (start + j) * n + start + top
        line[to] = tile[at]
        line[to + 1] = tile[at + columns]
        line[to + 2] = tile[at + 2 * columns]
        line[to + 3] = tile[at + 3 * columns]
        line[to + 4] = tile[at + 4 * columns]
        line[to + 5] = tile[at + 5 * columns]
        line[to + 6] = tile[at + 6 * columns]
        line[to + 7] = tile[at + 7 * columns]
