"""Kernels by double loops, and derivatives by differences of them."""

import math

import numpy as np

from maxmargin.kernels import (
    FromFunction,
    Gaussian,
    Linear,
    Normalised,
    Polynomial,
    Product,
    Scaled,
    Sigmoid,
    Sum,
)

FEATURES = 6
GAMMAS = (0.3, 0.05, 1.1, 0.2, 0.7, 0.4)


def dot(x, z):
    return sum(a * b for a, b in zip(x, z))


def polynomial(x, z):
    return (0.4 * dot(x, z) + 1.5) ** 3


def sigmoid(x, z):
    return math.tanh(0.2 * dot(x, z) - 0.3)


def gaussian(x, z):
    return math.exp(-0.3 * sum((a - b) ** 2 for a, b in zip(x, z)))


def diagonal_gaussian(x, z):
    return math.exp(-sum(g * (a - b) ** 2 for g, a, b in zip(GAMMAS, x, z)))


def normalised(function):
    return lambda x, z: function(x, z) / math.sqrt(function(x, x) * function(z, z))


def laplacian(A, B):
    A, B = (X.toarray() if hasattr(X, "toarray") else np.asarray(X) for X in (A, B))
    return np.exp(-0.2 * np.abs(A[:, None, :] - B[None, :, :]).sum(axis=2))


# Each kernel with the function of two vectors that it must be.
PAIRS = {
    "linear": (Linear(), dot),
    "polynomial": (Polynomial(degree=3, gamma=0.4, coef0=1.5), polynomial),
    "quadratic": (Polynomial(degree=2), lambda x, z: dot(x, z) ** 2),
    "sigmoid": (Sigmoid(gamma=0.2, coef0=-0.3), sigmoid),
    "radial": (Gaussian(0.3), gaussian),
    "diagonal": (Gaussian(GAMMAS), diagonal_gaussian),
    "sum": (
        Sum(Linear(), Gaussian(0.3), Gaussian(GAMMAS)),
        lambda x, z: dot(x, z) + gaussian(x, z) + diagonal_gaussian(x, z),
    ),
    "product": (
        Product(Gaussian(GAMMAS), Linear(), Polynomial(3, 0.4, 1.5)),
        lambda x, z: diagonal_gaussian(x, z) * dot(x, z) * polynomial(x, z),
    ),
    "scaled": (Scaled(Gaussian(0.3), 2.5), lambda x, z: 2.5 * gaussian(x, z)),
    "normalised": (Normalised(Polynomial(3, 0.4, 1.5)), normalised(polynomial)),
    "nested": (
        Scaled(Normalised(Polynomial(3, 0.4, 1.5) + Linear()) * Gaussian(0.3), 0.5),
        lambda x, z: (
            0.5 * normalised(lambda u, v: polynomial(u, v) + dot(u, v))(x, z) * gaussian(x, z)
        ),
    ),
    "function": (
        FromFunction(laplacian),
        lambda x, z: math.exp(-0.2 * sum(abs(a - b) for a, b in zip(x, z))),
    ),
}
INDEFINITE = ("sigmoid",)


def block(function, A, B):
    return np.array([[function(x, z) for z in B] for x in A])


def differences(kernel, A, B, W):
    """Σ W ∂K/∂theta by differences of fourth order."""
    step = 1e-3

    def value(direction, steps):
        delta = np.zeros(len(kernel.parameter_names))
        delta[direction] = steps * step
        return np.vdot(W, kernel.moved(delta)(A, B))

    return np.array(
        [
            (8 * (value(p, 1) - value(p, -1)) - (value(p, 2) - value(p, -2))) / (12 * step)
            for p in range(len(kernel.parameter_names))
        ]
    )
