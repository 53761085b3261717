"""Common parts of kernels of vectors: blocks, Gram matrix, derivatives.

k(x, z) = f(⟨φ(x), φ(z)⟩ + o(x) + o(z)),   φ(x) = scale·(x − centre)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...runtime.buffers import buffer
from ...runtime.costs import RARE, WORTH_A_THREAD
from ...runtime.parallel import in_parts, in_turn, own_threads, product_part
from ..base import Array, Float, Gram, Inputs, Kernel, checked_weights
from .elementwise import chunks
from .embedding import (
    LANES,
    CSRPoints,
    DensePoints,
    Embedding,
    Offset,
    centre_of,
    dense_is_faster,
)
from .rare_features import rare_features, rare_share
from .strides import place_tile, uneven_step


class Sizes(NamedTuple):
    """Sizes of the blocks in which Gram matrices are computed."""

    # Elements of embedded inputs in memory at a time: enough for GEMM, small beside the inputs.
    embedded_size: int = 1 << 21
    # With at most `few_rows` rows on the other side the cache matters more than GEMM.
    few_rows: int = 64
    embedded_size_for_few: int = 1 << 18
    # Rows of a Gram matrix that a thread computes at a time, in its cache.
    tile_rows: int = 96
    # Entries computed in the time in which another thread wakes up.
    late: int = 16_000
    # Elements of a block of derivatives.
    gradient_size: int = 1 << 16


SIZES = Sizes()


Points = DensePoints | CSRPoints


class VectorKernel(Kernel):
    """k(x, z) = f(⟨φ(x), φ(z)⟩ + o(x) + o(z)), φ(x) = scale·(x − centre)

    Inputs are arrays of shape (samples, features) or SciPy sparse matrices of that shape.
    """

    # Whether k(x, z) depends on x − z alone, so that the inputs may be centred.
    _stationary = False

    def _scale(self) -> float | Float:
        return 1.0

    def _offset(self) -> Offset | None:
        """o(x) as a function of ‖φ(x)‖²; None if it is 0."""
        return None

    @abstractmethod
    def _finish(self, block: Array) -> None:
        """u ← f(u), in place."""

    @abstractmethod
    def _sensitivity(self, largest: float) -> float:
        """Largest change of k for a relative change of inner products, all ≤ `largest`."""

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        if B is None or B is A:
            return self.bind(as_vectors("A", A)).matrix()
        A, B = as_vectors("A", A), as_vectors("B", B)
        self._check_features(A, B)
        dtype = np.float32 if A.dtype == B.dtype == np.float32 else np.float64
        embedding = self._embedding_towards(B, dtype, others=A)
        block = np.empty((A.shape[0], B.shape[0]), dtype=dtype)
        size = SIZES.embedded_size if A.shape[0] > SIZES.few_rows else SIZES.embedded_size_for_few
        features = B.shape[1] if embedding.dense else 1
        for rows in chunks(A.shape[0], features, SIZES.embedded_size):
            left = embedding(A[rows])
            for columns in chunks(B.shape[0], features, size):
                self._fill(left, embedding(B[columns]), block[rows, columns])
        return block

    def evaluator(
        self, B: Inputs, dtype: Any, others: Inputs | None = None
    ) -> Callable[[Inputs, Array], None]:
        """A function that writes the block k(A, B) into an array, for many A; B is prepared once,
        for inputs like `others` if given."""
        B = as_vectors("B", B)
        share = RARE.towards_unknown if others is None else None  # speed only
        embedding = self._embedding_towards(B, dtype, share, others)
        right = embedding(B)

        def write(A: Inputs, out: Array) -> None:
            A = as_vectors("A", A)
            self._check_features(A, B)
            self._fill(embedding(A), right, out)

        return write

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        X = as_vectors("X", X)
        self._check_width(X)
        return VectorGram(self, X, dtype)

    def _fill(self, left: Any, right: Any, out: Array) -> None:
        left.products(right, out)
        self._finish(out)

    def _fill_rows(self, left: Any, right: Any, out: Array) -> bool:
        """As `_fill`, in threads, if the kernel has such a method; returns whether it has."""
        del left, right, out
        return False

    def _fill_matrix(
        self, points: DensePoints, matrix: Array, shares: list[list[int]], rows: int
    ) -> bool:
        """Write the whole Gram matrix of points in tiles of `rows` rows; `shares` are the first
        rows of the tiles of each thread. Returns whether the kernel has such a method."""
        del points, matrix, shares, rows
        return False

    def _transposed(self, points: DensePoints) -> Array | None:
        """See `Gram.transposed_points`."""
        del points
        return None

    def _transposed_width(self, points: DensePoints) -> int:
        """See `Gram.transposed_width`."""
        del points
        return 0

    def _embedding(self, X: Inputs, dtype: Any, offsets: bool = True) -> Embedding:
        dense = dense_is_faster(X)
        centre = centre_of(X) if self._stationary and dense else None
        return Embedding(dtype, dense, self._scale(), centre, self._offset() if offsets else None)

    def _embedding_towards(
        self, B: Inputs, dtype: Any, share: float | None = None, others: Inputs | None = None
    ) -> Embedding:
        """The embedding of B and of the inputs multiplied with B; features that differ from a
        common value in at most this share of B (`rare_share` by default), or of pairs of B and
        others, are stored as sparse entries."""
        embedding = self._embedding(B, dtype)
        if not embedding.dense or B.shape[1] < RARE.many_features:
            return embedding
        share = rare_share(dtype) if share is None else share
        rare, common = rare_features(B, share, not self._stationary, others)
        if not rare.any():
            return embedding
        centre = embedding.centre
        if centre is not None:
            centre = np.where(rare, common, centre)
        return replace(embedding, centre=centre, rare=np.flatnonzero(rare))

    def _arguments(
        self, A: Inputs, B: Inputs | None, W: Array, offsets: bool
    ) -> Iterator[tuple[Points, Points, Float, Float]]:
        """Stripes of the block of arguments of f in float64, with their points and weights."""
        A = as_vectors("A", A)
        B = A if B is None else as_vectors("B", B)
        self._check_features(A, B)
        W = checked_weights(W, A.shape[0], B.shape[0])
        embedding = self._embedding(B, np.float64, offsets)
        right = embedding(B)
        for rows in chunks(A.shape[0], max(A.shape[1], B.shape[0]), SIZES.gradient_size, LANES):
            left = embedding(A[rows])
            block = np.empty((len(left), len(right)))
            left.products(right, block)  # type: ignore[arg-type]
            yield left, right, block, W[rows]

    def _check_features(self, A: Inputs, B: Inputs) -> None:
        if A.shape[1] != B.shape[1]:
            raise ValueError(
                f"A and B must have the same number of features, got {A.shape[1]} and {B.shape[1]}"
            )
        self._check_width(A)

    def _check_width(self, A: Inputs) -> None:
        """Raise an error if the parameters are those of another number of features."""


class VectorGram(Gram):
    """Gram matrix of vectors embedded once."""

    kernel: VectorKernel

    def __init__(self, kernel: VectorKernel, X: Inputs, dtype: Any = None) -> None:
        super().__init__(kernel, X, dtype)
        self.points = kernel._embedding_towards(X, self.dtype)(X)
        self.tiled = isinstance(self.points, DensePoints) and self.points.rare is None

    def _compute(self, indices: Array, right: Any, out: Array) -> None:
        if not isinstance(right, DensePoints):

            def some_rows(start: int, stop: int) -> None:
                self._block(self._select(self.points, indices[start:stop]), right, out[start:stop])

            in_parts(some_rows, indices.size, out.size, grain=LANES)
        elif right.rare is not None:
            # Rare entries are indexed for all columns together.
            super()._compute(indices, right, out)
        else:
            left = self.points.take(indices)
            if self.kernel._fill_rows(left, right, out):
                return

            # BLAS packs its right factor, so each thread gets a part of that.
            def some_columns(start: int, stop: int) -> None:
                part = slice(start, stop)
                self._block(left, right.take(part), out[:, part])

            least = product_part(len(right))
            in_parts(some_columns, len(right), out.size, right.features, least=least)

    def matrix(self, pause: Callable[[], object] | None = None) -> Array:
        if not self.tiled:
            return super().matrix(pause)
        return self._tiled(self.points, self._diagonal, pause)

    def matrix_among(self, samples: Array, pause: Callable[[], object] | None = None) -> Array:
        if not self.tiled:
            return super().matrix_among(samples, pause)
        return self._tiled(self.points.take(samples), self._diagonal[samples], pause)

    def _tiled(
        self, points: DensePoints, diagonal: Float, pause: Callable[[], object] | None
    ) -> Array:
        """The matrix of points, computed in tiles that stay in the cache."""
        n = len(points.table)
        matrix = buffer((n, n), self.dtype)
        threads = own_threads() if matrix.size >= WORTH_A_THREAD else 1
        # Tiles go to whichever thread is free; all but the first start late.
        shares: list[list[int]] = list(map(list, threads * [()]))
        loads = [0] + [SIZES.late] * (threads - 1)
        for top in range(0, n, SIZES.tile_rows):
            least = loads.index(min(loads))
            shares[least].append(top)
            loads[least] += SIZES.tile_rows * (n - top)  # speed only
        if not self.kernel._fill_matrix(points, matrix, shares, SIZES.tile_rows):
            self._fill_tiles(points, matrix, shares, pause)
        elif pause is not None:
            pause()
        matrix.reshape(-1)[:: n + 1] = diagonal
        return matrix

    def _fill_tiles(
        self,
        points: DensePoints,
        matrix: Array,
        shares: list[list[int]],
        pause: Callable[[], object] | None,
    ) -> None:
        n, size = len(points), self.dtype.itemsize

        def some_tiles(tops: list[int]) -> None:
            scratch = np.empty(min(SIZES.tile_rows, n) * uneven_step(n, size), self.dtype)
            for top in tops:
                left = points.take(slice(top, top + SIZES.tile_rows))
                right = points.take(slice(top, n))
                rows, columns = len(left), len(right)
                step = uneven_step(columns, size)
                self._block(left, right, scratch[: rows * step].reshape(rows, step)[:, :columns])
                place_tile(scratch, step, rows, columns, matrix.reshape(-1), n, top)
                if pause is not None:
                    pause()

        in_turn(some_tiles, shares)

    def transposed_points(self) -> Array | None:
        return self.kernel._transposed(self.points) if self.tiled else None

    def transposed_width(self) -> int:
        return self.kernel._transposed_width(self.points) if self.tiled else 0

    def among(self, samples: Array) -> VectorGram:
        """The matrix of some of the inputs, with the same embedding."""
        some = copy(self)
        some.X, some.points, some.n = self.X[samples], self.points.take(samples), samples.size
        some._prepared_columns, some._diagonal = (), self._diagonal[samples]
        return some

    def _select(self, points: Any, indices: Array | slice) -> Any:
        return points.take(indices)

    def _block(self, left: Any, right: Any, out: Array) -> None:
        self.kernel._fill(left, right, out)

    @property
    def rounding(self) -> float:
        largest = float(self.points.squared_norms().max(initial=0.0))
        return float(np.finfo(self.dtype).eps) * self.kernel._sensitivity(largest)


def as_vectors(name: str, X: Inputs) -> Inputs:
    """Inputs as a 2-D array of real numbers or a CSR matrix, in their own precision."""
    if sparse.issparse(X):
        X = X.tocsr()
    else:
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"{name} must be 2-D, (samples, features), got {X.ndim} dimension(s): "
            "reshape a single sample to (1, features)"
        )
    if X.dtype == object or (X.dtype.kind == "f" and X.dtype not in (np.float32, np.float64)):
        X = X.astype(np.float64)
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {X.dtype}")
    return X
