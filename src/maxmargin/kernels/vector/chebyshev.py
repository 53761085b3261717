"""Sums of Gaussians of few features by Chebyshev interpolation, exact to rounding in float64.

Σ_j c_j exp(−Σ_f γ_f (x_f − z_jf)²)  =  Σ_k W_k Π_f T_{k_f}(u_f) + ε,   u = (x − centre)/h

As a function of x_f a Gaussian is entire, so that its interpolant in p Chebyshev points converges
faster than any power: on an interval of half-width h the error is at most

    4·exp(γ h² s²)·ρ^{1−p}/(ρ − 1),   s = (ρ − 1/ρ)/2,   for every ρ > 1

(Trefethen, *Approximation Theory and Approximation Practice*, Theorem 8.2; the first factor bounds
the Gaussian on the ellipse of ρ). p is chosen so that ε stays below Σ_j |c_j|·2⁻⁵³, the rounding of
the sum itself. The cost is (n + m)·Π p instead of n·m kernel values, for n points and m terms.
"""

from __future__ import annotations

from functools import cache, reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from ...runtime.costs import COEFFICIENTS_A_VALUE
from ...runtime.parallel import in_parts, single_threaded_blas
from ..base import Float

# Error to reach, relative to Σ|c|, shared by the features.
ERROR = 2.0**-53
# Values of ρ for which the bound is evaluated.
ELLIPSES = np.geomspace(1.01, 200.0, 400)
# Rows of polynomials in memory at a time.
ROWS = 2048


class Interpolation(NamedTuple):
    """Chebyshev points of a box: centre and half-width of each feature, γ, and how many."""

    centre: Float
    half: Float
    gamma: Float
    points: tuple[int, ...]

    @property
    def coefficients(self) -> int:
        return reduce(mul, self.points, 1)

    def pays(self, samples: int, terms: int) -> bool:
        """Whether a sum of `terms` Gaussians at `samples` points costs less this way."""
        work = self.coefficients * (samples + terms)
        return work < COEFFICIENTS_A_VALUE * samples * terms

    def sums(self, X: Float, Z: Float, coef: Float) -> Float:
        """Σ_j coef_j k(x_i, z_j) for all x_i."""
        W, total = self._expand(Z, coef), np.empty(len(X))

        def some_rows(first: int, last: int) -> None:
            for start in range(first, last, ROWS):
                stop = min(start + ROWS, last)
                total[start:stop] = self._evaluate(W, X[start:stop])

        with single_threaded_blas():
            entries = len(X) * self.coefficients // COEFFICIENTS_A_VALUE
            in_parts(some_rows, len(X), entries, least=ROWS)
        return total

    def _expand(self, Z: Float, coef: Float) -> Float:
        """W of shape `points`."""
        nodal = np.zeros((self.points[0], self.coefficients // self.points[0]))
        for start in range(0, len(Z), ROWS):
            some = Z[start : start + ROWS].astype(np.float64, copy=False)
            first, *others = (self._at_points(f, some[:, f]) for f in range(len(self.points)))
            weighted = first * coef[start : start + ROWS, None]
            product = np.ones((len(some), 1))
            for other in others:
                product = (product[:, :, None] * other[:, None, :]).reshape(len(some), -1)
            nodal += weighted.T @ product
        W = nodal.reshape(self.points)
        for f, p in enumerate(self.points):
            W = np.moveaxis(np.tensordot(transform(p), W, (1, f)), 0, f)
        return np.ascontiguousarray(W)

    def _at_points(self, f: int, z: Float) -> Float:
        """exp(−γ_f (t − z)²) at the Chebyshev points t of feature f, shape (terms, points)."""
        t = self.centre[f] + self.half[f] * np.cos(angles(self.points[f]))
        result: Float = np.exp(-self.gamma[f] * np.square(t - z[:, None]))
        return result

    def _evaluate(self, W: Float, X: Float) -> Float:
        total = np.broadcast_to(W.reshape(1, -1), (len(X), W.size))
        for f, p in enumerate(self.points):
            T = self._polynomials(f, X[:, f])
            if f == 0:
                total = T @ W.reshape(p, -1)
            else:
                total = np.einsum("np,npr->nr", T, total.reshape(len(X), p, -1))
        return total[:, 0]

    def _polynomials(self, f: int, x: Float) -> Float:
        """T_0 … T_{p−1} at the samples, by the three-term recurrence."""
        p = self.points[f]
        T = np.empty((p, len(x)))
        T[0] = 1.0
        if p > 1:
            u = np.clip((x - self.centre[f]) / self.half[f], -1.0, 1.0)
            T[1] = u
            for k in range(2, p):
                np.multiply(T[k - 1], 2.0 * u, out=T[k])
                T[k] -= T[k - 2]
        return T.T


def interpolation(gamma: Any, X: Any, most: int = 4096) -> Interpolation | None:
    """The points for a Gaussian at the samples X; None if there are too many features, or they
    vary too much beside the width of the Gaussian, for at most so many coefficients W."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or not len(X):
        return None
    features = X.shape[1]
    # Two points for each feature at least, unless it is constant.
    if not 0 < features <= 16:
        return None
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    half = 0.5 * (high - low)
    gammas = np.broadcast_to(np.asarray(gamma, dtype=np.float64), features)
    if not np.isfinite(half).all():
        return None
    points, total = [], 1
    for width in (gammas * half**2).tolist():
        needed = points_for(width, features)
        total *= needed or most + 1
        if needed is None or total > most:
            return None
        points.append(needed)
    return Interpolation(low + half, half, gammas, tuple(points))


def points_for(width: float, features: int, most: int = 64) -> int | None:
    """The fewest points that interpolate exp(−width·u²) and its shifts on [−1, 1] to the error, for
    a product of so many features; None if they are more than `most`."""
    if width == 0.0:
        return 1
    s = 0.5 * (ELLIPSES - 1.0 / ELLIPSES)
    peak = width * s**2 - np.log(ELLIPSES - 1.0) + np.log(4.0)
    for p in range(2, most + 1):
        # Interpolation in the features before multiplies errors by their Lebesgue constants.
        lebesgue = 1.0 + 2.0 / np.pi * np.log(p)
        error = float(np.min(peak - (p - 1) * np.log(ELLIPSES)))
        if error <= np.log(ERROR / (features * lebesgue ** (features - 1))):
            return p
    return None


def angles(p: int) -> Float:
    result: Float = (np.arange(p) + 0.5) * np.pi / p
    return result


@cache
def transform(p: int) -> Float:
    """The matrix from values at p Chebyshev points to coefficients of T_0 … T_{p−1}."""
    # cos(k·θ_j), θ_j = (2j + 1)π/2p, with the angle reduced before it is rounded.
    turns = np.outer(np.arange(p), 2 * np.arange(p) + 1) % (4 * p)
    result: Float = 2.0 / p * np.cos(turns * (0.5 * np.pi / p))
    result[0] *= 0.5
    return result
