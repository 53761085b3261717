"""Kernel target alignment and polarisation: how well a kernel clusters the classes (9.1.6).

    A = ⟨T, K⟩ / (‖T‖ ‖K‖),    P = ⟨T, K⟩,    ∂A = ⟨T/(‖T‖‖K‖) − A·K/‖K‖², ∂K⟩

T_ij is 1 within a class and −1/(k−1) between two of k classes, so T = yyᵀ for labels −1 and +1.
No machine is trained, and C plays no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs, count, take
from ..base import Evaluation, Float, Objective, Point
from .samples import as_inputs

# Rows start to stop of the Gram matrix, columns from start on.
Stripe = tuple[int, int, Float]
# Entries of the Gram matrix that are held at a time.
BLOCK_SIZE = 1 << 24


class KernelTargetAlignment(Objective[Point]):
    """The cosine of the angle between the Gram matrix and the ideal one, to be maximised::

        A = ⟨T, K⟩ / (‖T‖ ‖K‖)

    Parameters
    ----------
    X : inputs
    y : labels
        Of two or more classes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.tuning import KernelTargetAlignment, Point
    >>> objective = KernelTargetAlignment(np.array([[2.0], [-2.0]]), [1, -1])
    >>> objective.value(Point(Linear()))
    1.0

    References
    ----------
    Cristianini, Kandola, Elisseeff and Shawe-Taylor, *On kernel-target alignment*, 2002.
    """

    maximise = True

    def __init__(self, X: Inputs, y: ArrayLike) -> None:
        self.X: Any = as_inputs(X)
        self.n = count(X)
        labels = np.asarray(y)
        if labels.shape != (self.n,):
            raise ValueError(f"y must have a label for each of {self.n} inputs, got {labels.shape}")
        _, classes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        if sizes.size < 2:
            raise ValueError("y must hold at least two classes, got one")
        self.between = -1.0 / (sizes.size - 1)
        self.classes = classes.astype(np.int32)
        within = float((sizes.astype(np.float64) ** 2).sum())
        self.norm = np.sqrt(within + self.between**2 * (self.n**2 - within))

    def value(self, point: Point) -> float:
        product, square = self._products(self._blocks(point))
        return self._value(product, square)

    def evaluate(self, point: Point) -> Evaluation:
        blocks = list(self._blocks(point)) if self.n**2 <= BLOCK_SIZE else None
        product, square = self._products(blocks or self._blocks(point))
        slope = np.zeros(len(point.kernel.parameter_names))
        along_T, along_K = self._slopes(product, square)
        for start, stop, K in blocks or self._blocks(point):
            W = self._target(start, stop)
            W *= along_T
            if along_K:
                W += along_K * K
            W[:, stop - start :] *= 2.0
            rows = take(self.X, slice(start, stop))
            columns = take(self.X, slice(start, self.n))
            slope += point.kernel.gradient(rows, columns, W)
        return Evaluation(self._value(product, square), point.gradient(slope, 0.0))

    def _value(self, product: float, square: float) -> float:
        return float(product / (self.norm * np.sqrt(square))) if square > 0 else np.nan

    def _slopes(self, product: float, square: float) -> tuple[float, float]:
        """Coefficients of T and K in the derivative of the value by K."""
        if not square > 0:
            return np.nan, np.nan
        along_T = 1.0 / (self.norm * np.sqrt(square))
        return float(along_T), float(-product * along_T / square)

    def _products(self, blocks: Iterable[Stripe]) -> tuple[float, float]:
        """⟨T, K⟩ and ⟨K, K⟩."""
        product, square = 0.0, 0.0
        for start, stop, K in blocks:
            T = self._target(start, stop)
            width = stop - start
            for part, factor in ((slice(0, width), 1.0), (slice(width, None), 2.0)):
                corner = K[:, part]
                product += factor * float(np.vdot(T[:, part], corner))
                square += factor * float(np.vdot(corner, corner))
        return product, square

    def _target(self, start: int, stop: int) -> Float:
        same = self.classes[start:stop, None] == self.classes[start:]
        return np.where(same, 1.0, self.between)

    def _blocks(self, point: Point) -> Iterator[Stripe]:
        """Stripes of the upper triangle, each from its diagonal on."""
        if self.n**2 <= BLOCK_SIZE:
            yield 0, self.n, point.kernel(self.X)
            return
        height = max(64, BLOCK_SIZE // self.n)
        for start in range(0, self.n, height):
            stop = min(start + height, self.n)
            rows, columns = take(self.X, slice(start, stop)), take(self.X, slice(start, self.n))
            yield start, stop, point.kernel(rows, columns)


class KernelPolarisation(KernelTargetAlignment):
    """The numerator of the alignment alone, P = ⟨T, K⟩, to be maximised.

    For kernels with k(x, x) = 1. Parameters as for `KernelTargetAlignment`.

    References
    ----------
    Baram, *Learning by kernel polarization*, 2005.
    """

    def _value(self, product: float, square: float) -> float:
        del square
        return product

    def _slopes(self, product: float, square: float) -> tuple[float, float]:
        del product, square
        return 1.0, 0.0
