"""The inputs of a linear machine on a Dask cluster: products are tasks, inputs stay on the workers.

For problems that sums over shards (`sums`) do not solve: more than 3,000 features, ‖w‖₁, C = ∞.
What moves is w and Σ β_i x_i (d numbers for each part), Newton systems (d² numbers for each part),
and x_i·w and β_i (one number for each sample): never the inputs, but for the few samples that a
solver takes to memory.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from distributed import Client, Future

from ..runtime.sizes import KEPT_BYTES
from ..solvers.linear import ChunkedMatrix
from ..solvers.linear.data.chunked import joined
from ..solvers.linear.data.matrix import Cost, Matrix, as_matrix
from ..solvers.linear.losses import Float
from ..solvers.sharded.shard import Part as ShardPart
from .backend import results, submitted


class DaskMatrix(ChunkedMatrix):
    """`ChunkedMatrix` whose chunks are the results of Dask tasks.

    Parameters
    ----------
    client : distributed.Client
    matrices : list of futures
        Of the `Matrix` of each chunk.
    sizes : list of int
        Samples of each chunk.
    d : int
    """

    def __init__(
        self, client: Client, matrices: list[Future[Any]], sizes: list[int], d: int
    ) -> None:
        self.client, self.matrices = client, matrices
        self.n, self.d = int(sum(sizes)), d
        self.edges = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.memory, self.passes = KEPT_BYTES, 0
        self.check = _nothing

    def chunk(self, k: int) -> Any:
        return RemoteMatrix(self, k)

    @cached_property
    def _first_pass(self) -> tuple[Float, int, float, float]:
        norms, entries, largest = np.zeros(self.n), 0, [0.0]
        for k, (own, count, top) in enumerate(self._each(described)):
            norms[self._place(k)] = own
            entries += count
            largest.append(top)
        return norms, entries, float(np.max(largest)), 0.0

    @property
    def row_cost(self) -> Cost:
        found: Cost = self._results([self._submit(0, attribute, "row_cost")])[0]
        return found

    def margins(self, w: Float) -> Float:
        return np.concatenate(self._each(product, "margins", w))

    def combine(self, coef: Float) -> Float:
        used = [k for k in range(len(self)) if coef[self._place(k)].any()]
        jobs = [self._submit(k, product, "combine", coef[self._place(k)]) for k in used]
        return self._sum(jobs)

    def margins_at(self, rows: Any, w: Float) -> Float:
        jobs = [self._submit(k, product, "margins_at", local, w) for k, _, local in self._cut(rows)]
        return np.concatenate([np.empty(0), *self._results(jobs)])

    def combine_at(self, rows: Any, coef: Float) -> Float:
        jobs = [
            self._submit(k, product, "combine_at", local, coef[own])
            for k, own, local in self._cut(rows)
        ]
        return self._sum(jobs)

    def add_outer(self, rows: Any, coef: Float, gram: Float, border: Float) -> None:
        jobs = [
            self._submit(k, outer_of, local, coef[own], gram.shape, border.shape)
            for k, own, local in self._cut(rows)
        ]
        for own_gram, own_border in self._results(jobs):
            gram += own_gram
            border += own_border

    def take(self, rows: Any) -> Matrix:
        jobs = [self._submit(k, product, "take", local) for k, _, local in self._cut(rows)]
        return joined(self._results(jobs), self.d)

    def select(self, rows: Any) -> DaskMatrix:
        marks = np.searchsorted(rows, self.edges)
        taken = [
            self._submit(k, product, "take", rows[marks[k] : marks[k + 1]] - self.edges[k])
            for k in range(len(self))
        ]
        return DaskMatrix(self.client, taken, np.diff(marks).tolist(), self.d)

    def columns(self, chosen: Any) -> DaskMatrix:
        return self._mapped("columns", chosen, d=len(chosen))

    def scaled(self, factor: float) -> DaskMatrix:
        return self._mapped("scaled", factor, d=self.d)

    def _mapped(self, method: str, argument: Any, d: int) -> DaskMatrix:
        made = [self._submit(k, product, method, argument) for k in range(len(self))]
        return DaskMatrix(self.client, made, np.diff(self.edges).tolist(), d)

    def _place(self, k: int) -> slice:
        return slice(int(self.edges[k]), int(self.edges[k + 1]))

    def _cut(self, rows: Any) -> list[tuple[int, slice, Any]]:
        """For each chunk that holds some of the ascending rows: places, and rows within it."""
        marks = np.searchsorted(rows, self.edges)
        self.passes += 1
        return [
            (int(k), own, rows[own] - self.edges[k])
            for k in np.flatnonzero(np.diff(marks))
            for own in [slice(int(marks[k]), int(marks[k + 1]))]
        ]

    def _each(self, function: Any, *arguments: Any) -> list[Any]:
        self.passes += 1
        return self._results([self._submit(k, function, *arguments) for k in range(len(self))])

    def _sum(self, jobs: list[Future[Any]]) -> Float:
        total = np.zeros(self.d)
        for part in self._results(jobs):
            total += part
        return total

    def _submit(self, k: int, function: Any, *arguments: Any) -> Future[Any]:
        return submitted(self.client, function, self.matrices[k], *arguments)

    def _results(self, jobs: list[Future[Any]]) -> list[Any]:
        return results(self.client, jobs, self.check)


class RemoteMatrix:
    """One chunk of a `DaskMatrix`."""

    def __init__(self, whole: DaskMatrix, k: int) -> None:
        self.whole, self.k = whole, k

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
    ) -> Any:
        """`Matrix.sweep` on the worker; its changes in place are copied back here."""
        arguments = (loss, norms, beta, w, b, kappa, order, count, least, most, shrinking)
        answer, beta[:], w[:], order[:] = self._call(swept, *arguments)
        return answer

    def columns(self, chosen: Any) -> Any:
        return self._call(product, "columns", chosen)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._call(attribute, name)

    def _call(self, function: Any, *arguments: Any) -> Any:
        return self.whole._results([self.whole._submit(self.k, function, *arguments)])[0]


def _nothing() -> None:
    pass


def matrix_of(part: ShardPart) -> Matrix:
    """The matrix of the inputs of a part."""
    matrix: Matrix = as_matrix(part.X)
    return matrix


def product(matrix: Any, method: str, *arguments: Any) -> Any:
    return getattr(matrix, method)(*arguments)


def attribute(matrix: Any, name: str) -> Any:
    return getattr(matrix, name)


def described(matrix: Any) -> tuple[Float, int, float]:
    return matrix.squared_norms, matrix.entries, matrix.largest


def outer_of(matrix: Any, rows: Any, coef: Float, gram: Any, border: Any) -> tuple[Float, Float]:
    """The contribution of the samples to a Newton system."""
    own = np.zeros(gram), np.zeros(border)
    matrix.add_outer(rows, coef, *own)
    return own


def swept(
    matrix: Any, loss: Any, norms: Float, beta: Float, w: Float, b: float, kappa: float,
    order: Any, *limits: Any,
) -> tuple[Any, Float, Float, Any]:  # fmt: skip
    """A writable copy, because arrays sent to tasks must not be changed."""
    beta, w, order = beta.copy(), w.copy(), order.copy()
    answer = matrix.sweep(loss, norms, beta, w, b, kappa, order, *limits)
    return answer, beta, w, order
