"""User-supplied kernels: a precomputed matrix, or a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .base import DIAGONAL_BATCH, STRIPE, Array, Float, Gram, Inputs, Kernel, count, take
from .vector.strides import mirror


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel of inputs that are rows of the Gram matrix themselves::

        k(A_i, B_j) = A_ij

    A is a block of the Gram matrix, one row for each sample, one column for each training sample.
    B, if given, is an integer array: the columns that are wanted. `bind` takes the square matrix
    of the training samples.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Precomputed
    >>> block = np.array([[1.0, 0.5, 0.2]])
    >>> Precomputed()(block, np.array([0, 2]))
    array([[1. , 0.2]])
    """

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        block = as_block("A", A)
        return block.copy() if B is None else block[:, np.asarray(B)]

    def diagonal(self, A: Inputs) -> Float:
        return as_square("A", A).diagonal().astype(np.float64)

    def bind(self, X: Inputs, dtype: Any = None) -> PrecomputedGram:
        matrix = as_square("X", X)
        check_symmetric(matrix)
        return PrecomputedGram(self, matrix, dtype)


class PrecomputedGram(Gram):
    """Rows of a matrix in memory; points are their indices."""

    def __init__(self, kernel: Precomputed, X: Array, dtype: Any = None) -> None:
        super().__init__(kernel, X, dtype)
        self.points = np.arange(self.n)
        if X.dtype == self.dtype and X.flags.c_contiguous:
            self.whole = X

    def diagonal(self) -> Float:
        return np.asarray(self.X.diagonal(), dtype=np.float64)

    def among(self, samples: Array) -> PrecomputedGram:
        part = self.X[np.ix_(samples, samples)]
        return PrecomputedGram(self.kernel, part, self.dtype)  # type: ignore[arg-type]

    def matrix(self, pause: Callable[[], object] | None = None) -> Array:
        del pause
        matrix = np.array(self.X, dtype=self.dtype, order="C")
        mirror(matrix)
        return matrix

    def _block(self, left: Array, right: Array, out: Array) -> None:
        if right is self.points:
            out[...] = self.X[left]
        else:
            out[...] = self.X[left[:, None], right]


@dataclass(frozen=True)
class FromFunction(Kernel):
    """Kernel computed by a Python function of two batches of inputs::

        k(A_i, B_j) = function(A, B)_ij

    The function receives the inputs as the caller passed them: arrays, sparse matrices, lists. It
    must be symmetric up to rounding, and positive semi-definite, which is not checked.

    Parameters
    ----------
    function : callable
        Takes A and B, returns a block of shape (len(A), len(B)).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import FromFunction
    >>> def common_letters(A, B):
    ...     return np.array([[len(set(a) & set(b)) for b in B] for a in A])
    >>> FromFunction(common_letters)(["cat", "cart"], ["act", "dog"])
    array([[3., 0.],
           [3., 0.]])
    """

    function: Callable[[Any, Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}")

    def __repr__(self) -> str:
        name = getattr(self.function, "__qualname__", None) or repr(self.function)
        return f"FromFunction({name})"

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        B = A if B is None else B
        block = as_block("the block returned by function", self.function(A, B))
        if block.shape != (count(A), count(B)):
            raise ValueError(
                f"function must return a block of shape {(count(A), count(B))}, got {block.shape}"
            )
        if B is A:
            check_symmetric(block, "function must be symmetric", "K")
            block = block.copy()
            mirror(block)
        return block

    def diagonal(self, A: Inputs) -> Float:
        values = np.empty(count(A))
        for start in range(0, values.size, DIAGONAL_BATCH):
            batch = slice(start, start + DIAGONAL_BATCH)
            values[batch] = self(take(A, batch)).diagonal()
        return values


def as_block(name: str, block: Inputs) -> Array:
    """A block of kernel values as a dense 2-D array, float32 if it is, else float64."""
    dense: Array = block.toarray() if sparse.issparse(block) else np.asarray(block)
    if dense.ndim != 2:
        raise ValueError(f"{name} must be 2-D, got {dense.ndim} dimension(s)")
    return dense if dense.dtype == np.float32 else dense.astype(np.float64, copy=False)


def as_square(name: str, matrix: Inputs) -> Array:
    """The Gram matrix of the training samples."""
    square = as_block(name, matrix)
    if square.shape[0] != square.shape[1]:
        raise ValueError(
            f"{name} must be the square Gram matrix of the samples for a precomputed kernel, "
            f"got shape {square.shape}"
        )
    return square


def check_symmetric(
    matrix: Array,
    demand: str = "X must be a symmetric Gram matrix for a precomputed kernel",
    name: str = "X",
) -> None:
    """Raise ValueError if entries across the diagonal differ by more than rounding of float32."""
    allowed = 1e-5 * float(np.abs(matrix).max(initial=0.0))
    for top in range(0, len(matrix), STRIPE):
        rows = slice(top, top + STRIPE)
        for left in range(top, len(matrix), STRIPE):
            columns = slice(left, left + STRIPE)
            difference = np.abs(matrix[rows, columns] - matrix[columns, rows].T)
            if (difference > allowed).any():
                row, column = np.unravel_index(np.argmax(difference), difference.shape)
                i, j = int(row) + top, int(column) + left
                raise ValueError(
                    f"{demand}, got {name}[{i}, {j}] = {matrix[i, j]:g} "
                    f"and {name}[{j}, {i}] = {matrix[j, i]:g}"
                )
