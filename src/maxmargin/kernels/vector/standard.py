"""Kernels of vectors: linear, polynomial, sigmoid and Gaussian with radial or diagonal metric.

All are functions of inner products and norms, k(x, z) = f(⟨φ(x), φ(z)⟩ + o(x) + o(z)), so one GEMM
(or one CSR product) and one elementwise pass give a block of any of them:

    kernel      φ(x)               o(x)           f(u)
    Linear      x                  0              u
    Polynomial  √γ x               ½ coef0        u^degree
    Sigmoid     √γ x               ½ coef0        tanh u
    Gaussian    √(2γ) (x − mean)   −½ ‖φ(x)‖²     exp u
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import comb
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ..base import Array, Float, Inputs, finite_number
from .base import VectorKernel, as_vectors
from .chebyshev import Interpolation, interpolation
from .elementwise import hyperbolic_tangent, power
from .embedding import DensePoints, Offset, squared_norms
from .exp import exponential
from .gaussian_blocks import fill_gaussian_matrix, gaussian_block


@dataclass(frozen=True)
class Linear(VectorKernel):
    """Linear kernel::

        k(x, z) = ⟨x, z⟩

    Examples
    --------
    >>> from maxmargin.kernels import Linear
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]])
    array([[5., 2.],
           [2., 1.]])
    """

    def _finish(self, block: Array) -> None:
        pass

    def _sensitivity(self, largest: float) -> float:
        return largest

    def diagonal(self, A: Inputs) -> Float:
        return squared_norms(as_vectors("A", A))

    def rank(self, X: Inputs) -> float:
        return float(X.shape[1])


class AffineKernel(VectorKernel):
    """k(x, z) = f(γ⟨x, z⟩ + coef0)"""

    gamma: float
    coef0: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _checked_gamma(self.gamma))
        object.__setattr__(self, "coef0", finite_number("coef0", self.coef0))

    @abstractmethod
    def _slope(self, block: Array) -> None:
        """u ← f'(u), in place."""

    def _scale(self) -> float:
        return float(np.sqrt(self.gamma))

    def _offset(self) -> Offset | None:
        return (lambda norms: np.full_like(norms, 0.5 * self.coef0)) if self.coef0 else None

    def diagonal(self, A: Inputs) -> Float:
        values = self.gamma * squared_norms(as_vectors("A", A)) + self.coef0
        self._finish(values[:, None])
        return values

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return ("log_gamma", "coef0")

    @property
    def theta(self) -> Float:
        return np.array([_log_gamma(self.gamma), self.coef0])

    def moved(self, delta: Any) -> AffineKernel:
        step = self._checked_delta(delta)
        return replace(  # type: ignore[type-var]
            self, gamma=self.gamma * float(np.exp(step[0])), coef0=self.coef0 + float(step[1])
        )

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        total = np.zeros(2)
        for _, _, products, weights in self._arguments(A, B, W, offsets=False):
            total += self._contracted(products, weights)
        return total

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        products = self.gamma * squared_norms(as_vectors("A", A))
        return self._contracted(products[:, None], np.asarray(w, dtype=np.float64)[:, None])

    def _contracted(self, products: Float, weights: Float) -> Float:
        """Σ W f'(u)·(γ⟨x, z⟩, 1)"""
        slope = products + self.coef0
        self._slope(slope)
        slope *= weights
        return np.array([np.vdot(slope, products), slope.sum()])


@dataclass(frozen=True)
class Polynomial(AffineKernel):
    """Polynomial kernel::

        k(x, z) = (γ⟨x, z⟩ + coef0)^degree

    Parameters
    ----------
    degree : int
        Not negative. It is not a coordinate of `theta`.
    gamma : float
        γ, not negative.
    coef0 : float
        The kernel is positive semi-definite if this is not negative.

    Examples
    --------
    >>> from maxmargin.kernels import Polynomial
    >>> kernel = Polynomial(degree=2, gamma=0.5, coef0=1.0)
    >>> kernel([[1.0, 2.0]], [[2.0, 0.0], [0.0, 4.0]])
    array([[ 4., 25.]])
    >>> kernel.parameter_names
    ('log_gamma', 'coef0')
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        degree = self.degree
        if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 0:
            raise ValueError(f"degree must be a whole number, not negative, got {degree!r}")
        object.__setattr__(self, "degree", int(degree))
        super().__post_init__()

    @property
    def theta_limits(self) -> tuple[Float, Float]:
        return np.array([-np.inf, 0.0]), np.full(2, np.inf)

    def _finish(self, block: Array) -> None:
        power(block, self.degree)

    def _sensitivity(self, largest: float) -> float:
        return self.degree * (largest + abs(self.coef0)) ** self.degree

    def _slope(self, block: Array) -> None:
        power(block, max(self.degree - 1, 0))
        block *= self.degree

    def rank(self, X: Inputs) -> float:
        # Monomials of this degree, or up to it.
        return float(comb(X.shape[1] - (self.coef0 == 0) + self.degree, self.degree))


@dataclass(frozen=True)
class Sigmoid(AffineKernel):
    """Sigmoid kernel, not positive semi-definite in general::

        k(x, z) = tanh(γ⟨x, z⟩ + coef0)

    Parameters
    ----------
    gamma : float
        γ, not negative.
    coef0 : float

    Examples
    --------
    >>> from maxmargin.kernels import Sigmoid
    >>> Sigmoid(gamma=0.5, coef0=-1.0)([[1.0, 2.0]], [[2.0, 0.0], [0.0, 4.0]]).round(4)
    array([[0.    , 0.9951]])
    """

    gamma: float = 1.0
    coef0: float = 0.0

    def _finish(self, block: Array) -> None:
        hyperbolic_tangent(block)

    def _sensitivity(self, largest: float) -> float:
        return largest + abs(self.coef0)

    def _slope(self, block: Array) -> None:
        hyperbolic_tangent(block)
        np.multiply(block, block, out=block)
        np.subtract(1.0, block, out=block)


@dataclass(frozen=True)
class Gaussian(VectorKernel):
    """Gaussian kernel with radial or diagonal metric::

        k(x, z) = exp(−γ ‖x − z‖²)              gamma a number
        k(x, z) = exp(−Σ_f γ_f (x_f − z_f)²)    gamma a sequence, one number for each feature

    Parameters
    ----------
    gamma : float or sequence of float
        Not negative. A sequence is stored as a tuple, so that the kernel is hashable.

    Examples
    --------
    >>> from maxmargin.kernels import Gaussian
    >>> Gaussian(0.5)([[0.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]]).round(4)
    array([[0.6065, 0.3679]])
    >>> Gaussian([0.5, 0.0])([[0.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.6065]])

    The derivative of ½ Σ_ij K_ij in the logarithms of two metric coefficients:

    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 2.0]])
    >>> Gaussian([0.5, 0.25]).gradient(X, None, np.full((2, 2), 0.5)).round(4)
    array([-0.1116, -0.2231])
    """

    gamma: float | tuple[float, ...] = 1.0

    _stationary = True
    # Whether this is a Gaussian itself and not a subclass that overrides parts of it.
    _is_plain: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._is_plain = cls._fill is Gaussian._fill and cls._finish is Gaussian._finish

    def __post_init__(self) -> None:
        if type(self.gamma) is float and 0.0 <= self.gamma < np.inf:
            return
        if np.ndim(self.gamma) == 0:
            gamma: float | tuple[float, ...] = _checked_gamma(self.gamma)
        elif np.ndim(self.gamma) == 1:
            gamma = tuple(_checked_gamma(value) for value in self.gamma)  # type: ignore[union-attr]
            if not gamma:
                raise ValueError("gamma must have at least one entry, got none")
        else:
            raise ValueError(
                f"gamma must be a number or a 1-D array, got {np.ndim(self.gamma)} dimensions"
            )
        object.__setattr__(self, "gamma", gamma)

    @property
    def radial(self) -> bool:
        """Whether all features share one γ."""
        return isinstance(self.gamma, float)

    def _scale(self) -> float | Float:
        return np.sqrt(2.0 * np.asarray(self.gamma))

    def _offset(self) -> Offset:
        return lambda norms: -0.5 * norms

    def _fill(self, left: Any, right: Any, out: Array) -> None:
        if not self._fill_rows(left, right, out):
            super()._fill(left, right, out)

    def _fill_rows(self, left: Any, right: Any, out: Array) -> bool:
        if not (self._is_plain and isinstance(left, DensePoints)) or left.rare is not None:
            return False
        return gaussian_block(left.table, right.table, out)

    def _fill_matrix(
        self, points: DensePoints, matrix: Array, shares: list[list[int]], rows: int
    ) -> bool:
        return self._is_plain and fill_gaussian_matrix(points.table, matrix, shares, rows)

    def _transposed(self, points: DensePoints) -> Array | None:
        if not self._is_plain:
            return None
        images = points.images()
        transposed = np.zeros((self._transposed_width(points), len(images)), images.dtype)
        transposed[: points.features] = images.T
        return transposed

    def _transposed_width(self, points: DensePoints) -> int:
        return -(-points.features // 4) * 4 if self._is_plain else 0

    def interpolation(self, X: Inputs) -> Interpolation | None:
        """Chebyshev points from which sums of Gaussians at X are interpolated to rounding, if they
        are few enough to be faster than kernel values."""
        return interpolation(self.gamma, X) if self._is_plain else None

    def _finish(self, block: Array) -> None:
        exponential(block)

    def _sensitivity(self, largest: float) -> float:
        # The exponent is a difference of norms up to `largest`.
        return 2.0 * (1.0 + largest)

    def diagonal(self, A: Inputs) -> Float:
        return np.ones(as_vectors("A", A).shape[0])

    def exponents(self, A: Inputs, B: Inputs) -> Float:
        """The logarithms of the values k(A, B) in float64, up to the rounding of the norms from
        which they are computed; none of them is smaller than float64 allows, as values may be."""
        A, B = as_vectors("A", A), as_vectors("B", B)
        self._check_features(A, B)
        embedding = self._embedding(B, np.float64)
        left, right = embedding(A), embedding(B)
        block = np.empty((len(left), len(right)))
        left.products(right, block)  # type: ignore[arg-type]
        return block

    @property
    def parameter_names(self) -> tuple[str, ...]:
        if isinstance(self.gamma, float):
            return ("log_gamma",)
        return tuple(f"log_gamma[{feature}]" for feature in range(len(self.gamma)))

    @property
    def theta(self) -> Float:
        return np.atleast_1d(_log_gamma(self.gamma))

    def moved(self, delta: Any) -> Gaussian:
        gammas = np.asarray(self.gamma) * np.exp(self._checked_delta(delta))
        return Gaussian(float(gammas[0]) if self.radial else tuple(gammas))

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        total = np.zeros(len(self.parameter_names))
        for left, right, exponents, weights in self._arguments(A, B, W, offsets=True):
            M = exponents.copy()
            self._finish(M)
            M *= weights
            if self.radial:
                total += np.vdot(M, exponents)
            else:
                # −½ Σ_ij M_ij (φ(x_i) − φ(z_j))², feature by feature
                total += left.weighted_products(right, M)  # type: ignore[arg-type]
                total -= 0.5 * left.weighted_squares(M.sum(axis=1))
                total -= 0.5 * right.weighted_squares(M.sum(axis=0))
        return total

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        del A, w
        return np.zeros(len(self.parameter_names))

    def _check_width(self, A: Inputs) -> None:
        if not isinstance(self.gamma, float) and len(self.gamma) != A.shape[1]:
            raise ValueError(
                f"gamma has {len(self.gamma)} entries, the inputs {A.shape[1]} features: "
                "give one entry for each feature or a single number"
            )


def _checked_gamma(value: Any) -> float:
    gamma = finite_number("gamma", value)
    if gamma < 0.0:
        raise ValueError(f"gamma must not be negative, got {gamma}")
    return gamma


def _log_gamma(gamma: float | tuple[float, ...]) -> Any:
    if not np.all(gamma):
        raise ValueError(
            "theta is the logarithm of gamma, and gamma contains 0: give it a small positive value"
        )
    return np.log(gamma)
