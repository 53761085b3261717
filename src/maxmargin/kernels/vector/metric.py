"""The Gaussian kernel with a full metric, and moves on the manifold of metrics (chapter 10).

A metric is a symmetric positive definite matrix B of n features. It has three properties, and each
may be frozen::

    size          det B                              1 coordinate
    shape         the ratios of the eigenvalues      n − 1
    orientation   the eigenvectors                   n (n − 1) / 2

Free properties move in coordinates with their origin at B, B ← exp(A) B exp(A) with A symmetric.
A frozen size means tr A = 0. A frozen orientation means that A is diagonal along the eigenvectors
of B. With a frozen shape A is a multiple of 1, and where the orientation is free B is rotated,
B ← exp(Ω) B exp(−Ω) with Ω antisymmetric. The cases A to E of section 10.2, with B diagonal at the
start, freeze shape and orientation; size and orientation; orientation; size; nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import expm, helmert

from ..base import STRIPE, Array, Float, Gram, Inputs, Kernel, checked_weights
from .base import as_vectors
from .standard import Gaussian

PARTS = ("size", "shape", "orientation")
# exp(−½ ‖u − v‖²) of images u = Bx.
OF_IMAGES = Gaussian(0.5)


@dataclass(frozen=True, eq=False, repr=False)
class MetricGaussian(Kernel):
    """Gaussian kernel with a full metric::

        k(x, z) = exp(−½ ‖B (x − z)‖²),   B symmetric positive definite

    With B = √(2γ)·1 it is ``Gaussian(γ)``.

    Parameters
    ----------
    metric : array of shape (features, features)
        B. It is kept as a read-only array.
    freeze : iterable of "size", "shape", "orientation"
        The properties that `moved` does not change.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import MetricGaussian
    >>> kernel = MetricGaussian(np.eye(2), freeze=["size"])
    >>> kernel.parameter_names
    ('shape[0]', 'metric[0,1]')
    >>> moved = kernel.moved([0.0, 0.5])
    >>> moved.metric.round(4)
    array([[1.5431, 1.1752],
           [1.1752, 1.5431]])
    >>> round(float(np.linalg.det(moved.metric)), 10)
    1.0

    References
    ----------
    Glasmachers and Igel, *Gradient-based adaptation of general Gaussian kernels*, 2005.
    """

    metric: Float
    freeze: frozenset[str] = frozenset()

    def __init__(self, metric: Any, freeze: Iterable[str] = ()) -> None:
        object.__setattr__(self, "metric", _checked_metric(metric))
        object.__setattr__(self, "freeze", _checked_parts(freeze))

    @classmethod
    def isotropic(cls, gamma: float, features: int, freeze: Iterable[str] = ()) -> MetricGaussian:
        """The kernel that equals ``Gaussian(gamma)`` on inputs with this many features."""
        if not gamma > 0:
            raise ValueError(f"gamma must be positive for a full metric, got {gamma}")
        return cls(np.sqrt(2.0 * gamma) * np.eye(features), freeze)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetricGaussian):
            return NotImplemented
        return self.freeze == other.freeze and np.array_equal(self.metric, other.metric)

    def __hash__(self) -> int:
        return hash((self.metric.tobytes(), self.freeze))

    def __repr__(self) -> str:
        frozen = [part for part in PARTS if part in self.freeze]
        return f"MetricGaussian({self.metric.tolist()}{f', freeze={frozen}' if frozen else ''})"

    def __call__(self, A: Inputs, B: Inputs | None = None) -> Array:
        A = self._vectors("A", A)
        if B is None or B is A:
            return self.bind(A).matrix()
        B = self._vectors("B", B)
        centre = _mean(B)
        return OF_IMAGES(self._images(A, centre), self._images(B, centre))

    def diagonal(self, A: Inputs) -> Float:
        return np.ones(self._vectors("A", A).shape[0])

    def bind(self, X: Inputs, dtype: Any = None) -> Gram:
        return MetricGram(self, self._vectors("X", X), dtype)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return Chart(self).names()

    @property
    def theta(self) -> Float:
        """Coordinates of ½ log B, to which a move along the eigenvectors of B adds. Rotations are
        counted from B."""
        values, vectors = np.linalg.eigh(self.metric)
        return Chart(self).coordinates(vectors * (0.5 * np.log(values)) @ vectors.T)

    def moved(self, delta: Any) -> MetricGaussian:
        B = Chart(self).moved(self._checked_delta(delta))
        return MetricGaussian(_definite(0.5 * (B + B.T)), self.freeze)

    def gradient(self, A: Inputs, B: Inputs | None, W: Array) -> Float:
        return Chart(self).gradient(self._metric_gradient(A, B, W))

    def diagonal_gradient(self, A: Inputs, w: Array) -> Float:
        del A, w
        return np.zeros(len(self.parameter_names))

    def _metric_gradient(self, A: Inputs, Z: Inputs | None, W: Array) -> Float:
        """∂/∂B Σ_ij W_ij K_ij = −½ (BT + TB),  T = Σ_ij W_ij K_ij (a_i − z_j)(a_i − z_j)ᵀ"""
        A = self._vectors("A", A)
        Z = A if Z is None else self._vectors("B", Z)
        W = checked_weights(W, A.shape[0], Z.shape[0])
        centre = _mean(Z)
        right = Z.astype(np.float64) - centre
        images = right @ self.metric
        T = np.zeros_like(self.metric)
        for start in range(0, A.shape[0], STRIPE):
            part = slice(start, start + STRIPE)
            left = A[part].astype(np.float64) - centre
            M = OF_IMAGES(left @ self.metric, images) * W[part]
            cross = left.T @ (M @ right)
            T += (left.T * M.sum(axis=1)) @ left + (right.T * M.sum(axis=0)) @ right
            T -= cross + cross.T
        return np.asarray(-0.5 * (self.metric @ T + T @ self.metric))

    def _images(self, X: Array, centre: Float) -> Array:
        """B (x − centre), in the precision of the inputs."""
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        images = (X.astype(np.float64) - centre) @ self.metric
        return np.asarray(images, dtype=dtype)

    def _vectors(self, name: str, X: Inputs) -> Array:
        X = as_vectors(name, X)
        if sparse.issparse(X):
            X = X.toarray()
        if X.shape[1] != len(self.metric):
            raise ValueError(
                f"{name} must have {len(self.metric)} features, as the metric has, got {X.shape[1]}"
            )
        return np.asarray(X)


class MetricGram(Gram):
    """Gram matrix of vectors mapped by the metric once."""

    kernel: MetricGaussian

    def __init__(self, kernel: MetricGaussian, X: Array, dtype: Any = None) -> None:
        super().__init__(kernel, X, dtype)
        self._of_images = OF_IMAGES.bind(kernel._images(X, _mean(X)), self.dtype)
        self.points = self._of_images.points

    def _select(self, points: Any, indices: Array | slice) -> Any:
        return self._of_images._select(points, indices)

    def _block(self, left: Any, right: Any, out: Array) -> None:
        self._of_images._block(left, right, out)


class Chart:
    """The coordinates in which a metric moves, with their origin at the metric itself."""

    def __init__(self, kernel: MetricGaussian) -> None:
        self.metric, freeze = kernel.metric, kernel.freeze
        n = len(self.metric)
        self.turns = "orientation" not in freeze
        self.rotates = self.turns and "shape" in freeze
        self.axes = np.eye(n) if self.turns else _axes(self.metric)
        # One row per coordinate: its contribution to the diagonal of A along the axes.
        if "shape" not in freeze:
            self.name, self.diagonals = "metric[{0},{0}]", np.eye(n)
            if "size" in freeze:
                self.name, self.diagonals = "shape[{0}]", helmert(n) if n > 1 else np.zeros((0, n))
        else:
            self.name, self.diagonals = "size", np.ones((0 if "size" in freeze else 1, n))
        self.upper = np.triu_indices(n if self.turns else 0, 1)

    def names(self) -> tuple[str, ...]:
        kind = "rotation" if self.rotates else "metric"
        diagonal = [self.name.format(k) for k in range(len(self.diagonals))]
        return (*diagonal, *(f"{kind}[{i},{j}]" for i, j in zip(*self.upper)))

    def coordinates(self, half_log: Float) -> Float:
        """Of ½ log B."""
        along = np.diagonal(self.axes.T @ half_log @ self.axes)
        lengths = (self.diagonals**2).sum(axis=1)
        others = half_log[self.upper] * (0.0 if self.rotates else 1.0)
        return np.concatenate([self.diagonals @ along / lengths, others])

    def moved(self, delta: Float) -> Float:
        """The metric at these coordinates."""
        diagonal = delta[: len(self.diagonals)] @ self.diagonals
        others = np.zeros_like(self.metric)
        others[self.upper] = delta[len(self.diagonals) :]
        if not self.turns:
            E = self.axes * np.exp(diagonal) @ self.axes.T
        elif self.rotates:
            E = expm(others - others.T) * np.exp(diagonal)
        else:
            E = expm(np.diag(diagonal) + others + others.T)
        return np.asarray(E @ self.metric @ E.T)

    def gradient(self, slope: Float) -> Float:
        """Of a function whose derivative in the entries of B is the symmetric matrix `slope`."""
        left, right = slope @ self.metric, self.metric @ slope
        along = np.diagonal(self.axes.T @ (left + right) @ self.axes)
        others = left - right if self.rotates else left + right
        return np.concatenate([self.diagonals @ along, 2.0 * others[self.upper]])


def _mean(X: Array) -> Float:
    return np.asarray(X.mean(axis=0, dtype=np.float64)) if len(X) else np.zeros(X.shape[1])


def _axes(metric: Float) -> Float:
    """Eigenvectors, the features themselves where the metric is diagonal."""
    if np.array_equal(metric, np.diag(np.diagonal(metric))):
        return np.eye(len(metric))
    return np.asarray(np.linalg.eigh(metric)[1])


def _definite(B: Float) -> Float:
    """A metric whose smallest eigenvalues may have been lost to rounding, with these as large as
    rounding; images Bx are the same up to it."""
    if not np.isfinite(B).all():
        return B
    values, vectors = np.linalg.eigh(B)
    least = 4.0 * len(B) * np.finfo(np.float64).eps * values[-1]
    if values[0] > least:
        return B
    repaired = vectors * np.maximum(values, 4.0 * least) @ vectors.T
    return np.asarray(0.5 * (repaired + repaired.T))


def _checked_metric(metric: Any) -> Float:
    B = np.array(metric, dtype=np.float64)
    if B.ndim != 2 or B.shape[0] != B.shape[1] or not B.size:
        raise ValueError(f"metric must be a square matrix, got shape {B.shape}")
    if not np.isfinite(B).all():
        raise ValueError("metric contains NaN or infinity")
    if np.abs(B - B.T).max() > 1e-8 * np.abs(B).max():  # more than rounding
        raise ValueError("metric must be symmetric: give (B + B.T) / 2")
    B = 0.5 * (B + B.T)
    smallest = float(np.linalg.eigvalsh(B)[0])
    if not smallest > 0:
        raise ValueError(f"metric must be positive definite, got an eigenvalue of {smallest:g}")
    B.flags.writeable = False
    return B


def _checked_parts(freeze: Iterable[str]) -> frozenset[str]:
    parts = frozenset([freeze] if isinstance(freeze, str) else freeze)
    unknown = sorted(parts - set(PARTS))
    if unknown:
        raise ValueError(f"freeze must name some of {PARTS}, got {unknown}")
    return parts
