"""The linear system of kernel ridge regression, and products with its matrix.

    minimise  ½ Σ_i w_i (t_i − f(x_i))² + ½λ‖f‖²,    f = Σ_j β_j k(x_j, ·) + b

    (K + λW⁻¹) β + b = t,    1ᵀβ = 0  (with a free bias)

One system serves all columns of t. The bias is eliminated: with Aζ = t and Aη = 1 it is
b = 1ᵀζ / 1ᵀη, and β = ζ − bη.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...kernels import Gram, Linear
from ...kernels.base import STRIPE
from ...runtime.parallel import in_parts, in_turn

Float = NDArray[np.float64]
Pause = Callable[[], object]


class RidgeSystem(NamedTuple):
    """The linear system.

    Attributes
    ----------
    gram : Gram
        Of the samples, in float64.
    targets : float array of shape (samples, targets)
    weight : float array of shape (samples,)
        Positive.
    penalty : float
        λ ≥ 0.
    intercept : bool
        Whether a bias is free.
    """

    gram: Gram
    targets: Float
    weight: Float
    penalty: float
    intercept: bool

    @property
    def size(self) -> int:
        return len(self.weight)

    @property
    def ridge(self) -> Float:
        """The diagonal λ / w."""
        return self.penalty / self.weight

    def right_sides(self) -> Float:
        """The targets and, with a bias, a column of ones."""
        if not self.intercept:
            return self.targets
        return np.column_stack([self.targets, np.ones(self.size)])

    def combined(self, solved: Float) -> tuple[Float, Float]:
        """(β, b) from A⁻¹ of the right sides."""
        if not self.intercept:
            return solved, np.zeros(solved.shape[1])
        zeta, eta = solved[:, :-1], solved[:, -1]
        bias = zeta.sum(axis=0) / eta.sum()
        coef = zeta - np.outer(eta, bias)
        # Rounding in the sum would be multiplied by the bias in the duality gap.
        return coef - np.outer(eta, coef.sum(axis=0) / eta.sum()), bias


def product(gram: Gram, B: Float, pause: Pause | None = None) -> Float:
    """KB in float64, from recomputed values unless the kernel is precomputed."""
    if gram.dtype != np.float64:
        raise ValueError(f"gram must be bound in float64, got {gram.dtype}")
    if gram.whole is not None:
        return matrix_product(gram.whole, B)
    if gram.kernel == Linear():
        return linear_product(gram.X, B)
    return blockwise_product(gram, B, pause)


def linear_product(X: Any, B: Float) -> Float:
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return np.asarray(X @ (X.T @ B))
    X = np.asarray(X, dtype=np.float64)
    return matrix_product(X, X.T @ B)


def matrix_product(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
    """AB, divided among threads by rows."""
    result = np.empty((A.shape[0], B.shape[1]), dtype=np.result_type(A, B))

    def some_rows(start: int, stop: int) -> None:
        np.matmul(A[start:stop], B, out=result[start:stop])

    in_parts(some_rows, A.shape[0], A.size, B.shape[1])
    return result


def blockwise_product(gram: Gram, B: NDArray[Any], pause: Pause | None = None) -> NDArray[Any]:
    """KB by blocks of kernel values, each used twice, in the precision of the Gram matrix.

    Blocks are summed in up to 8 groups, the largest number of threads.
    """
    n, places = gram.n, np.arange(gram.n)
    blocks = [places[top : top + STRIPE] for top in range(0, n, STRIPE)]
    pairs = [(upper, lower) for k, lower in enumerate(blocks) for upper in blocks[: k + 1]]
    B = B.astype(gram.dtype, copy=False)
    groups = min(8, len(pairs))
    results: list[Any] = [None] * groups
    edges = np.linspace(0, len(pairs), groups + 1).astype(int)

    def one_group(group: int) -> None:
        total = np.zeros(B.shape, dtype=B.dtype)
        memory = np.empty(STRIPE * STRIPE, dtype=gram.dtype)
        for upper, lower in pairs[edges[group] : edges[group + 1]]:
            shape = upper.size, lower.size
            values = gram.rows(upper, lower, memory[: upper.size * lower.size].reshape(shape))
            total[lower] += values.T @ B[upper]
            if lower is not upper:
                total[upper] += values @ B[lower]
            if pause is not None:
                pause()
        results[group] = total

    in_turn(one_group, range(groups))
    return np.asarray(sum(results[1:], results[0]))
