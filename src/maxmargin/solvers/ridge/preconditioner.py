"""Approximate inverses of K + D: by a Cholesky factor, whole or of the leading directions.

The partial factor is that of the scaled matrix D^-½ K D^-½ ≈ FᵀF, with pivots drawn in proportion
to what is left of its diagonal (randomly pivoted Cholesky, Chen et al. 2022), so that

    (K + D)⁻¹ ≈ D^-½ (I + FᵀF)⁻¹ D^-½ = D^-½ (I − Fᵀ(I + FFᵀ)⁻¹F) D^-½
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels import Gram
from ...linalg.cholesky import cholesky, triangular
from ...linalg.jitter import factor, factored_solve
from ...runtime.parallel import in_parts
from .system import Float, Pause, matrix_product


class FullFactor:
    """The Cholesky factor of a positive definite matrix, in the precision of the matrix."""

    def __init__(self, lower: NDArray[Any]) -> None:
        self.lower = lower

    @classmethod
    def of(cls, matrix: NDArray[Any], ridge: Float) -> FullFactor | None:
        """The factor of a symmetric matrix plus a diagonal; overwrites the matrix. None if it is
        not positive definite."""
        matrix[np.diag_indices(len(matrix))] += ridge.astype(matrix.dtype)
        # Symmetric, so that its transpose is the same matrix in Fortran order.
        return cls(matrix.T) if cholesky(matrix.T) else None

    def solve(self, B: Float) -> Float:
        right = np.asfortranarray(B, dtype=self.lower.dtype)
        half = triangular(self.lower, right)
        return np.asarray(triangular(self.lower, half, transposed=True), dtype=np.float64)


class PartialFactor:
    """F of the leading directions, one row each."""

    def __init__(self, F: Float, ridge: Float) -> None:
        self.F, self.scale = F, 1.0 / np.sqrt(ridge)
        inner = matrix_product(F, np.ascontiguousarray(F.T))
        inner[np.diag_indices(len(F))] += 1.0
        self.inner = factor(np.asfortranarray(inner))

    @classmethod
    def of(
        cls, gram: Gram, ridge: Float, rank: int, seed: int = 0, pause: Pause | None = None
    ) -> PartialFactor:
        """A factor with at most `rank` directions, fewer if nothing is left."""
        n, scale = gram.n, 1.0 / np.sqrt(ridge)
        random = np.random.default_rng(seed)
        F = np.zeros((min(rank, n), n))
        diagonal = gram.diagonal() * scale * scale
        left, done = diagonal.copy(), 0
        while done < len(F):
            left[left <= 1e-12 * diagonal] = 0.0  # rounding
            candidates = int(np.count_nonzero(left))
            if not candidates:
                break
            drawn = min(128, len(F) - done, candidates)
            pivots = np.sort(random.choice(n, drawn, replace=False, p=left / left.sum()))
            rows = gram.rows(pivots).astype(np.float64) * scale * scale[pivots, None]
            rows -= matrix_product(np.ascontiguousarray(F[:done, pivots].T), F[:done])
            lower = np.asfortranarray(np.tril(factor(np.asfortranarray(rows[:, pivots]))))
            new = F[done : done + drawn]
            new[...] = triangular(lower, rows)
            left -= np.einsum("ij,ij->j", new, new)
            left[pivots] = 0.0
            done += drawn
            if pause is not None:
                pause()
        return cls(F[:done], ridge)

    @property
    def rank(self) -> int:
        return len(self.F)

    def solve(self, B: Float) -> Float:
        """Approximately (K + D)⁻¹B."""
        scaled = B * self.scale[:, None]
        inside = np.zeros((self.rank, B.shape[1]))
        if self.rank:
            inside = factored_solve(self.inner, matrix_product(self.F, scaled))
        result = np.empty_like(scaled)

        def some_columns(start: int, stop: int) -> None:
            result[start:stop] = scaled[start:stop] - self.F[:, start:stop].T @ inside

        in_parts(some_columns, len(scaled), self.F.size, B.shape[1])
        return result * self.scale[:, None]
