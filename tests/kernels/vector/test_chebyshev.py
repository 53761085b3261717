"""Interpolated sums of Gaussians, against the sums themselves in extended precision."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.kernels import Gaussian
from maxmargin.kernels.vector import chebyshev
from maxmargin.kernels.vector.chebyshev import interpolation, points_for

EPSILON = np.finfo(np.float64).eps


def exact(gamma, X, Z, coef):
    """Σ_j coef_j k(x_i, z_j) in extended precision."""
    X, Z = X.astype(np.longdouble), Z.astype(np.longdouble)
    apart = np.square(X[:, None, :] - Z[None, :, :])
    exponents = (np.broadcast_to(gamma, X.shape[1]).astype(np.longdouble) * apart).sum(axis=2)
    return np.exp(-exponents) @ coef.astype(np.longdouble)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("gamma", "sides"),
    [
        (0.5, (4.0, 4.0)),
        (3.0, (2.0,)),
        (0.05, (1.0, 2.0, 0.5)),
        ((0.5, 2.0), (4.0, 1.0)),
        ((0.5, 0.0), (4.0, 9.0)),
        (1.0, (3.0, 0.0)),
    ],
)
def test_sums_are_those_of_kernel_values_to_rounding(gamma, sides, kind):
    random = np.random.default_rng(0)
    shift = 10.0 * random.normal(size=len(sides))
    X = (shift + random.uniform(size=(300, len(sides))) * sides).astype(kind)
    # Terms may lie outside the box of the samples.
    Z = (shift + random.uniform(-0.5, 1.5, size=(200, len(sides))) * sides).astype(kind)
    coef = 1000.0 * random.normal(size=200)
    points = Gaussian(gamma).interpolation(X)
    assert points is not None
    error = np.abs(points.sums(X, Z, coef) - exact(gamma, X, Z, coef)).max()
    assert error <= 8 * EPSILON * np.abs(coef).sum()


@pytest.mark.parametrize("width", [1e-3, 0.5, 2.0, 8.0])
def test_points_are_as_many_as_rounding_asks_for(width):
    """In extended precision, where nothing but the number of points limits the accuracy."""
    pi = np.arccos(np.longdouble(-1))
    u, z = np.cos(np.linspace(0, 1, 401) * pi), np.linspace(-1.5, 1.5, 31).astype(np.longdouble)
    truth = np.exp(-width * np.square(u[:, None] - z))

    def error(points):
        angles = (np.arange(points) + np.longdouble(0.5)) * pi / points
        values = np.exp(-width * np.square(np.cos(angles)[:, None] - z))
        coefficients = np.cos(np.arange(points)[:, None] * angles) @ values * 2 / points
        coefficients[0] /= 2
        T = np.cos(np.arange(points) * np.arccos(u)[:, None])
        return np.abs(T @ coefficients - truth).max()

    p = points_for(width, 1)
    assert error(p) <= chebyshev.ERROR
    assert error(p - 8) > chebyshev.ERROR


def test_inputs_that_need_too_many_points_have_none():
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert interpolation(1.0, X) is not None
    assert interpolation(1e4, X) is None
    assert interpolation(1.0, np.tile(X, (1, 4))) is None
    assert interpolation(1.0, sparse.csr_matrix(X)) is None
    assert interpolation(1.0, X[:0]) is None
    assert interpolation(1.0, np.array([[0.0, np.inf], [1.0, 2.0]])) is None


def test_a_kernel_derived_from_the_gaussian_has_none():
    class Flat(Gaussian):
        def _finish(self, block):
            block[...] = 1.0

    assert Flat(1.0).interpolation(np.random.default_rng(0).normal(size=(50, 2))) is None


def test_few_terms_are_summed_directly():
    points = interpolation(0.5, np.random.default_rng(0).uniform(size=(50, 2)))
    assert not points.pays(10_000, 5)
    assert points.pays(10_000, 5000)
