"""Kernel target alignment and polarisation: how well a kernel clusters the classes (9.1.6).

    A = ⟨T, K⟩ / (‖T‖ ‖K‖),    P = ⟨T, K⟩,    ∂A = ⟨T/(‖T‖‖K‖) − A·K/‖K‖², ∂K⟩

T_ij is 1 within a class and −1/(k−1) between two of k classes, so T = yyᵀ for labels −1 and +1.
No machine is trained, and C plays no role.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs, count, take
from ...runtime.jit import compiled
from .. import costs
from ..base import Evaluation, Float, Objective, Point
from .samples import as_inputs

# Rows start to stop of the Gram matrix, columns from start onwards.
Stripe = tuple[int, int, Float]
# Most entries of a stripe, which should fit in the cache.
STRIPE_SIZE = 1 << 18


@compiled
def products(K: Float, rows: Any, columns: Any, between: float) -> tuple[float, float]:
    """⟨T, K⟩ and ⟨K, K⟩ over a stripe and its mirror image."""
    height = rows.size
    product, square = 0.0, 0.0
    for i in range(height):
        own = rows[i]
        near, far, near_square, far_square = 0.0, 0.0, 0.0, 0.0
        for j in range(height):
            k = K[i, j]
            near += k if columns[j] == own else between * k
            near_square += k * k
        for j in range(height, columns.size):
            k = K[i, j]
            far += k if columns[j] == own else between * k
            far_square += k * k
        product += near + 2.0 * far
        square += near_square + 2.0 * far_square
    return product, square


@compiled
def weigh(K: Float, rows: Any, columns: Any, within: float, between: float, factor: float) -> None:
    """K ← factor·K + T with T = `within` inside a class and `between` across classes; entries
    outside the square at the diagonal count twice."""
    height = rows.size
    for i in range(height):
        own = rows[i]
        for j in range(height):
            K[i, j] = factor * K[i, j] + (within if columns[j] == own else between)
        for j in range(height, columns.size):
            K[i, j] = 2.0 * (factor * K[i, j] + (within if columns[j] == own else between))


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
        """The value alone."""
        return self._value(*self._products(self._stripes(point)))

    def evaluate(self, point: Point) -> Evaluation:
        stripes = list(self._stripes(point)) if self.n <= costs.LARGEST_MATRIX else None
        product, square = self._products(stripes or self._stripes(point))
        along_T, along_K = self._slopes(product, square)
        slope = np.zeros(len(point.kernel.parameter_names))
        for start, stop, K in stripes or self._stripes(point):
            rows, columns = self.classes[start:stop], self.classes[start:]
            weigh(K, rows, columns, along_T, self.between * along_T, along_K)
            inputs = take(self.X, slice(start, self.n))
            slope += point.kernel.gradient(take(inputs, slice(0, stop - start)), inputs, K)
        return Evaluation(self._value(product, square), point.gradient(slope, 0.0))

    def _value(self, product: float, square: float) -> float:
        return float(product / (self.norm * np.sqrt(square))) if square > 0 else np.nan

    def _slopes(self, product: float, square: float) -> tuple[float, float]:
        """Coefficients of T and K in the derivative of the value by K."""
        if not square > 0:
            return np.nan, np.nan
        along_T = 1.0 / (self.norm * np.sqrt(square))
        return float(along_T), float(-product * along_T / square)

    def _products(self, stripes: Iterable[Stripe]) -> tuple[float, float]:
        """⟨T, K⟩ and ⟨K, K⟩."""
        product, square = 0.0, 0.0
        for start, stop, K in stripes:
            part = products(K, self.classes[start:stop], self.classes[start:], self.between)
            product, square = product + part[0], square + part[1]
        return product, square

    def _stripes(self, point: Point) -> Iterator[Stripe]:
        """The upper triangle."""
        start = 0
        while start < self.n:
            height = max(64, STRIPE_SIZE // (self.n - start))  # GEMM needs a number of rows
            stop = min(start + height, self.n)
            inputs = take(self.X, slice(start, self.n))
            K = point.kernel(take(inputs, slice(0, stop - start)), inputs)
            yield start, stop, np.ascontiguousarray(K, dtype=np.float64)
            start = stop


class KernelPolarisation(KernelTargetAlignment):
    """The numerator of the alignment, P = ⟨T, K⟩, to be maximised.

    For kernels with k(x, x) = 1.

    Parameters
    ----------
    X : inputs
    y : labels
        Of two or more classes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import KernelPolarisation, Point
    >>> objective = KernelPolarisation(np.array([[0.0], [0.0], [9.0]]), [1, 1, -1])
    >>> round(objective.value(Point(Gaussian(1.0))), 6)
    5.0

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
