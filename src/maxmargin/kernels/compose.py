"""Kernels made of kernels: sum, product, scaled and normalised.

Operators make the first three: ``k1 + k2``, ``k1 * k2`` and ``2.0 * k``. Nested sums and products
are flattened, nested scales multiplied, and a scale under a normalisation dropped: no direction of
`theta` is flat, and what is equal by these rules compares equal.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from .base import Array, Float, Gram, Inputs, Kernel, checked_weights, count, finite_number
from .vector.elementwise import chunks


@dataclass(frozen=True, init=False, repr=False)
class Composition(Kernel):
    """Several kernels of the same inputs, joined element by element."""

    kernels: tuple[Kernel, ...]

    def __init__(self, *kernels: Kernel) -> None:
        flat: list[Kernel] = []
        for kernel in kernels:
            _check_kernel(type(self).__name__, kernel)
            flat.extend(kernel.kernels if isinstance(kernel, type(self)) else [kernel])
        if not flat:
            raise ValueError(f"{type(self).__name__} needs at least one kernel, got none")
        object.__setattr__(self, "kernels", tuple(flat))

    @staticmethod
    @abstractmethod
    def _join(block: Array, other: Array, out: Array | None = None) -> Array:
        """One block made of two."""

    @staticmethod
    @abstractmethod
    def _rounding(roundings: list[float], sizes: list[Any]) -> float:
        """Error of an entry, given the errors and the largest entries of the parts."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.kernels))})"

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        return reduce(self._join, (kernel(A, B) for kernel in self.kernels))

    def diagonal(self, A: Inputs) -> Float:
        return reduce(self._join, (kernel.diagonal(A) for kernel in self.kernels))

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        return CompositionGram(self, X, dtype)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return tuple(
            f"{place}.{name}"
            for place, kernel in enumerate(self.kernels)
            for name in kernel.parameter_names
        )

    @property
    def theta(self) -> Float:
        return np.concatenate([kernel.theta for kernel in self.kernels])

    @property
    def theta_limits(self) -> tuple[Float, Float]:
        low, high = zip(*(kernel.theta_limits for kernel in self.kernels))
        return np.concatenate(low), np.concatenate(high)

    def moved(self, delta: Any) -> Composition:
        sizes = [len(kernel.parameter_names) for kernel in self.kernels]
        steps = np.split(self._checked_delta(delta), np.cumsum(sizes)[:-1])
        return type(self)(*(kernel.moved(step) for kernel, step in zip(self.kernels, steps)))


class CompositionGram(Gram):
    """Gram matrices of the parts, joined block by block."""

    kernel: Composition

    def __init__(self, kernel: Composition, X: Inputs, dtype: Any = None) -> None:
        super().__init__(kernel, X, dtype)
        self.parts = [part.bind(X, self.dtype) for part in kernel.kernels]

    @property
    def rounding(self) -> float:
        sizes = [np.abs(part._diagonal).max(initial=0.0) for part in self.parts]
        return self.kernel._rounding([part.rounding for part in self.parts], sizes)

    def rows(self, indices: Array, columns: Array | None = None, out: Array | None = None) -> Array:
        block = self.parts[0].rows(indices, columns, out)
        for part in self.parts[1:]:
            self.kernel._join(block, part.rows(indices, columns), out=block)
        self._put_diagonal(block, indices, columns)
        return block


class Sum(Composition):
    """Sum of kernels::

        k(x, z) = Σ_m k_m(x, z)

    Parameters
    ----------
    *kernels : Kernel

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian, Linear
    >>> Linear() + Gaussian(0.5)
    Sum(Linear(), Gaussian(gamma=0.5))
    >>> (Linear() + Gaussian(0.5))([[1.0], [2.0]]).round(4)
    array([[2.    , 2.6065],
           [2.6065, 5.    ]])
    """

    @staticmethod
    def _join(block: Array, other: Array, out: Array | None = None) -> Array:
        return np.add(block, other, out=out)

    @staticmethod
    def _rounding(roundings: list[float], sizes: list[Any]) -> float:
        del sizes
        return sum(roundings)

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        return np.concatenate([kernel.gradient(A, B, W) for kernel in self.kernels])

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        return np.concatenate([kernel.diagonal_gradient(A, w) for kernel in self.kernels])


class Product(Composition):
    """Product of kernels::

        k(x, z) = Π_m k_m(x, z)

    Parameters
    ----------
    *kernels : Kernel

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian, Linear
    >>> kernel = Linear() * Gaussian(0.5)
    >>> kernel([[1.0], [2.0]]).round(4)
    array([[1.    , 1.2131],
           [1.2131, 4.    ]])
    >>> kernel.parameter_names
    ('1.log_gamma',)
    """

    @staticmethod
    def _join(block: Array, other: Array, out: Array | None = None) -> Array:
        return np.multiply(block, other, out=out)

    @staticmethod
    def _rounding(roundings: list[float], sizes: list[Any]) -> float:
        others = Product._times_others(np.float64(1.0), sizes)
        return float(np.dot(roundings, others))

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        W = checked_weights(W, count(A), count(A if B is None else B))
        A, B = in_double(A), in_double(B)
        weighted = self._times_others(W, [kernel(A, B) for kernel in self.kernels])
        return np.concatenate(
            [kernel.gradient(A, B, part) for kernel, part in zip(self.kernels, weighted)]
        )

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        A, w = in_double(A), np.asarray(w, dtype=np.float64)
        weighted = self._times_others(w, [kernel.diagonal(A) for kernel in self.kernels])
        return np.concatenate(
            [kernel.diagonal_gradient(A, part) for kernel, part in zip(self.kernels, weighted)]
        )

    @staticmethod
    def _times_others(weights: Any, factors: list[Any]) -> list[Any]:
        """For each factor, the weights times all other factors: the weight of dk in d(Π k)."""
        return [
            reduce(np.multiply, factors[:place] + factors[place + 1 :], weights)
            for place in range(len(factors))
        ]


@dataclass(frozen=True)
class Scaled(Kernel):
    """A multiple of a kernel::

        k(x, z) = scale · kernel(x, z)

    Parameters
    ----------
    kernel : Kernel
    scale : float
        Positive.

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> kernel = 2.0 * Gaussian(0.5)
    >>> kernel
    Scaled(kernel=Gaussian(gamma=0.5), scale=2.0)
    >>> kernel.parameter_names
    ('log_scale', 'log_gamma')
    """

    kernel: Kernel
    scale: float

    def __post_init__(self) -> None:
        _check_kernel("Scaled", self.kernel)
        scale = finite_number("scale", self.scale)
        if scale <= 0.0:
            raise ValueError(f"scale must be positive, got {scale}")
        if isinstance(self.kernel, Scaled):
            scale *= self.kernel.scale
            object.__setattr__(self, "kernel", self.kernel.kernel)
        object.__setattr__(self, "scale", scale)

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        return self.kernel(A, B) * self.scale

    def diagonal(self, A: Inputs) -> Float:
        return self.kernel.diagonal(A) * self.scale

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        return ScaledGram(self, X, dtype)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return ("log_scale", *self.kernel.parameter_names)

    @property
    def theta(self) -> Float:
        return np.append(np.log(self.scale), self.kernel.theta)

    @property
    def theta_limits(self) -> tuple[Float, Float]:
        low, high = self.kernel.theta_limits
        return np.append(-np.inf, low), np.append(np.inf, high)

    def moved(self, delta: Any) -> Scaled:
        step = self._checked_delta(delta)
        return Scaled(self.kernel.moved(step[1:]), self.scale * float(np.exp(step[0])))

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        W = checked_weights(W, count(A), count(A if B is None else B))
        total = np.vdot(W, self.kernel(in_double(A), in_double(B)))
        return self.scale * np.append(total, self.kernel.gradient(A, B, W))

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        total = np.vdot(w, self.kernel.diagonal(A))
        return self.scale * np.append(total, self.kernel.diagonal_gradient(A, w))


class ScaledGram(Gram):
    """Gram matrix of the kernel inside, times the scale."""

    kernel: Scaled

    def __init__(self, kernel: Scaled, X: Inputs, dtype: Any = None) -> None:
        super().__init__(kernel, X, dtype)
        self.inside = kernel.kernel.bind(X, self.dtype)

    @property
    def rounding(self) -> float:
        return self.kernel.scale * self.inside.rounding

    def rows(self, indices: Array, columns: Array | None = None, out: Array | None = None) -> Array:
        block = self.inside.rows(indices, columns, out)
        block *= self.kernel.scale
        self._put_diagonal(block, indices, columns)
        return block


@dataclass(frozen=True)
class Normalised(Kernel):
    """Cosine of the angle between two inputs in feature space::

        k(x, z) = kernel(x, z) / √(kernel(x, x) kernel(z, z))

    An input of length zero in feature space has k = 0 with every input, itself included.

    Parameters
    ----------
    kernel : Kernel
        Its diagonal must not be negative.

    Examples
    --------
    >>> from maxmargin.kernels import Linear, Normalised
    >>> Normalised(Linear())([[3.0, 4.0]], [[1.0, 0.0], [6.0, 8.0], [0.0, 0.0]])
    array([[0.6, 1. , 0. ]])
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        _check_kernel("Normalised", self.kernel)
        if isinstance(self.kernel, Normalised | Scaled):
            object.__setattr__(self, "kernel", Normalised(self.kernel.kernel).kernel)

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        block = np.array(self.kernel(A, B))
        left = self._inverse_lengths(A)
        multiply_outer(block, left, left if B is None else self._inverse_lengths(B))
        if B is None or B is A:
            np.fill_diagonal(block, left > 0.0)
        return block

    def diagonal(self, A: Inputs) -> Float:
        return (self._inverse_lengths(A) > 0.0).astype(np.float64)

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        return NormalisedGram(self, X, dtype)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return self.kernel.parameter_names

    @property
    def theta(self) -> Float:
        return self.kernel.theta

    @property
    def theta_limits(self) -> tuple[Float, Float]:
        return self.kernel.theta_limits

    def moved(self, delta: Any) -> Normalised:
        return Normalised(self.kernel.moved(delta))

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        """With S_ij = W_ij/√(d_i e_j), d and e the diagonals:
        Σ S_ij ∂K_ij − ½ Σ_ij S_ij K_ij (∂d_i/d_i + ∂e_j/e_j)."""
        W = checked_weights(W, count(A), count(A if B is None else B))
        A, B = in_double(A), in_double(B)
        left = self._inverse_lengths(A)
        right = left if B is None else self._inverse_lengths(B)
        S = W.copy()
        multiply_outer(S, left, right)
        total = self.kernel.gradient(A, B, S)
        S *= self.kernel(A, B)
        rows, columns = S.sum(axis=1) * left**2, S.sum(axis=0) * right**2
        total -= 0.5 * self.kernel.diagonal_gradient(A, rows)
        total -= 0.5 * self.kernel.diagonal_gradient(A if B is None else B, columns)
        return total

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        del A, w
        return np.zeros(len(self.parameter_names))

    def _inverse_lengths(self, A: Inputs) -> Float:
        """1/√kernel(a, a), and 0 where that is infinite."""
        squares = np.asarray(self.kernel.diagonal(A), dtype=np.float64)
        if (squares < 0.0).any():
            raise ValueError(
                f"{self.kernel!r} cannot be normalised: its diagonal has the negative value "
                f"{squares.min():g}"
            )
        lengths = np.sqrt(squares)
        return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)


class NormalisedGram(Gram):
    """Gram matrix of the kernel inside, divided by the lengths."""

    kernel: Normalised

    def __init__(self, kernel: Normalised, X: Inputs, dtype: Any = None) -> None:
        super().__init__(kernel, X, dtype)
        self.inside = kernel.kernel.bind(X, self.dtype)
        self._inverse = kernel._inverse_lengths(X)

    @property
    def rounding(self) -> float:
        eps = float(np.finfo(self.dtype).eps)
        return eps + self.inside.rounding * float(self._inverse.max(initial=0.0)) ** 2

    def rows(self, indices: Array, columns: Array | None = None, out: Array | None = None) -> Array:
        block = self.inside.rows(indices, columns, out)
        right = self._inverse if columns is None else self._inverse[columns]
        multiply_outer(block, self._inverse[indices], right)
        self._put_diagonal(block, indices, columns)
        return block


def multiply_outer(block: Array, left: Float, right: Float) -> None:
    """block_ij ← block_ij · (left_i right_j), symmetric if block is and left equals right"""
    for part in chunks(*block.shape):
        block[part] *= np.multiply.outer(left[part], right)


def in_double(A: Inputs) -> Inputs:
    """float32 inputs as float64, in which derivatives are always computed."""
    return A.astype(np.float64) if getattr(A, "dtype", None) == np.float32 else A


def _check_kernel(name: str, kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(f"{name} takes kernels, got {kernel!r}")
