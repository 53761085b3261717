"""Compiled products with a sparse matrix in CSR form, over all rows or chosen ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....kernels.base import Array
from ....runtime.jit import compiled
from ..losses import Float

# Row pointers are unsigned, and a signed one beside them would make the sum a float.
ONE = np.uint64(1)


@compiled
def margins(
    indptr: Array, indices: Array, data: Array, w: Float, start: int, stop: int, out: Float
) -> None:
    """out_i = x_i·w for the rows from start to stop."""
    for i in range(start, stop):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * w[indices[p]]
        out[i] = total


@compiled
def margins_at(
    indptr: Array, indices: Array, data: Array, w: Float, rows: Array, out: Float
) -> None:
    """out_k = x_i·w for i = rows_k."""
    for k in range(rows.size):
        i = rows[k]
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * w[indices[p]]
        out[k] = total


@compiled
def combine(
    indptr: Array, indices: Array, data: Array, coef: Float, start: int, stop: int, out: Float
) -> None:
    """out += Σ coef_i x_i over the rows from start to stop."""
    for i in range(start, stop):
        c = coef[i]
        if c != 0.0:
            for p in range(indptr[i], indptr[i + 1]):
                out[indices[p]] += c * data[p]


@compiled
def combine_at(
    indptr: Array, indices: Array, data: Array, coef: Float, rows: Array, out: Float
) -> None:
    """out += Σ coef_k x_i for i = rows_k."""
    for k in range(rows.size):
        c = coef[k]
        i = rows[k]
        for p in range(indptr[i], indptr[i + 1]):
            out[indices[p]] += c * data[p]


@compiled
def add_outer(
    indptr: Array, indices: Array, data: Array, coef: Float, rows: Array, gram: Float, border: Float
) -> None:
    """Lower triangle of gram += Σ coef_k x_i x_iᵀ, border += Σ coef_k x_i, for i = rows_k.

    Column indices ascend in each row.
    """
    for k in range(rows.size):
        i = rows[k]
        for p in range(indptr[i], indptr[i + 1]):
            c = coef[k] * data[p]
            line = gram[indices[p]]
            border[indices[p]] += c
            for q in range(indptr[i], p + ONE):
                line[indices[q]] += c * data[q]


@compiled
def inner_products(
    indptr: Array, indices: Array, data: Array, left: Array, right: Array, buffer: Float, out: Float
) -> None:
    """out_kl = x_i·x_j for i = left_k, j = right_l; `buffer` is d zeros and stays so."""
    for k in range(left.size):
        i = left[k]
        for p in range(indptr[i], indptr[i + 1]):
            buffer[indices[p]] = data[p]
        for m in range(right.size):
            j = right[m]
            total = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                total += data[p] * buffer[indices[p]]
            out[k, m] = total
        for p in range(indptr[i], indptr[i + 1]):
            buffer[indices[p]] = 0.0


@compiled
def row_norms(indptr: Array, data: Array) -> Float:
    """‖x_i‖²."""
    norms = np.zeros(indptr.size - 1)
    for i in range(norms.size):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += float(data[p]) * float(data[p])
        norms[i] = total
    return norms


@compiled
def column_energy(indices: Array, data: Array, size: int) -> Float:
    """Σ_i x_ij² for each column j."""
    energy = np.zeros(size)
    for p in range(indices.size):
        energy[indices[p]] += float(data[p]) * float(data[p])
    return energy


@compiled
def take_rows(
    indptr: Array, indices: Array, data: Array, rows: Array
) -> tuple[Array, Array, Array]:
    """The CSR arrays of some rows."""
    count: Any = 0
    for k in range(rows.size):
        count += np.int64(indptr[rows[k] + 1] - indptr[rows[k]])
    new_indptr = np.zeros(rows.size + 1, dtype=indptr.dtype)
    new_indices = np.empty(count, dtype=indices.dtype)
    new_data = np.empty(count, dtype=data.dtype)
    to = np.uint64(0)
    for k in range(rows.size):
        for p in range(indptr[rows[k]], indptr[rows[k] + 1]):
            new_indices[to] = indices[p]
            new_data[to] = data[p]
            to += ONE
        new_indptr[k + 1] = to
    return new_indptr, new_indices, new_data


@compiled
def compact_rows(
    indptr: Array, indices: Array, data: Array, rows: Array, d: int
) -> tuple[Array, Array, Float, Array]:
    """The CSR arrays of some rows, over the columns they use in order of appearance, and these
    columns: the ones in frequent use become neighbours."""
    count: Any = 0
    for k in range(rows.size):
        count += np.int64(indptr[rows[k] + 1] - indptr[rows[k]])
    new_indptr = np.zeros(rows.size + 1, dtype=indptr.dtype)
    new_indices = np.empty(count, dtype=np.uint32)
    new_data = np.empty(count, dtype=np.float64)
    place, used, size = np.zeros(d, dtype=np.uint32), np.empty(d, dtype=indices.dtype), 0
    to = np.uint64(0)
    for k in range(rows.size):
        for p in range(indptr[rows[k]], indptr[rows[k] + 1]):
            j = indices[p]
            if place[j] == 0:
                used[size] = j
                size += 1
                place[j] = size
            new_indices[to] = place[j] - np.uint32(1)
            new_data[to] = data[p]
            to += ONE
        new_indptr[k + 1] = to
    return new_indptr, new_indices, new_data, used[:size].copy()


@compiled
def dense_columns(indptr: Array, indices: Array, data: Array, position: Array, out: Array) -> None:
    """out[i, position_j] = x_ij for the columns with position_j ≥ 0."""
    for i in range(indptr.size - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j = position[indices[p]]
            if j >= 0:
                out[i, j] = data[p]


@compiled
def compress(X: Array, bits: Array, indptr: Array, indices: Array, data: Array) -> bool:
    """CSR arrays of a dense matrix; returns whether there was room for all of it. `bits` is X seen
    as integers: runs of zeros are skipped sixteen at a time, and what is not a number is not zero.
    """
    width = X.shape[1]
    to = 0
    for i in range(X.shape[0]):
        if to + width > indices.size:
            return False
        j = 0
        while j < width:
            stop = min(j + 16, width)
            seen = bits[i, j] & 0
            for k in range(j, stop):
                seen |= bits[i, k]
            if seen != 0:
                for k in range(j, stop):
                    indices[to] = k
                    data[to] = X[i, k]
                    to += bits[i, k] != 0
            j = stop
        indptr[i + 1] = to
    return True


@compiled
def dense_rows(indptr: Array, indices: Array, data: Array, rows: Array, out: Array) -> None:
    """out_k = x_i for i = rows_k, into zeros."""
    for k in range(rows.size):
        for p in range(indptr[rows[k]], indptr[rows[k] + 1]):
            out[k, indices[p]] = data[p]
