"""The inputs of a linear machine, dense or sparse, behind the products that a solver needs.

    margins(w)         x_i·w for every sample
    combine(coef)      Σ coef_i x_i
    take(index)        the matrix of some samples
    compact(index)     the same over the features that they use
    outer(...)         Σ coef_i x_i x_iᵀ     for Newton systems in the features
    inner(...)         x_i·x_j              for Newton systems in the samples

Results are always float64; float32 inputs are converted a block at a time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ....runtime.sizes import BLOCK_ENTRIES
from ..costs import COSTS
from ..dual import joint_compiled, sweeps
from ..losses import Float
from . import csr
from .parts import even_parts, parts_of, run_parts


class Cost(NamedTuple):
    """Approximate nanoseconds per row: x·w, x xᵀ, and x·x'. Only the ratios matter."""

    product: float
    outer: float
    inner: float


class Part(NamedTuple):
    """The matrix of some samples over (at least) the features that they use, and these features."""

    matrix: Any
    used: Any


class DenseMatrix:
    """Samples as rows of a dense array."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n, self.d = X.shape
        self.entries: int = self.n * self.d

    @cached_property
    def row_cost(self) -> Cost:
        d = self.d
        return Cost(product=0.6 * d, outer=0.04 * d * d + 2.0 * d, inner=COSTS.dense_product * d)

    @property
    def pass_seconds(self) -> float:
        """About how long a product with all samples takes."""
        result: float = 1e-9 * self.row_cost.product * self.n
        return result

    def blocks(self, start: int = 0, stop: int | None = None) -> Any:
        """Rows of at most 4 MB: converted copies stay in the cache, and the clock is checked."""
        step = max(1, BLOCK_ENTRIES // 2 // max(1, self.d))
        stop = self.n if stop is None else stop
        for top in range(start, stop, step):
            yield slice(top, min(top + step, stop))

    @cached_property
    def largest(self) -> float:
        """A bound of the entries: the largest norm, or the largest entry where squares overflow or
        vanish; NaN or infinity if one of them is."""
        norm = float(self.squared_norms.max(initial=0.0))
        if 1e-280 <= norm < np.inf:
            return float(np.sqrt(norm))
        return max((float(np.abs(self.X[rows]).max()) for rows in self.blocks()), default=0.0)

    def scaled(self, factor: float) -> DenseMatrix:
        return DenseMatrix(self.X.astype(np.float64, copy=False) * factor)

    def margins(self, w: Float) -> Float:
        out = np.empty(self.n)

        def part(start: int, stop: int) -> None:
            for rows in self.blocks(start, stop):
                np.dot(self.X[rows].astype(np.float64, copy=False), w, out=out[rows])

        run_parts(part, even_parts(self.n, self.entries))
        return out

    def margins_at(self, rows: Any, w: Float) -> Float:
        return np.asarray(self.X[rows].astype(np.float64, copy=False) @ w)

    def combine(self, coef: Float) -> Float:
        if np.count_nonzero(coef) < 0.3 * self.n:
            rows = np.flatnonzero(coef)
            return self.combine_at(rows, coef[rows])

        def part(start: int, stop: int) -> Float:
            out = np.zeros(self.d)
            for rows in self.blocks(start, stop):
                out += coef[rows] @ self.X[rows].astype(np.float64, copy=False)
            return out

        result: Float = sum(run_parts(part, even_parts(self.n, self.entries, self.d)))
        return result

    def combine_at(self, rows: Any, coef: Float) -> Float:
        def part(start: int, stop: int) -> Float:
            out = np.zeros(self.d)
            for some in self.blocks(start, stop):
                out += coef[some] @ self.X[rows[some]].astype(np.float64, copy=False)
            return out

        result: Float = sum(run_parts(part, even_parts(len(rows), len(rows) * self.d, self.d)))
        return result

    def take(self, rows: Any) -> DenseMatrix:
        return DenseMatrix(self.X[rows].astype(np.float64, copy=False))

    select = take

    def compact(self, rows: Any) -> Part:
        return Part(self.take(rows), slice(None))

    def columns(self, chosen: Any) -> DenseMatrix:
        """The matrix of some features."""
        return DenseMatrix(self.X[:, chosen].astype(np.float64, copy=False))

    def add_outer(self, rows: Any, coef: Float, gram: Float, border: Float) -> None:
        def part(start: int, stop: int) -> tuple[Float, Float]:
            own, total = np.zeros((self.d, self.d)), np.zeros(self.d)
            for some in self.blocks(start, stop):
                X = self.X[some if whole else rows[some]].astype(np.float64, copy=False)
                own += (X * coef[some, None]).T @ X
                total += coef[some] @ X
            return own, total

        whole = len(rows) == self.n and bool((np.diff(rows) == 1).all())

        parts = even_parts(len(rows), len(rows) * self.d, self.d**2)
        for own, total in run_parts(part, parts):
            gram += own
            border += total

    def inner(self, left: Any, right: Any) -> Float:
        A = self.X[left].astype(np.float64, copy=False)
        result: Float = A @ self.X[right].astype(np.float64, copy=False).T
        return result

    @cached_property
    def squared_norms(self) -> Float:
        out = np.empty(self.n)

        def part(start: int, stop: int) -> None:
            for rows in self.blocks(start, stop):
                X = self.X[rows].astype(np.float64, copy=False)
                np.einsum("ij,ij->i", X, X, out=out[rows])

        with np.errstate(over="ignore", invalid="ignore"):
            run_parts(part, even_parts(self.n, self.entries))
        return out

    def sweep(self, *state: Any) -> Any:
        return sweeps.sweep_dense(self.X, *state)

    def joint_sweep(self, *state: Any) -> None:
        joint_compiled.sweep_dense(self.X, *state)

    def heavy_columns(self, count: int) -> Any:
        """The columns of largest norm, dense, heaviest first, in single precision."""
        if count >= self.d:
            return self.X.astype(np.float32, copy=False)
        energy = np.zeros(self.d)
        for rows in self.blocks():
            X = self.X[rows].astype(np.float64, copy=False)
            energy += np.einsum("ij,ij->j", X, X)
        return self.X[:, np.argsort(-energy, kind="stable")[:count]].astype(np.float32, copy=False)


class SparseMatrix:
    """Samples as rows of a CSR matrix with sorted indices.

    Row pointers and indices are viewed as unsigned: for signed ones Numba checks for negative
    indices, which costs as much as the product itself.
    """

    def __init__(self, indptr: Any, indices: Any, data: Any, d: int) -> None:
        self.indptr, self.data = indptr.view(np.uint64), data
        self.indices = indices.view(np.uint32 if indices.itemsize == 4 else np.uint64)
        self.n, self.d = indptr.size - 1, d
        self.entries: int = data.size

    @cached_property
    def row_cost(self) -> Cost:
        r = self.entries / max(1, self.n)
        inner = min(0.8 * r + 2.0, COSTS.dense_product * self.d)
        return Cost(product=r + 4.0, outer=1.5 * r * r + 4.0, inner=inner)

    @property
    def pass_seconds(self) -> float:
        """About how long a product with all samples takes."""
        result: float = 1e-9 * self.row_cost.product * self.n
        return result

    @cached_property
    def largest(self) -> float:
        """The largest entry; NaN or infinity if one of them is."""
        return float(np.abs(self.data).max(initial=0.0))

    def scaled(self, factor: float) -> SparseMatrix:
        data = self.data.astype(np.float64, copy=False) * factor
        return SparseMatrix(self.indptr, self.indices, data, self.d)

    def margins(self, w: Float) -> Float:
        out = np.empty(self.n)

        def part(start: int, stop: int) -> None:
            csr.margins(self.indptr, self.indices, self.data, w, start, stop, out)

        run_parts(part, parts_of(self.indptr, self.entries))
        return out

    def margins_at(self, rows: Any, w: Float) -> Float:
        out = np.empty(len(rows))

        def part(start: int, stop: int) -> None:
            csr.margins_at(
                self.indptr, self.indices, self.data, w, rows[start:stop], out[start:stop]
            )

        run_parts(part, self._parts_at(rows))
        return out

    def combine(self, coef: Float) -> Float:
        def part(start: int, stop: int) -> Float:
            out = np.zeros(self.d)
            csr.combine(self.indptr, self.indices, self.data, coef, start, stop, out)
            return out

        result: Float = sum(run_parts(part, parts_of(self.indptr, self.entries, self.d)))
        return result

    def combine_at(self, rows: Any, coef: Float) -> Float:
        def part(start: int, stop: int) -> Float:
            out = np.zeros(self.d)
            csr.combine_at(
                self.indptr, self.indices, self.data, coef[start:stop], rows[start:stop], out
            )
            return out

        result: Float = sum(run_parts(part, self._parts_at(rows, self.d)))
        return result

    def _parts_at(self, rows: Any, sums: int = 0) -> list[tuple[int, int]]:
        entries = len(rows) * (self.entries // max(1, self.n))
        return even_parts(len(rows), entries, sums)

    def take(self, rows: Any) -> SparseMatrix:
        return SparseMatrix(*csr.take_rows(self.indptr, self.indices, self.data, rows), self.d)

    select = take

    def compact(self, rows: Any) -> Part:
        arrays = self.indptr, self.indices, self.data
        indptr, indices, data, used = csr.compact_rows(*arrays, rows, self.d)
        return Part(SparseMatrix(indptr, indices, data, used.size), used)

    def columns(self, chosen: Any) -> SparseMatrix:
        """The matrix of some features, in ascending order."""
        signed = self.indices.view(np.int32 if self.indices.itemsize == 4 else np.int64)
        ends = self.indptr.view(np.int64)
        whole = sp.csr_array((self.data, signed, ends), shape=(self.n, self.d))
        part = whole[:, chosen]
        return SparseMatrix(
            part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data, len(chosen)
        )

    def add_outer(self, rows: Any, coef: Float, gram: Float, border: Float) -> None:
        csr.add_outer(self.indptr, self.indices, self.data, coef, rows, gram, border)

    def inner(self, left: Any, right: Any) -> Float:
        if COSTS.dense_product * self.d <= self.row_cost.inner:
            dense = self._dense(right)
            same = len(left) == len(right) and np.array_equal(left, right)
            return (dense if same else self._dense(left)) @ dense.T
        out = np.empty((len(left), len(right)))
        csr.inner_products(self.indptr, self.indices, self.data, left, right, np.zeros(self.d), out)
        return out

    def _dense(self, rows: Any) -> Float:
        out = np.zeros((len(rows), self.d))
        csr.dense_rows(self.indptr, self.indices, self.data, rows, out)
        return out

    @cached_property
    def squared_norms(self) -> Float:
        return csr.row_norms(self.indptr, self.data)

    def sweep(self, *state: Any) -> Any:
        return sweeps.sweep_sparse(self.indptr, self.indices, self.data, *state)

    def joint_sweep(self, *state: Any) -> None:
        joint_compiled.sweep_sparse(self.indptr, self.indices, self.data, *state)

    def heavy_columns(self, count: int) -> Any:
        """The columns of largest norm, dense, heaviest first, in single precision."""
        energy = csr.column_energy(self.indices, self.data, self.d)
        count = min(count, self.d)
        heavy = np.argpartition(-energy, count - 1)[:count] if count else np.zeros(0, np.int64)
        heavy = heavy[np.argsort(-energy[heavy], kind="stable")]
        position = np.full(self.d, -1)
        position[heavy] = np.arange(heavy.size)
        out = np.zeros((self.n, heavy.size), dtype=np.float32)
        csr.dense_columns(self.indptr, self.indices, self.data, position, out)
        return out


Matrix = DenseMatrix | SparseMatrix


def as_matrix(X: Any) -> Matrix:
    """The matrix of validated inputs: a 2-D array or a scipy sparse matrix, float32 or float64.

    Parameters
    ----------
    X : array or sparse matrix of shape (samples, features)

    Returns
    -------
    DenseMatrix or SparseMatrix

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import as_matrix
    >>> matrix = as_matrix(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> matrix.margins(np.array([1.0, 1.0])), matrix.combine(np.array([1.0, -1.0]))
    (array([3., 7.]), array([-2., -2.]))
    """
    if sp.issparse(X):
        return _from_csr(X.tocsr())
    X = np.asarray(X)
    sample = X[:: max(1, X.shape[0] // 256)]
    density = np.count_nonzero(sample) / max(1, sample.size)
    if X.size > 1 << 16 and density < COSTS.dense_above:
        return _compressed(np.ascontiguousarray(X), density)
    return DenseMatrix(X)


def _from_csr(X: Any) -> SparseMatrix:
    if not X.has_sorted_indices or not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indices, indptr = X.indices, X.indptr
    if indices.dtype != np.int32 and X.shape[1] <= np.iinfo(np.int32).max:
        indices = indices.astype(np.int32)
    return SparseMatrix(indptr.astype(np.int64), indices, X.data, X.shape[1])


def _compressed(X: Any, density: float) -> SparseMatrix:
    """CSR arrays of a dense matrix, made by parts in threads.

    They are allocated for twice the size extrapolated from some of the rows.
    """
    n, d = X.shape
    width = int(2.0 * density * d) + 1
    indices, data = np.empty(n * width + d, dtype=np.int32), np.empty(n * width + d, dtype=X.dtype)
    indptr = np.zeros(n + 1, dtype=np.int64)
    bits = X.view(np.int64 if X.dtype == np.float64 else np.int32)

    def part(start: int, stop: int) -> Any:
        ends, own = np.zeros(stop - start + 1, np.int64), slice(start * width, stop * width + d)
        done = csr.compress(X[start:stop], bits[start:stop], ends, indices[own], data[own])
        return ends if done else None

    parts = even_parts(n, X.size)
    pieces = run_parts(part, parts)
    if any(ends is None for ends in pieces):
        return _from_csr(sp.csr_array(X))
    for (start, stop), ends in zip(parts, pieces):
        own, first = slice(start * width, start * width + ends[-1]), indptr[start]
        indptr[start + 1 : stop + 1] = first + ends[1:]
        if start:
            indices[first : first + ends[-1]] = indices[own]
            data[first : first + ends[-1]] = data[own]
    return SparseMatrix(indptr, indices[: indptr[-1]], data[: indptr[-1]], d)
