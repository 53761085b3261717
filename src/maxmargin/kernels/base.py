"""The kernel contract: a Gram block, its diagonal, its parameters and one derivative.

A kernel is a small immutable value. It holds parameters and no data::

    kernel(A, B)              K_ij = k(A_i, B_j)
    kernel.diagonal(A)        k(A_i, A_i)
    kernel.theta              unconstrained coordinates (logarithms of positive parameters)
    kernel.theta_limits       where the kernel is positive semi-definite
    kernel.moved(delta)       the kernel at theta + delta
    kernel.gradient(A, B, W)  Σ_ij W_ij ∂K_ij/∂theta, all coordinates at once
    kernel.bind(X, dtype)     the Gram matrix of X, rows on demand

To add a kernel, subclass `Kernel` with `__call__` and `diagonal`, and, if it has parameters, with
`parameter_names`, `theta`, `moved` and `gradient`. All other methods have defaults that are correct
for every kernel and may be overridden by faster versions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..runtime.buffers import buffer
from .row_sums import KnownSums, StoredRows
from .vector.strides import as_slice, mirror

Array = NDArray[Any]
Float = NDArray[np.float64]
# Dense 2-D arrays, CSR matrices, or the inputs of a special kernel (strings, indices).
Inputs = Any

# Rows of a triangle computed at a time: enough for GEMM, with little waste beyond the diagonal.
STRIPE = 512
# Number of column sets whose prepared points are cached.
MOST_PREPARED = 3
# The diagonal is read from pairwise blocks of this many samples.
DIAGONAL_BATCH = 32


class Kernel(ABC):
    """A positive semi-definite similarity of inputs, with named parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian, Kernel, Linear
    >>> kernel = 2.0 * Gaussian(0.5) + Linear()
    >>> isinstance(kernel, Kernel), kernel(np.array([[1.0]]), np.array([[1.0]]))
    (True, array([[3.]]))
    """

    # A NumPy scalar on the left of * must leave the product to the kernel.
    __array_ufunc__ = None

    @abstractmethod
    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        """Gram block of shape (len(A), len(B)); float32 if both inputs are, else float64.

        Without B, or with B the very object A, the block is exactly symmetric.
        """

    @abstractmethod
    def diagonal(self, A: Inputs) -> Float:
        """k(a, a) for every a in A."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """One name for each coordinate of `theta`."""
        return ()

    @property
    def theta(self) -> Float:
        """Unconstrained coordinates of the parameters."""
        return np.zeros(0)

    @property
    def theta_limits(self) -> tuple[Float, Float]:
        """Least and largest coordinates at which the kernel is positive semi-definite for sure;
        infinite where there is no limit."""
        size = len(self.parameter_names)
        return np.full(size, -np.inf), np.full(size, np.inf)

    def moved(self, delta: Any) -> Kernel:
        """The kernel of the same kind at theta + delta."""
        self._checked_delta(delta)
        return self

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        """Σ_ij W_ij ∂k(A_i, B_j)/∂theta; B = None stands for A."""
        checked_weights(W, count(A), count(A if B is None else B))
        return np.zeros(0)

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        """Σ_i w_i ∂k(A_i, A_i)/∂theta."""
        w = np.asarray(w, dtype=np.float64)
        total = np.zeros(len(self.parameter_names))
        for start in range(0, count(A), DIAGONAL_BATCH):
            batch = take(A, slice(start, start + DIAGONAL_BATCH))
            total += self.gradient(batch, None, np.diag(w[start : start + DIAGONAL_BATCH]))
        return total

    def rank(self, X: Inputs) -> float:
        """The largest rank that a Gram matrix of inputs like X can have."""
        del X
        return np.inf

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        """The Gram matrix of X with rows on demand, in `dtype` (that of X when None)."""
        return Gram(self, X, dtype)

    def __add__(self, other: Any) -> Kernel:
        from .compose import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from .compose import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return self.__mul__(other)

    def _checked_delta(self, delta: Any) -> Float:
        step: Float = np.asarray(delta, dtype=np.float64)
        names = self.parameter_names
        if step.shape != (len(names),):
            raise ValueError(
                f"delta must have one entry for each of {names}, got shape {step.shape}"
            )
        return step


class PreparedColumns(NamedTuple):
    """Prepared points of a set of columns."""

    columns: Array
    points: Any
    position: Array
    around: PreparedColumns | None = None  # a larger set that contains these as a consecutive range


class Gram:
    """Gram matrix of fixed inputs: rows in batches, restricted columns, exact diagonal.

    A subclass that prepares the inputs once stores the result in `points` and overrides `_select`
    and `_block`.

    Parameters
    ----------
    kernel : Kernel
    X : inputs
    dtype : float32 or float64
        Precision of the blocks. The diagonal is always float64.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> gram = Linear().bind(np.array([[-1.0], [1.0], [3.0]]), np.float64)
    >>> gram.rows(np.array([1])), gram.diagonal()
    (array([[-1.,  1.,  3.]]), array([1., 1., 9.]))
    """

    points: Any
    tiled = False  # whether computing a block in one pass is faster than reading it from rows
    whole: Array | None = None  # the matrix, if it is in memory
    stored_rows: StoredRows | None = None  # rows in memory
    summed: KnownSums | None = None  # the last sums offered by `keep_sums`

    def __init__(self, kernel: Kernel, X: Inputs, dtype: Any = None) -> None:
        self.kernel = kernel
        if dtype is None:
            dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {self.dtype}")
        self.X = self.points = X
        self.n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        self._prepared_columns: tuple[PreparedColumns, ...] = ()

    def rows(self, indices: Array, columns: Array | None = None, out: Array | None = None) -> Array:
        """Rows `indices` of the matrix, over all columns or the given ones.

        The points of `columns` are cached by object identity, for the last few arrays: pass the
        same array again, and do not change it in between. A consecutive range of cached columns is
        not copied. Equal `indices` and `columns` give an exactly symmetric block.
        """
        indices = np.asarray(indices)
        columns = None if columns is None else np.asarray(columns)
        width = self.n if columns is None else columns.size
        if out is None:
            out = buffer((indices.size, width), self.dtype)
        elif out.shape != (indices.size, width):
            raise ValueError(f"out must have shape {(indices.size, width)}, got {out.shape}")
        if columns is not None and np.array_equal(indices, columns):
            left = self._select(self.points, indices)
            self._block(left, left, out)
            mirror(out)
            np.fill_diagonal(out, self._diagonal[indices])
            return out
        right = self.points if columns is None else self._prepared(columns).points
        if indices.size:
            self._compute(indices, right, out)
            self._put_diagonal(out, indices, columns)
        return out

    def diagonal(self) -> Float:
        """k(x, x) for every input."""
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    @property
    def rounding(self) -> float:
        """Approximate largest rounding error of an entry of a block."""
        return float(np.finfo(self.dtype).eps * np.abs(self._diagonal).max(initial=0.0))

    def matrix(self, pause: Callable[[], object] | None = None) -> Array:
        """The whole matrix, exactly symmetric; `pause` is called between blocks and may raise."""
        matrix = buffer((self.n, self.n), self.dtype)
        for start in range(0, self.n, STRIPE):
            stripe, rest = slice(start, min(start + STRIPE, self.n)), slice(start, self.n)
            right = self._select(self.points, rest)
            self._compute(np.arange(stripe.start, stripe.stop), right, matrix[stripe, rest])
            mirror(matrix, stripe.start, stripe.stop)
            if pause is not None:
                pause()
        np.fill_diagonal(matrix, self._diagonal)
        return matrix

    def transposed_points(self) -> Array | None:
        """Points φ, one column per input, with k(x, z) = exp(−½‖φ(x) − φ(z)‖²), padded to a
        multiple of four rows; None if the kernel is another one or has no cheap single rows."""
        return None

    def transposed_width(self) -> int:
        """Number of rows of `transposed_points`; 0 if it is None."""
        return 0

    def among(self, samples: Array) -> Gram:
        """The matrix of some of the inputs."""
        return self.kernel.bind(take(self.X, samples), self.dtype)

    def matrix_among(self, samples: Array, pause: Callable[[], object] | None = None) -> Array:
        """The block of some of the inputs with each other, exactly symmetric."""
        return self.among(samples).matrix(pause)

    def keep_rows(self, rows: StoredRows) -> None:
        """Accept rows that their owner no longer needs; ignored by default."""

    def keep_sums(self, sums: KnownSums) -> None:
        """Accept known sums; ignored by default."""

    def release(self) -> None:
        """Drop rows and sums that were kept."""

    @property
    def source(self) -> Gram:
        """The matrix that computes values: this one, unless it keeps those of another."""
        return self

    def _compute(self, indices: Array, right: Any, out: Array) -> None:
        """Write the rows `indices` over the columns selected by `_select`."""
        self._block(self._select(self.points, indices), right, out)

    def _select(self, points: Any, indices: Array | slice) -> Any:
        """Some of the points, in the form `_block` takes."""
        return take(points, indices)

    def _block(self, left: Any, right: Any, out: Array) -> None:
        """Write the Gram block of two selections into `out`."""
        out[...] = self.kernel(left, right)

    def _prepared(self, columns: Array) -> PreparedColumns:
        """The prepared points of some columns, from the cache of the last few."""
        known = [prepared for prepared in self._prepared_columns if prepared.columns is columns]
        if not known:
            known = [self._prepare(columns)]
        others = [
            prepared for prepared in self._prepared_columns if prepared.columns is not columns
        ]
        # A single assignment, so that threads that share the matrix see a consistent state.
        self._prepared_columns = (*known, *others)[:MOST_PREPARED]
        return known[0]

    def _prepare(self, columns: Array) -> PreparedColumns:
        position = self._position(columns)
        for around in (prepared.around or prepared for prepared in self._prepared_columns):
            part = as_slice(around.position[columns])
            if isinstance(part, slice):
                return PreparedColumns(columns, self._select(around.points, part), position, around)
        return PreparedColumns(columns, self._select(self.points, columns), position)

    def _put_diagonal(self, block: Array, indices: Array, columns: Array | None) -> None:
        """Overwrite K_ii, so that it is the same number in every batch."""
        diagonal = self._diagonal
        if columns is None:
            block[np.arange(len(indices)), indices] = diagonal[indices]
            return
        known = [
            prepared.position for prepared in self._prepared_columns if prepared.columns is columns
        ]
        position = known[0] if known else self._position(columns)
        inside = position[indices] >= 0
        block[np.flatnonzero(inside), position[indices][inside]] = diagonal[indices][inside]

    def _position(self, columns: Array) -> Array:
        """Place of each sample among the columns, or -1."""
        position = np.full(self.n, -1)
        position[columns] = np.arange(columns.size)
        return position

    @cached_property
    def _diagonal(self) -> Float:
        return self.diagonal()


def count(X: Inputs) -> int:
    """Number of inputs."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Inputs, indices: Array | slice) -> Inputs:
    """Some of the inputs, in a container of the same type."""
    if hasattr(X, "shape") or isinstance(indices, slice):
        return X[indices]
    return [X[i] for i in indices]


def checked_weights(W: Any, rows: int, columns: int) -> Float:
    """W in float64, if it has the shape of the Gram block."""
    weights: Float = np.asarray(W, dtype=np.float64)
    if weights.shape != (rows, columns):
        raise ValueError(
            f"W must have shape {(rows, columns)}, as kernel(A, B) has, got {weights.shape}"
        )
    return weights


def finite_number(name: str, value: Any) -> float:
    """The value of a parameter as a float, if it is a finite real number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number
