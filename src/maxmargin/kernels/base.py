"""The kernel contract: a Gram block, its diagonal, its parameters and one derivative.

A kernel is a small immutable value. It holds parameters and no data::

    kernel(A, B)              K_ij = k(A_i, B_j)
    kernel.diagonal(A)        k(A_i, A_i)
    kernel.theta              unconstrained coordinates (logarithms of positive parameters)
    kernel.moved(delta)       the kernel at theta + delta
    kernel.gradient(A, B, W)  Σ_ij W_ij ∂K_ij/∂theta, all coordinates at once
    kernel.bind(X, dtype)     the Gram matrix of X, rows on demand

To add a kernel, subclass `Kernel` with `__call__`, `diagonal`, `theta`, `moved` and `gradient`;
`bind` has a default that is right for every kernel and may be overridden by a faster one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float = NDArray[np.float64]
# Dense 2-D arrays, CSR matrices, or what a special kernel takes (strings, indices).
Inputs = Any


class Kernel(ABC):
    """A positive semi-definite similarity of inputs, with named parameters."""

    @abstractmethod
    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        """Gram block of shape (len(A), len(B)); float32 if both inputs are, else float64."""

    @abstractmethod
    def diagonal(self, A: Inputs) -> Array:
        """k(a, a) for every a in A."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """One name for each coordinate of `theta`."""
        return ()

    @property
    def theta(self) -> Float:
        """Unconstrained coordinates of the parameters."""
        return np.zeros(0)

    def moved(self, delta: Any) -> Kernel:
        """The kernel of the same kind at theta + delta."""
        del delta
        return self

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        """Σ_ij W_ij ∂k(A_i, B_j)/∂theta."""
        del A, B, W
        return np.zeros(0)

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        """The Gram matrix of X with rows on demand, in `dtype` (that of X when None)."""
        return Gram(self, X, dtype)


class Gram:
    """Gram matrix of fixed inputs: rows in batches, restricted columns, exact diagonal.

    Parameters
    ----------
    kernel : Kernel
    X : inputs
    dtype : float32 or float64
        Of the blocks handed out. The diagonal is always float64.
    """

    def __init__(self, kernel: Kernel, X: Inputs, dtype: Any = None) -> None:
        self.kernel = kernel
        if dtype is None:
            dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        self.dtype = np.dtype(dtype)
        self.X = X
        self.n = X.shape[0] if hasattr(X, "shape") else len(X)

    def rows(self, indices: Array, columns: Array | None = None, out: Array | None = None) -> Array:
        """Rows `indices` of the matrix, over all columns or the given ones."""
        right = self.X if columns is None else self.X[columns]
        block = self.kernel(self.X[indices], right)
        self._put_diagonal(block, indices, columns)
        if out is None:
            return np.ascontiguousarray(block, dtype=self.dtype)
        out[...] = block
        return out

    def diagonal(self) -> Float:
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64)

    def matrix(self) -> Array:
        """The whole matrix."""
        return self.rows(np.arange(self.n))

    def _put_diagonal(self, block: Array, indices: Array, columns: Array | None) -> None:
        """K_ii must be the same number whatever batch it came from."""
        diagonal = self._cached_diagonal()
        if columns is None:
            block[np.arange(len(indices)), indices] = diagonal[indices]
            return
        position = np.full(self.n, -1)
        position[columns] = np.arange(len(columns))
        inside = position[indices] >= 0
        block[np.flatnonzero(inside), position[indices][inside]] = diagonal[indices][inside]

    def _cached_diagonal(self) -> Float:
        if not hasattr(self, "_diagonal"):
            self._diagonal = self.diagonal()
        return self._diagonal
