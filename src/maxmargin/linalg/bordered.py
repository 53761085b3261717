"""A Cholesky factor that grows: a few new variables border it, instead of factoring all anew.

[Q_OO  Q_ON]   [L   0] [Lᵀ  Y ]
[Q_NO  Q_NN] = [Yᵀ  M] [0   Mᵀ]      Y = L⁻¹Q_ON,   MMᵀ = Q_NN − YᵀY
"""

from __future__ import annotations

import numpy as np

from .cholesky import factored_in_place, triangular


class Factor:
    """The factor of a positive matrix Q.

    Parameters
    ----------
    lower : array
        L, LLᵀ = Q, in the order of Fortran.
    names : int array
        What the variables are called.
    """

    def __init__(self, lower, names):
        self.lower, self.names = lower, names
        self.Y = np.zeros((len(lower), 0), lower.dtype, order="F")
        self.M = np.zeros((0, 0), lower.dtype, order="F")

    @classmethod
    def of(cls, Q, names):
        """The factor of Q, which it overwrites; None where Q is not positive definite."""
        R = factored_in_place(Q)
        return None if R is None else cls(R.T, names)

    @property
    def dtype(self):
        return self.lower.dtype

    @property
    def size(self):
        return self.names.size

    @property
    def bordered(self):
        """How many variables came later."""
        return len(self.M)

    def border(self, beside, corner, names):
        """Add variables: `beside` has a column for each of them and a row for those here already,
        `corner` is the matrix of the new ones. Whether the whole is positive definite."""
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

    def forward(self, b):
        """The first half of Q⁻¹b, of a vector or of columns, in float64."""
        b, old = np.asfortranarray(b, dtype=self.dtype), len(self.lower)
        above = triangular(self.lower, b[:old])
        below = triangular(self.M, b[old:] - self.Y.T @ above)
        return np.concatenate([above, below]).astype(np.float64, copy=False)

    def back(self, b):
        """The second half."""
        b, old = np.asfortranarray(b, dtype=self.dtype), len(self.lower)
        below = triangular(self.M, b[old:], transposed=True)
        above = triangular(self.lower, b[:old] - self.Y @ below, transposed=True)
        return np.concatenate([above, below]).astype(np.float64, copy=False)
