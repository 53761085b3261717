"""Blocks of ⟨φ(x), φ(z)⟩ + o(x) + o(z): dense by one GEMM, CSR by a compiled scatter.

Every kernel of vectors is a function of inner products and norms. Its inputs are embedded once,
φ(x) = scale·(x − centre) with an offset o(x) for each of them, as `DensePoints` or `CSRPoints`;
then `products` writes a block of the sum above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...runtime.buffers import buffer
from ...runtime.costs import DENSE_BYTES, DENSE_SHARE, WORTH_A_THREAD
from ...runtime.jit import compiled, inlined
from ...runtime.parallel import in_parts, product_part
from ..base import Array, Float, Inputs
from .elementwise import CHUNK, chunks
from .rare_features import RareEntries, entries_of
from .strides import as_slice, memory_line

# Rows of the left factor that the compiled CSR product processes together.
LANES = 64

Offset = Callable[[Array], Array]


@dataclass(frozen=True)
class Embedding:
    """x ↦ scale·(x − centre), with the offset computed from the squared norm of the image.

    `rare` are the features that are 0 in almost all images on the other side of the product.
    """

    dtype: Any
    dense: bool
    scale: float | Float = 1.0
    centre: Array | None = None
    offset: Offset | None = None
    rare: Array | None = None

    def __call__(self, X: Inputs) -> DensePoints | CSRPoints:
        return self._dense(X) if self.dense else self._csr(X)

    def _dense(self, X: Inputs) -> DensePoints:
        if sparse.issparse(X):
            X = X.toarray()
        n, d = X.shape
        shifted = self.rare is not None or self.centre is not None or self.offset is not None
        if not shifted and np.all(self.scale == 1.0):
            return DensePoints(np.ascontiguousarray(X, dtype=self.dtype), d)
        work = np.result_type(X.dtype, self.dtype)
        scale = np.full(d, self.scale, dtype=work)
        centre = np.full(d, 0.0 if self.centre is None else self.centre, dtype=work)
        rare = self.rare
        kept = np.arange(d) if rare is None else np.setdiff1d(np.arange(d), rare)
        if rare is not None:
            of_kept, of_rare = ((centre[f], scale[f]) for f in (kept, rare))
        width = kept.size
        table = buffer((n, width if self.offset is None else width + 2), dtype=self.dtype)
        norms, parts, step = np.empty(n), {}, max(1, CHUNK // max(d, 1))

        def some_rows(first: int, last: int) -> None:
            for start in range(first, last, step):
                rows = slice(start, min(start + step, last))
                part = np.ascontiguousarray(X[rows], dtype=work)
                if rare is None:
                    embed(part, centre, scale, table[rows], norms[rows])
                else:
                    embed_some(part, *of_kept, kept, table[rows], norms[rows])
                    parts[start] = entries_of(part, *of_rare, rare, table, norms[rows])

        in_parts(some_rows, n, n * d)
        if self.offset is not None:
            table[:, width] = self.offset(norms)
            table[:, width + 1] = 1.0
        entries = RareEntries.joined(parts, rare.size, self.dtype) if rare is not None else None
        return DensePoints(table, width, entries if entries and entries.matrix.nnz else None)

    def _csr(self, X: Inputs) -> CSRPoints:
        X = sparse.csr_array(X, dtype=self.dtype, copy=True)
        X.sum_duplicates()
        # One index type for all matrices avoids further compiled specialisations.
        index = np.int32 if X.nnz < 1 << 31 else np.int64
        X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
        if np.any(self.scale != 1.0):
            X.data *= np.broadcast_to(self.scale, X.shape[1:])[X.indices]
        offsets = np.zeros(X.shape[0], dtype=self.dtype)
        if self.offset is not None:
            offsets[:] = self.offset(squared_norms(X))
        return CSRPoints(X, offsets)


@dataclass(frozen=True)
class DensePoints:
    """Rows (φ(x), o(x), 1), or φ(x) alone without offsets; rare features are stored separately."""

    table: Array
    features: int
    rare: RareEntries | None = None

    def __len__(self) -> int:
        return len(self.table)

    def take(self, indices: Array | slice) -> DensePoints:
        indices = as_slice(indices)
        rare = None if self.rare is None else self.rare.take(indices)
        return DensePoints(taken(self.table, indices), self.features, rare)

    def products(self, right: DensePoints, out: Array) -> None:
        left = self.table
        if left.shape[1] > self.features:
            left = swap_offset_columns(left)

        def some_rows(start: int, stop: int) -> None:
            np.matmul(left[start:stop], right.table.T, out=out[start:stop])

        def some_columns(start: int, stop: int) -> None:
            np.matmul(left, right.table[start:stop].T, out=out[:, start:stop])

        # BLAS packs both factors, so each thread gets a part of the longer one.
        task = some_rows if len(left) >= len(right) else some_columns
        size = max(out.shape)
        in_parts(task, size, out.size, self.features, least=product_part(size))
        if self.rare is not None and right.rare is not None:
            self.rare.add_products(right.rare, out)

    def images(self) -> Array:
        return self.table[:, : self.features]

    def squared_norms(self) -> Float:
        rare = 0.0 if self.rare is None else squared_norms(self.rare.matrix)
        return squared_norms(self.images()) + rare

    def weighted_squares(self, weights: Float) -> Float:
        """Σ_i weights_i φ(x_i)², feature by feature."""
        images = self.images()
        return np.asarray(weights @ (images * images))

    def weighted_products(self, right: DensePoints, M: Float) -> Float:
        """Σ_ij M_ij φ(x_i) φ(z_j), feature by feature."""
        return np.asarray(np.einsum("if,if->f", self.images(), M @ right.images()))


@dataclass(frozen=True)
class CSRPoints:
    """A canonical CSR matrix of rows φ(x), and the offsets o(x)."""

    matrix: Any
    offsets: Array

    def __len__(self) -> int:
        return len(self.offsets)

    def take(self, indices: Array | slice) -> CSRPoints:
        indices = as_slice(indices)
        return CSRPoints(self.matrix[indices], self.offsets[indices])

    def products(self, right: CSRPoints, out: Array, columns: int = 32) -> None:
        """Write the products of all rows, computed in tiles of so many columns."""
        if not out.size:
            return
        line = memory_line(out) if out.dtype == self.offsets.dtype else None
        if line is None:
            block = np.empty(out.shape, dtype=self.offsets.dtype)
            self.products(right, block)
            out[...] = block
            return
        features, dtype = self.matrix.shape[1], out.dtype
        lanes = min(LANES, -(-len(self) // 16) * 16)
        ends = np.append(self.matrix.indptr[::lanes], self.matrix.nnz)
        longest = int(np.diff(right.matrix.indptr).max()) + 3
        csr_products(
            *self._arrays(),
            *right._arrays(),
            np.full(features, -1, dtype=np.int32),
            np.zeros((max(1, min(features, int(np.diff(ends).max()))), lanes), dtype),
            np.empty((columns, lanes), dtype),
            np.empty(longest, np.int64),
            np.empty(longest, dtype),
            *line,
        )

    def squared_norms(self) -> Float:
        return squared_norms(self.matrix)

    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        matrix = self.matrix
        return matrix.data, matrix.indices, matrix.indptr.astype(np.int64), self.offsets

    def weighted_squares(self, weights: Float) -> Float:
        """Σ_i weights_i φ(x_i)², feature by feature."""
        return np.asarray(self.matrix.power(2).T @ weights)

    def weighted_products(self, right: CSRPoints, M: Float) -> Float:
        """Σ_ij M_ij φ(x_i) φ(z_j), feature by feature."""
        return np.asarray(self.matrix.multiply((right.matrix.T @ M.T).T).sum(axis=0))


@compiled
def embed(X: Array, centre: Array, scale: Array, table: Array, squared_norms: Array) -> None:
    """table_i = scale·(X_i − centre), and the squared norm of the rounded result"""
    for i in range(X.shape[0]):
        for f in range(X.shape[1]):
            table[i, f] = (X[i, f] - centre[f]) * scale[f]
        total = 0.0
        for f in range(X.shape[1]):
            total += np.float64(table[i, f]) * np.float64(table[i, f])
        squared_norms[i] = total


@compiled
def embed_some(
    X: Array, centre: Array, scale: Array, kept: Array, table: Array, squared_norms: Array
) -> None:
    """As `embed`, for selected features only; centre and scale belong to these."""
    for i in range(X.shape[0]):
        for k in range(kept.size):
            table[i, k] = (X[i, kept[k]] - centre[k]) * scale[k]
        total = 0.0
        for k in range(kept.size):
            total += np.float64(table[i, k]) * np.float64(table[i, k])
        squared_norms[i] = total


@inlined
def scatter(
    data: Array,
    indices: Array,
    indptr: Array,
    top: int,
    bottom: int,
    position: Array,
    table: Array,
) -> None:
    """Write rows top to bottom into a dense table (feature that occurs, row); fill `position`."""
    present = 0
    for t in range(indptr[top], indptr[bottom]):
        if position[indices[t]] < 0:
            position[indices[t]] = present
            for k in range(table.shape[1]):
                table[present, k] = 0.0
            present += 1
    for i in range(top, bottom):
        for t in range(indptr[i], indptr[i + 1]):
            table[position[indices[t]], i - top] = data[t]


@inlined
def add_lines(table: Array, lines: Array, values: Array, present: int, sums: Array) -> None:
    """sums = Σ_t values_t · table[lines_t], four at a time; three entries past the end are used"""
    for t in range(present, present + 3):
        lines[t] = 0
        values[t] = 0.0
    for k in range(sums.size):
        sums[k] = 0.0
    for t in range(0, present, 4):
        v0, v1, v2, v3 = values[t], values[t + 1], values[t + 2], values[t + 3]
        l0, l1, l2, l3 = lines[t], lines[t + 1], lines[t + 2], lines[t + 3]
        for k in range(sums.size):
            sums[k] += v0 * table[l0, k] + v1 * table[l1, k] + v2 * table[l2, k] + v3 * table[l3, k]


@compiled
def csr_products(
    left_data: Array,
    left_indices: Array,
    left_indptr: Array,
    left_offsets: Array,
    right_data: Array,
    right_indices: Array,
    right_indptr: Array,
    right_offsets: Array,
    position: Array,
    table: Array,
    tile: Array,
    lines: Array,
    values: Array,
    out: Array,
    step: int,
) -> None:
    """out[i·step + j] = ⟨left_i, right_j⟩ + left_offsets_i + right_offsets_j

    A few left rows at a time are laid out densely, feature by feature, over the features that
    occur in them; `position` says where (-1: nowhere, as it must be on entry and is on exit).
    Each entry of a right row then adds a multiple of one line of this table to the row's sums,
    four entries in one pass. The other arrays are scratch memory: the table, the sums of some right
    rows, and the entries of the longest one and three more.
    """
    rows, columns, lanes = left_offsets.size, right_offsets.size, tile.shape[1]
    for top in range(0, rows, lanes):
        bottom = top + lanes if top + lanes < rows else rows
        scatter(left_data, left_indices, left_indptr, top, bottom, position, table)
        for first in range(0, columns, tile.shape[0]):
            last = first + tile.shape[0] if first + tile.shape[0] < columns else columns
            for j in range(first, last):
                present = 0
                for t in range(right_indptr[j], right_indptr[j + 1]):
                    line = position[right_indices[t]]
                    lines[present] = line
                    values[present] = right_data[t]
                    if line >= 0:
                        present += 1
                add_lines(table, lines, values, present, tile[j - first])
            for i in range(top, bottom):
                for j in range(first, last):
                    offset = left_offsets[i] + right_offsets[j]
                    out[i * step + j] = tile[j - first, i - top] + offset
        for t in range(left_indptr[top], left_indptr[bottom]):
            position[left_indices[t]] = -1


def dense_is_faster(X: Inputs) -> bool:
    """Whether inputs are dense, or CSR with a density at which GEMM is faster."""
    if not sparse.issparse(X):
        return True
    size = X.shape[0] * X.shape[1]
    return bool(X.nnz >= DENSE_SHARE * size and 8 * size <= DENSE_BYTES)


def centre_of(X: Inputs) -> Array:
    """Approximately the mean of the inputs; its accuracy does not matter."""
    n = max(X.shape[0], 1)
    if X.dtype.kind != "f" or sparse.issparse(X):
        return np.asarray(X.sum(axis=0, dtype=np.float64) / n).ravel()
    return np.asarray(np.full(len(X), 1.0 / n, dtype=X.dtype) @ X)


def squared_norms(X: Inputs) -> Float:
    """‖x‖² of every row, in float64."""
    if sparse.issparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=1)).ravel()
    if X.dtype == np.float64:
        return np.asarray(np.vecdot(X, X))
    norms = np.empty(X.shape[0])
    for part in chunks(*X.shape):
        rows = X[part].astype(np.float64, copy=False)
        norms[part] = np.vecdot(rows, rows)
    return norms


def swap_offset_columns(table: Array) -> Array:
    """Rows (φ, 1, o) of rows (φ, o, 1)."""
    swapped = table.copy()
    swapped[:, -2:] = table[:, :-3:-1]
    return swapped


def taken(table: Array, indices: Array | slice) -> Array:
    """Some rows of a table: a view if they are consecutive, else a copy."""
    if isinstance(indices, slice) or len(indices) * table.shape[1] < WORTH_A_THREAD:
        return table[indices]
    if indices.min() < 0 or indices.max() >= len(table):
        return table[indices]
    copy = buffer((len(indices), table.shape[1]), table.dtype)

    def some_rows(start: int, stop: int) -> None:
        # Only mode "clip" writes without a temporary buffer.
        np.take(table, indices[start:stop], axis=0, out=copy[start:stop], mode="clip")

    in_parts(some_rows, len(indices), copy.size)
    return copy
