"""Kernel values in extended precision, and how far float64 may be from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

LONG = np.longdouble
# Half the distance from 1 to the next number, of float64 and of the numbers computed with here.
UNIT = LONG(2.0) ** -53
# What a result below the smallest number of float64 is off by.
UNDERFLOW = LONG(2.0) ** -1074
OWN_UNIT = LONG(np.finfo(LONG).eps) / 2


class Gram(NamedTuple):
    """Kernel values K and bounds of the rounding errors of a computation in float64.

    An inner product of d terms, computed in any order, is off by at most (d + 2)u·Σ|x_f z_f|
    (Higham, Accuracy and Stability of Numerical Algorithms, 3.1), and the function applied to it
    multiplies that by its slope. Distances are those of inputs minus their mean.

    `constant` has been subtracted from all values. Where Σa = 0 that changes no function Ka + b,
    and inner products of inputs far from 0 keep the digits in which they differ. `squares` are the
    k(x, x) of the inputs that a machine computes with, if these are not the given ones.
    """

    values: np.ndarray
    rounding: np.ndarray
    constant: Any = LONG(0)
    squares: np.ndarray | None = None

    def largest(self, samples: np.ndarray) -> Any:
        """The largest entry of the matrix of some samples that a machine computes with."""
        if self.squares is not None:
            return self.squares[samples].max()
        return np.abs(self.values[np.ix_(samples, samples)]).max()


def gram(kernel: Any, X: np.ndarray, balanced: bool = False, sparse: bool = False) -> Gram:
    """Of the samples with themselves, for the kernels that have names.

    Parameters
    ----------
    kernel : Kernel
        A fitted `kernel_`, of which the parameters are read.
    X : longdouble array
        Inputs, or for a precomputed kernel its values.
    balanced : bool
        Whether coefficients sum to 0.
    sparse : bool
        Whether the inputs are given as a sparse matrix.
    """
    name = type(kernel).__name__
    if name == "Precomputed":
        return Gram(X, np.zeros_like(X))
    d = X.shape[1]
    if name == "Gaussian":
        return gaussian(np.asarray(kernel.gamma, dtype=LONG), X)
    if name == "Linear" and balanced and is_far_from_zero(X, sparse):
        return far_products(X, sparse)
    products, sizes = X @ X.T, np.abs(X) @ np.abs(X).T
    if name == "Linear":
        return Gram(products, (d + 2) * UNIT * sizes + UNDERFLOW)
    gamma, coef0 = LONG(kernel.gamma), LONG(kernel.coef0)
    argument = gamma * products + coef0
    off = (d + 6) * UNIT * (gamma * sizes + abs(coef0))
    if name == "Sigmoid":
        return Gram(np.tanh(argument), np.minimum(off + 4 * UNIT, 2))
    degree = int(kernel.degree)
    values = argument**degree
    slope = degree * (np.abs(argument) + off) ** max(degree - 1, 0)
    return Gram(values, slope * off + 2 * (degree + 1) * UNIT * np.abs(values) + UNDERFLOW)


def offset(X: np.ndarray, sparse: bool) -> np.ndarray:
    """The mean that a machine may subtract: of a sparse matrix only that of features without a
    zero, so that it stays sparse."""
    mean = X.mean(axis=0)
    return np.where((X != 0).all(axis=0), mean, 0) if sparse else mean


def is_far_from_zero(X: np.ndarray, sparse: bool = False) -> bool:
    """Whether a machine subtracts the mean of the inputs, beyond doubt."""
    if len(X) == 0:
        return False
    mean = offset(X, sparse)
    return bool(mean @ mean > 1.01e4 * ((X - mean) ** 2).sum(axis=1).max())


def far_products(X: np.ndarray, sparse: bool = False) -> Gram:
    """⟨x, z⟩ − ⟨c, c⟩ = ⟨x − c, z − c⟩ + ⟨c, x − c⟩ + ⟨c, z − c⟩ with the first input as c."""
    from_mean = np.abs(X - offset(X, sparse))
    centre, X = X[0], X - X[0]
    along, size = X @ centre, np.abs(X) @ np.abs(centre)
    sizes = np.abs(X) @ np.abs(X).T + size[:, None] + size
    values = X @ X.T + along[:, None] + along
    # A machine computes with inputs minus their mean.
    sizes = np.maximum(sizes, from_mean @ from_mean.T)
    rounding = (X.shape[1] + 2) * UNIT * sizes + UNDERFLOW
    return Gram(values, rounding, centre @ centre, (from_mean**2).sum(axis=1))


def gaussian(gamma: Any, X: np.ndarray) -> Gram:
    """exp(−Σ γ_f (x_f − z_f)²); one γ, or one for each feature."""
    d = X.shape[1]
    X = X - X.mean(axis=0)  # before they are multiplied, which rounds
    X, gamma = (X, gamma) if np.ndim(gamma) == 0 else (X * np.sqrt(gamma), LONG(1))
    differences = X[:, None, :] - X[None, :, :]
    distances = (differences**2).sum(axis=2)
    squares = (X**2).sum(axis=1)
    values = np.exp(-gamma * distances)
    # From ‖x‖² + ‖z‖² − 2⟨x, z⟩.
    off = (d + 8) * UNIT * 2 * gamma * (squares[:, None] + squares)
    errors = np.minimum(values * np.expm1(np.minimum(off, 50)), 1)
    # Exponents of which rounding leaves less than that may be any number in its reach.
    errors = np.where(off > 50, np.exp(np.minimum(off - gamma * distances, 0)), errors)
    return Gram(values, errors + 4 * UNIT * values)


def is_known(kernel: Any) -> bool:
    names = ("Linear", "Gaussian", "Polynomial", "Sigmoid", "Precomputed")
    return type(kernel).__name__ in names


def is_definite(K: np.ndarray) -> bool:
    """Whether the matrix is positive semi-definite, up to the rounding of its entries."""
    size = np.abs(K).max(initial=0)
    if not np.isfinite(size) or size == 0:
        return bool(size == 0)
    least = np.linalg.eigvalsh((K / size).astype(np.float64)).min()
    return bool(least > -1e-13 * len(K))
