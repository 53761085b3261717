"""A Cholesky factor that is extended by a border of new variables instead of refactored.

[Q_OO  Q_ON]   [L   0] [Lᵀ  Y ]
[Q_NO  Q_NN] = [Yᵀ  M] [0   Mᵀ]      Y = L⁻¹Q_ON,   MMᵀ = Q_NN − YᵀY
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cholesky import Array, factored_in_place, triangular
from .jitter import Float

Int = NDArray[np.int64]


class Factor:
    """The factor of a positive matrix Q.

    Parameters
    ----------
    lower : array
        L, LLᵀ = Q, in Fortran order.
    names : int array
        Identifiers of the variables.
    """

    def __init__(self, lower: Array, names: Int) -> None:
        self.lower, self.names = lower, names
        self.Y = np.zeros((len(lower), 0), lower.dtype, order="F")
        self.M = np.zeros((0, 0), lower.dtype, order="F")

    @classmethod
    def of(cls, Q: Array, names: Int) -> Factor | None:
        """The factor of Q, which is overwritten; None if Q is not positive definite."""
        R = factored_in_place(Q)
        return None if R is None else cls(R.T, names)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.lower.dtype

    @property
    def size(self) -> int:
        return self.names.size

    @property
    def bordered(self) -> int:
        """Number of variables added later."""
        return len(self.M)

    def border(self, beside: Array, corner: Array, names: Int) -> bool:
        """Add variables: `beside` has a column for each new variable and a row for each present
        one, `corner` is the matrix of the new ones. Returns whether the result is positive
        definite."""
        old = len(self.lower)
        above = triangular(self.lower, beside[:old])
        left = triangular(self.M, beside[old:] - self.Y.T @ above)
        R = factored_in_place(np.ascontiguousarray(corner - above.T @ above - left.T @ left))
        if R is None:
            return False
        self.Y = np.asfortranarray(np.hstack([self.Y, above]))
        ends = np.zeros((self.bordered, len(R)), self.dtype)
        self.M = np.asfortranarray(np.block([[self.M, ends], [left.T, R.T]]))
        self.names = np.append(self.names, names)
        return True

    def forward(self, b: Array) -> Float:
        """L⁻¹b of a vector or of columns, in float64."""
        b, old = np.asfortranarray(b, dtype=self.dtype), len(self.lower)
        above = triangular(self.lower, b[:old])
        below = triangular(self.M, b[old:] - self.Y.T @ above)
        return np.concatenate([above, below]).astype(np.float64, copy=False)

    def back(self, b: Array) -> Float:
        """L⁻ᵀb."""
        b, old = np.asfortranarray(b, dtype=self.dtype), len(self.lower)
        below = triangular(self.M, b[old:], transposed=True)
        above = triangular(self.lower, b[:old] - self.Y @ below, transposed=True)
        return np.concatenate([above, below]).astype(np.float64, copy=False)
