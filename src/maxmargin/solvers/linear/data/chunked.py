"""Inputs larger than memory: the products of `matrix`, one chunk of samples after the other.

A source has `n` samples of `d` features in chunks; chunk k holds the samples from ``edges[k]`` to
``edges[k + 1]`` and is read by ``read(k)`` as an array or a sparse matrix. Coordinate descent
becomes block minimisation: a chunk that has been read is swept several times before the next one.
Newton's method needs a pass for each product, until the active samples fit into memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from ....runtime.sizes import CHUNK_BYTES, KEPT_BYTES
from ..dual import sweeps
from ..losses import Float
from . import csr
from .matrix import Cost, DenseMatrix, Matrix, Part, SparseMatrix, as_matrix


class ChunkSource(Protocol):
    """Samples in chunks."""

    n: int
    d: int
    edges: Any

    def read(self, k: int) -> Any:
        """The samples from ``edges[k]`` to ``edges[k + 1]``."""


def is_chunked(X: Any) -> bool:
    """Whether inputs come in chunks.

    Parameters
    ----------
    X : any
        With a method `read` and an attribute `edges`, as `ArrayChunks` has them.

    Returns
    -------
    bool

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import ArrayChunks, is_chunked
    >>> X = np.arange(10.0).reshape(5, 2)
    >>> is_chunked(X), is_chunked(ArrayChunks(X))
    (False, True)
    """
    return hasattr(X, "read") and hasattr(X, "edges")


class ArrayChunks:
    """The rows of an array, such as a `numpy.memmap`, in chunks.

    Parameters
    ----------
    X : array of shape (n, d)
    rows : int, optional
        Of a chunk; by default as many as make 64 MB of float64.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import ArrayChunks
    >>> source = ArrayChunks(np.arange(10.0).reshape(5, 2), rows=2)
    >>> source.edges
    array([0, 2, 4, 5])
    >>> source.read(2)
    array([[8., 9.]])
    """

    def __init__(self, X: Any, rows: int | None = None) -> None:
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}: reshape it to (n, d)")
        self.X = X
        self.n, self.d = X.shape
        self.edges = even_edges(self.n, self.d, rows)

    def read(self, k: int) -> Any:
        """The rows of chunk k, float32 or float64."""
        X = np.asarray(self.X[self.edges[k] : self.edges[k + 1]])
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def even_edges(n: int, d: int, rows: int | None = None) -> Any:
    """Edges of chunks of `rows` rows, the last one shorter; by default of `CHUNK_BYTES`."""
    if rows is not None and rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    step = rows if rows is not None else max(1, CHUNK_BYTES // (8 * max(1, d)))
    return np.append(np.arange(0, n, step), n)


class _Rows:
    """Some samples of a source, in ascending order."""

    def __init__(self, source: ChunkSource, rows: Any) -> None:
        self.source, self.rows = source, rows
        self.n, self.d = len(rows), source.d
        self.edges = np.searchsorted(rows, source.edges)

    def read(self, k: int) -> Any:
        own = self.rows[self.edges[k] : self.edges[k + 1]]
        return self.source.read(k)[own - self.source.edges[k]] if own.size else self._nothing()

    def _nothing(self) -> Any:
        return np.empty((0, self.d))


class _Columns:
    """Some features of a source."""

    def __init__(self, source: ChunkSource, columns: Any) -> None:
        self.source, self.columns = source, columns
        self.n, self.d, self.edges = source.n, len(columns), source.edges

    def read(self, k: int) -> Any:
        chunk = self.source.read(k)
        return (chunk.tocsr() if sp.issparse(chunk) else chunk)[:, self.columns]


class _Scaled:
    """The samples of a source in another unit."""

    def __init__(self, source: ChunkSource, factor: float) -> None:
        self.source, self.factor = source, factor
        self.n, self.d, self.edges = source.n, source.d, source.edges

    def read(self, k: int) -> Any:
        return self.source.read(k).astype(np.float64) * self.factor


class _At:
    """The products of a chunked matrix with some of its samples, in ascending order."""

    def __init__(self, matrix: ChunkedMatrix, rows: Any) -> None:
        self.matrix, self.rows = matrix, rows

    def margins(self, w: Float) -> Float:
        return self.matrix.margins_at(self.rows, w)

    def combine(self, coef: Float) -> Float:
        return self.matrix.combine_at(self.rows, coef)


class ChunkedMatrix:
    """`Matrix` for a source of chunks: every product is a pass over the data.

    Parameters
    ----------
    source : ArrayChunks, or another source of chunks
    memory : int
        Bytes of chunks that are kept between passes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.linear import ArrayChunks, ChunkedMatrix
    >>> matrix = ChunkedMatrix(ArrayChunks(np.arange(10.0).reshape(5, 2), rows=2))
    >>> matrix.margins(np.array([1.0, -1.0]))
    array([-1., -1., -1., -1., -1.])
    """

    def __init__(self, source: ChunkSource, memory: int = KEPT_BYTES) -> None:
        self.source, self.memory = source, memory
        self.n, self.d = int(source.n), int(source.d)
        self.edges = np.asarray(source.edges)
        self.passes = 0
        # Called before a chunk is read; it may raise.
        self.check: Callable[[], None] = lambda: None
        self._kept: dict[int, Matrix] = {}
        self._free_bytes = memory

    def __len__(self) -> int:
        return len(self.edges) - 1

    def chunk(self, k: int) -> Matrix:
        """The matrix of a chunk; the first ones read are cached while there is memory."""
        self.check()
        if k not in self._kept:
            chunk = as_matrix(self.source.read(k))
            size = chunk.entries * (16 if isinstance(chunk, SparseMatrix) else 8)
            if size > self._free_bytes:
                return chunk
            self._kept[k] = chunk
            self._free_bytes -= size
        return self._kept[k]

    def chunks(self, wanted: Any = None) -> Iterator[tuple[slice, Matrix]]:
        """Every chunk with a wanted sample, and its range among all samples."""
        self.passes += 1
        for k in range(len(self)):
            place = slice(int(self.edges[k]), int(self.edges[k + 1]))
            if place.start < place.stop and (wanted is None or wanted[place].any()):
                yield place, self.chunk(k)

    def parts(self, rows: Any) -> Iterator[tuple[slice, Any, Matrix]]:
        """Ascending rows: their places among them, their numbers in a chunk, and the chunk."""
        marks = np.searchsorted(rows, self.edges)
        self.passes += 1
        for k in np.flatnonzero(np.diff(marks)):
            own = slice(int(marks[k]), int(marks[k + 1]))
            yield own, rows[own] - self.edges[k], self.chunk(int(k))

    @cached_property
    def _first_pass(self) -> tuple[Float, int, float, float]:
        began = time.perf_counter()
        norms, entries, largest = np.zeros(self.n), 0, [0.0]
        for place, chunk in self.chunks():
            largest.append(chunk.largest)
            norms[place] = chunk.squared_norms
            entries += chunk.entries
        return norms, entries, float(np.max(largest)), time.perf_counter() - began

    @property
    def squared_norms(self) -> Float:
        return self._first_pass[0]

    @property
    def entries(self) -> int:
        return self._first_pass[1]

    @property
    def largest(self) -> float:
        """A bound of the entries; NaN or infinity if one of them is."""
        return self._first_pass[2]

    @property
    def pass_seconds(self) -> float:
        """Seconds of the first pass over all chunks."""
        return self._first_pass[3]

    @property
    def row_cost(self) -> Cost:
        return self.chunk(0).row_cost

    def margins(self, w: Float) -> Float:
        """x_i·w for every sample."""
        out = np.empty(self.n)
        for place, chunk in self.chunks():
            out[place] = chunk.margins(w)
        return out

    def combine(self, coef: Float) -> Float:
        """Σ coef_i x_i."""
        out = np.zeros(self.d)
        for place, chunk in self.chunks(coef != 0.0):
            out += chunk.combine(coef[place])
        return out

    def margins_at(self, rows: Any, w: Float) -> Float:
        """x_i·w for some samples, in ascending order."""
        out = np.empty(len(rows))
        for own, local, chunk in self.parts(rows):
            out[own] = chunk.margins_at(local, w)
        return out

    def combine_at(self, rows: Any, coef: Float) -> Float:
        """Σ coef_i x_i over some samples, in ascending order."""
        out = np.zeros(self.d)
        for own, local, chunk in self.parts(rows):
            out += chunk.combine_at(local, coef[own])
        return out

    def add_outer(self, rows: Any, coef: Float, gram: Float, border: Float) -> None:
        """Add Σ coef_i x_i x_iᵀ to `gram` and Σ coef_i x_i to `border`, over some samples."""
        for own, local, chunk in self.parts(rows):
            chunk.add_outer(local, coef[own], gram, border)

    def take(self, rows: Any) -> Matrix:
        """Some samples, in memory."""
        taken = [chunk.take(local) for _, local, chunk in self.parts(rows)]
        return joined(taken, self.d)

    def compact(self, rows: Any) -> Part:
        """Some samples, not loaded into memory, for products only."""
        return Part(_At(self, rows), slice(None))

    def select(self, rows: Any) -> ChunkedMatrix:
        """Some samples, not loaded into memory."""
        return ChunkedMatrix(_Rows(self.source, rows), self.memory)

    def columns(self, chosen: Any) -> ChunkedMatrix:
        """The matrix of some features."""
        return ChunkedMatrix(_Columns(self.source, chosen), self.memory)

    def scaled(self, factor: float) -> ChunkedMatrix:
        """The matrix times a factor."""
        return ChunkedMatrix(_Scaled(self.source, factor), self.memory)

    def inner(self, left: Any, right: Any) -> Float:
        """x_i·x_j for two lists of samples."""
        rows, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        return self.take(rows).inner(places[: len(left)], places[len(left) :])

    def heavy_columns(self, count: int) -> Any:
        """The `count` columns with the largest sums of squares, dense in float32."""
        energy = np.zeros(self.d)
        for _, chunk in self.chunks():
            energy += column_energy(chunk)
        heaviest = np.argsort(-energy, kind="stable")[: min(count, self.d)]
        order = np.argsort(heaviest)
        out = np.empty((self.n, heaviest.size), dtype=np.float32)
        for place, chunk in self.chunks():
            out[place, order] = dense(chunk.columns(heaviest[order]))
        return out

    def sweep(
        self,
        loss: Any,
        norms: Float,
        beta: Float,
        w: Float,
        b: float,
        kappa: float,
        order: Any,
        count: int,
        least: float,
        most: float,
        shrinking: bool,
    ) -> tuple[float, int, float, float]:
        """Block minimisation: several sweeps over each chunk. The first one shrinks, and sees the
        gradient as the other chunks left it."""
        active = order[:count]
        owner = np.searchsorted(self.edges, active, side="right") - 1
        low, high = np.inf, -np.inf
        left, gone = [], [order[count:]]
        state = np.array([2 * count + 1], dtype=np.uint64)
        for k in np.unique(owner):
            place = slice(int(self.edges[k]), int(self.edges[k + 1]))
            local, size = active[owner == k] - place.start, int((owner == k).sum())
            own, chunk = loss.at(place), self.chunk(int(k))
            fixed = (own, norms[place], beta[place], w)
            b, size, smallest, largest = chunk.sweep(
                *fixed, b, kappa, local, size, least, most, shrinking
            )
            low, high = min(low, smallest), max(high, largest)
            for _ in range(2):  # more sweeps cost less than reading
                sweeps.shuffle(local, size, state)
                b, size, _, _ = chunk.sweep(*fixed, b, kappa, local, size, least, most, False)
            left.append(local[:size] + place.start)
            gone.append(local[size:] + place.start)
        remaining = np.concatenate(left) if left else active
        order[:] = np.concatenate([remaining, *gone[::-1]])
        return b, remaining.size, low, high


def joined(parts: list[Matrix], d: int) -> Matrix:
    """The samples of all parts, one below the other."""
    sparse = [part for part in parts if isinstance(part, SparseMatrix)]
    if len(sparse) < len(parts) or not parts:
        arrays = [dense(part) for part in parts]
        return DenseMatrix(np.concatenate(arrays) if arrays else np.empty((0, d)))
    counts = [np.diff(part.indptr) for part in sparse]
    indptr = np.zeros(1 + sum(count.size for count in counts), dtype=np.int64)
    np.cumsum(np.concatenate(counts), out=indptr[1:], dtype=np.int64)
    return SparseMatrix(
        indptr,
        np.concatenate([part.indices for part in sparse]),
        np.concatenate([part.data.astype(np.float64, copy=False) for part in sparse]),
        d,
    )


def dense(matrix: Matrix) -> Float:
    if isinstance(matrix, DenseMatrix):
        result: Float = matrix.X.astype(np.float64, copy=False)
        return result
    out = np.zeros((matrix.n, matrix.d))
    csr.dense_rows(matrix.indptr, matrix.indices, matrix.data, np.arange(matrix.n), out)
    return out


def column_energy(matrix: Matrix) -> Float:
    """Σ_i x_ij² for each feature j."""
    if isinstance(matrix, DenseMatrix):
        X = matrix.X.astype(np.float64, copy=False)
        result: Float = np.einsum("ij,ij->j", X, X)
        return result
    return csr.column_energy(matrix.indices, matrix.data, matrix.d)
