"""The inputs of a support set that changes, and their kernel with the next examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from ...kernels import Kernel
from ...kernels.base import count, take
from ...kernels.vector.base import VectorKernel
from ...kernels.vector.embedding import CSRPoints, DensePoints, Embedding
from ...kernels.vector.strides import mirror


class Frame(NamedTuple):
    """How inputs are embedded; None for kernels that do not embed them."""

    dense: bool
    centre: np.ndarray | None


class Growing:
    """Rows of an array, with room for more."""

    def __init__(self, width: int, dtype: Any) -> None:
        self.buffer = np.empty((0, width), dtype=dtype)
        self.size = 0

    @property
    def rows(self) -> np.ndarray:
        return self.buffer[: self.size]

    def rearrange(self, chosen: np.ndarray, fresh: np.ndarray) -> None:
        """Keep those at `chosen`, which counts the rows there are and then the fresh ones."""
        before, place = self.size, np.arange(chosen.size)
        moved = np.flatnonzero((chosen != place) | (place >= before))
        source = chosen[moved]
        moving = np.empty((moved.size, self.buffer.shape[1]), dtype=self.buffer.dtype)
        moving[source < before] = self.buffer[source[source < before]]
        moving[source >= before] = fresh[source[source >= before] - before]
        if chosen.size > len(self.buffer):
            wider = np.empty((grown(chosen.size), self.buffer.shape[1]), dtype=self.buffer.dtype)
            wider[:before] = self.rows
            self.buffer = wider
        self.buffer[moved] = moving
        self.size = chosen.size


def grown(needed: int) -> int:
    """Places to make where some are needed: half as many again."""
    return needed + (needed >> 1) + 16


class Points(ABC):
    """Inputs of the support set."""

    def __init__(self, kernel: Kernel, dtype: Any) -> None:
        self.kernel, self.dtype = kernel, np.dtype(dtype)

    @property
    @abstractmethod
    def inputs(self) -> Any:
        """Those of the support set, in the container they came in."""

    @property
    def frame(self) -> Frame | None:
        return None

    @abstractmethod
    def take_in(self, X: Any) -> None:
        """Make new inputs known, for `rearrange`."""

    @abstractmethod
    def meet(self, X: Any) -> np.ndarray:
        """Kernel of new inputs with the support set, then among themselves."""

    @abstractmethod
    def rearrange(self, chosen: np.ndarray) -> None:
        """The support set becomes the inputs at `chosen`, which counts as `meet` does."""


class PlainPoints(Points):
    """Inputs of any kind, for any kernel."""

    def __init__(self, kernel: Kernel, dtype: Any, X: Any) -> None:
        super().__init__(kernel, dtype)
        self.stored, self.fresh = X[:0], X[:0]

    @property
    def inputs(self) -> Any:
        return self.stored

    def take_in(self, X: Any) -> None:
        self.fresh = X

    def meet(self, X: Any) -> np.ndarray:
        self.take_in(X)
        n, m = count(self.stored), count(X)
        block = np.empty((m, n + m), dtype=self.dtype)
        if n:
            block[:, :n] = self.kernel(X, self.stored)
        block[:, n:] = self.kernel(X)
        return block

    def rearrange(self, chosen: np.ndarray) -> None:
        n = count(self.stored)
        if chosen.size != n or (chosen != np.arange(n)).any():
            self.stored = take(stacked(self.stored, self.fresh), chosen)
        self.fresh = self.stored[:0]


class VectorPoints(Points):
    """Vectors, embedded once for kernels of inner products."""

    kernel: VectorKernel

    def __init__(self, kernel: VectorKernel, dtype: Any, embedding: Embedding, X: Any) -> None:
        super().__init__(kernel, dtype)
        self.embedding = embedding
        self.sparse = sparse.issparse(X)
        if self.sparse:
            self.stored: Any = X[:0]
        else:
            self.raw = Growing(X.shape[1], X.dtype)
        self.fresh: Any = X[:0]
        # Dense or CSR, as the embedding is.
        self.fresh_points: Any = cast(Any, embedding(X[:0]))
        if embedding.dense:
            self.table = Growing(self.fresh_points.table.shape[1], dtype)
        else:
            self.points: CSRPoints = self.fresh_points

    @property
    def inputs(self) -> Any:
        return self.stored if self.sparse else self.raw.rows

    @property
    def frame(self) -> Frame | None:
        return Frame(self.embedding.dense, self.embedding.centre)

    def take_in(self, X: Any) -> None:
        self.fresh, self.fresh_points = X, self.embedding(X)

    def meet(self, X: Any) -> np.ndarray:
        self.take_in(X)
        left, right = self.fresh_points, self._embedded()
        n, m = len(right), len(left)
        block = np.empty((m, n + m), dtype=self.dtype)
        if n:
            self.kernel._fill(left, right, block[:, :n])
        self.kernel._fill(left, left, block[:, n:])
        mirror(block[:, n:])
        return block

    def rearrange(self, chosen: np.ndarray) -> None:
        n = count(self.inputs)
        if chosen.size == n and (chosen == np.arange(n)).all():
            return
        if self.embedding.dense:
            self.table.rearrange(chosen, self.fresh_points.table)
        else:
            points, fresh = self.points, self.fresh_points
            matrix = stacked(points.matrix, fresh.matrix)
            self.points = CSRPoints(matrix, np.append(points.offsets, fresh.offsets)).take(chosen)
        if self.sparse:
            self.stored = take(stacked(self.stored, self.fresh), chosen)
        else:
            self.raw.rearrange(chosen, self.fresh)

    def _embedded(self) -> DensePoints | CSRPoints:
        if self.embedding.dense:
            return DensePoints(self.table.rows, self.fresh_points.features)
        return self.points


def points_for(kernel: Kernel, X: Any, dtype: Any, frame: Frame | None = None) -> Points:
    """An empty support set for inputs like X, in the frame of an earlier one if given."""
    if not isinstance(kernel, VectorKernel):
        return PlainPoints(kernel, dtype, X)
    embedding = kernel._embedding(X, dtype)
    if frame is not None:
        embedding = replace(embedding, dense=frame.dense, centre=frame.centre)
    return VectorPoints(kernel, dtype, embedding, X)


def stacked(first: Any, second: Any) -> Any:
    """Inputs one after the other, in the container they came in."""
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    return [*first, *second]
