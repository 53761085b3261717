"""Features sorted once, which the growth of a tree reads in place of the inputs.

A column keeps, in increasing order of the value, which samples have it. Values are replaced by
their rank among the distinct values of the feature, so that growth is the same code for float32,
float64 and sparse inputs. A value that more than half of the samples share (zero, if the inputs are
sparse) is left out: it is *implicit*, the value of all samples without an entry. The cost of binary
features, counts and grey values of images is thus proportional to their other values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....runtime.jit import called, compiled_strict

# Bits of a digit of the radix sort.
DIGIT = 11
BINS = 1 << DIGIT
MASK, TOP = np.uint64(BINS - 1), np.uint64(1 << 63)

Array = np.ndarray
Work = tuple[Array, Array, Array, Array]


class Columns(NamedTuple):
    """The sorted entries of all features, one feature after the other.

    Attributes
    ----------
    start : ndarray of int64, shape (n_features + 1,)
        Feature f has the entries ``start[f]:start[f + 1]``.
    sample : ndarray of int32, shape (n_entries,)
        The sample of an entry.
    rank : ndarray of int32, shape (n_entries,)
        Its value, as a place among the levels of the feature. Missing values (NaN) come last and
        have the number of levels as rank.
    implicit : ndarray of int32, shape (n_features,)
        The rank of samples without an entry, -1 where every sample has one.
    level_start : ndarray of int64, shape (n_features + 1,)
    levels : ndarray of float64
        The distinct values of feature f, ``level_start[f]:level_start[f + 1]``, increasing.
    """

    start: np.ndarray
    sample: np.ndarray
    rank: np.ndarray
    implicit: np.ndarray
    level_start: np.ndarray
    levels: np.ndarray


def sorted_columns(X: Any) -> Columns:
    """The columns of dense inputs, or of a CSC matrix without duplicate entries."""
    n, d = X.shape
    keys = np.empty((2, n), dtype=np.uint64)
    values = keys[0].view(np.float64)
    if sparse.issparse(X):
        usual = np.zeros(d)
        sizes = _sparse_sizes(X.data, X.indptr)
    else:
        X = np.ascontiguousarray(X.T)
        usual, sizes = _usual_values(X)
    start = np.zeros(d + 1, dtype=np.int64)
    np.cumsum(sizes, out=start[1:])
    columns = Columns(
        start,
        np.empty(start[-1], dtype=np.int32),
        np.empty(start[-1], dtype=np.int32),
        np.full(d, -1, dtype=np.int32),
        np.zeros(d + 1, dtype=np.int64),
        np.empty(start[-1] + d),
    )
    places = np.empty((2, n), dtype=np.int32)
    table = np.empty(BINS, dtype=np.int64)
    work = (keys, values, places, table)
    if sparse.issparse(X):
        _sort_sparse(X.data, X.indices, X.indptr, n, usual, columns, work)
    else:
        _sort_dense(X, usual, columns, work)
    return columns._replace(levels=columns.levels[: columns.level_start[-1]].copy())


@compiled_strict
def _usual_values(X: Array) -> tuple[Array, Array]:
    """The value that more than half of the samples have (else NaN), and the number of others.

    X has a row for each feature. A majority survives when pairs of different values are struck out.
    """
    d, n = X.shape
    usual = np.empty(d)
    sizes = np.empty(d, dtype=np.int64)
    for f in range(d):
        row = X[f]
        candidate, votes = row[0], 0
        for x in row:
            if x == candidate:
                votes += 1
            elif votes == 0:
                candidate, votes = x, 1
            else:
                votes -= 1
        same = 0
        for x in row:
            same += x == candidate
        majority = 2 * same > n
        usual[f] = candidate if majority else np.nan
        sizes[f] = n - same if majority else n
    return usual, sizes


@compiled_strict
def _sparse_sizes(data: Array, indptr: Array) -> Array:
    sizes = np.zeros(indptr.size - 1, dtype=np.int64)
    for f in range(sizes.size):
        for x in data[indptr[f] : indptr[f + 1]]:
            sizes[f] += x != 0
    return sizes


@compiled_strict
def _sort_dense(X: Array, usual: Array, columns: Columns, work: Work) -> None:
    _, values, places, _ = work
    for f in range(X.shape[0]):
        finite, missing = 0, columns.start[f + 1]
        for i, x in enumerate(X[f]):
            if np.isnan(x):
                missing -= 1
                columns.sample[missing] = i
            elif x != usual[f]:
                values[finite] = x + 0  # -0.0 becomes 0.0
                places[0, finite] = i
                finite += 1
        _fill_column(f, finite, X.shape[1], usual[f], columns, work)


@compiled_strict
def _sort_sparse(
    data: Array, indices: Array, indptr: Array, n: int, usual: Array, columns: Columns, work: Work
) -> None:
    _, values, places, _ = work
    for f in range(usual.size):
        finite, missing = 0, columns.start[f + 1]
        for place in range(indptr[f], indptr[f + 1]):
            x = data[place]
            if np.isnan(x):
                missing -= 1
                columns.sample[missing] = indices[place]
            elif x != 0:
                values[finite] = x
                places[0, finite] = indices[place]
                finite += 1
        _fill_column(f, finite, n, usual[f], columns, work)


@compiled_strict
def _fill_column(f: int, finite: int, n: int, usual: float, columns: Columns, work: Work) -> None:
    """Sort the values and samples that were collected for feature f, and give them ranks."""
    keys, values, places, table = work
    first, last = columns.start[f], columns.start[f + 1]
    _order_bits(keys[0, :finite])
    place = _sort_keys(keys, places, finite, table)
    _restore_bits(keys[0, :finite])
    level = columns.level_start[f]
    rank = -1
    unplaced = last - first < n
    previous = values[0]
    for p in range(finite):
        x = values[p]
        if unplaced and x > usual:
            rank += 1
            columns.levels[level + rank] = usual
            columns.implicit[f] = rank
            unplaced = False
        if p == 0 or x != previous:
            rank += 1
            columns.levels[level + rank] = x
            previous = x
        columns.sample[first + p] = places[place, p]
        columns.rank[first + p] = rank
    if unplaced:
        rank += 1
        columns.levels[level + rank] = usual
        columns.implicit[f] = rank
    for p in range(first + finite, last):
        columns.rank[p] = rank + 1
    columns.level_start[f + 1] = level + rank + 1


@called
def _order_bits(keys: Array) -> None:
    """Bits of floating-point numbers become whole numbers of the same order."""
    for p in range(keys.size):
        keys[p] = ~keys[p] if keys[p] & TOP else keys[p] | TOP


@called
def _restore_bits(keys: Array) -> None:
    for p in range(keys.size):
        keys[p] = keys[p] ^ TOP if keys[p] & TOP else ~keys[p]


@called
def _sort_keys(keys: Array, places: Array, count: int, table: Array) -> int:
    """Sort row 0 of `keys` with `places`, stable; the row of `places` that is in order.

    Radix sort from the lowest digit; digits that all keys share are skipped. Few keys are sorted
    by insertion, which is faster for them.
    """
    if count < 48:  # speed only
        for p in range(1, count):
            key, place = keys[0, p], places[0, p]
            q = p
            while q > 0 and keys[0, q - 1] > key:
                keys[0, q], places[0, q] = keys[0, q - 1], places[0, q - 1]
                q -= 1
            keys[0, q], places[0, q] = key, place
        return 0
    differing = np.uint64(0)
    for p in range(1, count):
        differing |= keys[0, p] ^ keys[0, 0]
    now = 0
    for digit in range(0, 64, DIGIT):
        shift = np.uint64(digit)
        if (differing >> shift) & MASK == 0:
            continue
        table[:] = 0
        for p in range(count):
            table[(keys[now, p] >> shift) & MASK] += 1
        total = 0
        for bin in range(BINS):
            here = table[bin]
            table[bin] = total
            total += here
        for p in range(count):
            bin = (keys[now, p] >> shift) & MASK
            target = table[bin]
            table[bin] = target + 1
            keys[1 - now, target] = keys[now, p]
            places[1 - now, target] = places[now, p]
        now = 1 - now
    if now == 1:
        for p in range(count):
            keys[0, p] = keys[1, p]
    return now
