"""One oligo kernel, a term of every sequence kernel: blocks, diagonal, derivative."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base import Array, Float
from .compiled import (
    Index,
    Occurrences,
    Smoothing,
    add_gram_rows,
    contract_diagonal,
    contract_gram,
)
from .encoding import EncodedSequences, restricted

# k(x, x) counts every K-mer of x with exp(0). Against that, matches below 2^-60 are lost in
# rounding, even a hundred at a time.
NEGLIGIBLE_EXPONENT = 60 * np.log(2.0)


class Term(NamedTuple):
    """amplitude · Σ_ω λ_ω Σ_p Σ_q exp(−(p − q)²/4σ²), or amplitude times its normalisation."""

    k: int
    sigma: float
    weights: Float
    amplitude: float
    normalised: bool

    def smoothing(self, width: int) -> Smoothing:
        """The tables for sequences no longer than `width`."""
        reach = min(2.0 * self.sigma * np.sqrt(NEGLIGIBLE_EXPONENT), max(width, 1) - 1)
        exponent = (np.arange(int(reach) + 1) / (2.0 * self.sigma)) ** 2
        table = np.exp(-exponent)
        return Smoothing(table, 2.0 * exponent * table, self.weights)

    def squared_norms(self, X: EncodedSequences) -> Float:
        values = np.empty(len(X))
        ignored = np.zeros_like(self.weights)
        contract_diagonal(
            X.occurrences(self.k), self.smoothing(X.width), np.zeros(len(X)), ignored, values
        )
        return values

    def scale(self, X: EncodedSequences) -> Float:
        """1/√k(x, x), and 0 where x has no K-mer; all ones without normalisation."""
        if not self.normalised:
            return np.ones(len(X))
        norms = self.squared_norms(X)
        return np.divide(1.0, np.sqrt(norms), out=np.zeros(len(X)), where=norms > 0.0)

    def diagonal(self, X: EncodedSequences) -> Float:
        norms = self.squared_norms(X)
        return self.amplitude * (np.sign(norms) if self.normalised else norms)

    def between(self, A: EncodedSequences, B: EncodedSequences) -> Block:
        row_scale = self.scale(A)
        return Block(
            A.occurrences(self.k),
            B.index(self.k),
            self.smoothing(max(A.width, B.width)),
            self.amplitude * row_scale,
            row_scale if B is A else self.scale(B),
        )

    def gradient(self, A: EncodedSequences, B: EncodedSequences, W: Float) -> TermGradient:
        """Σ W_ij ∂/∂(log amplitude, log σ, log λ) of the term.

        With k̄ = k/√(a b) for a = k(x, x) and b = k(x', x')

            ∂k̄_ij = ∂k_ij/√(a_i b_j) − ½ k̄_ij (∂a_i/a_i + ∂b_j/b_j),

        so the row and column sums of W∘k̄ are contracted with the diagonals.
        """
        block = self.between(A, B)
        by_weight = np.zeros_like(self.weights)
        row_sums, column_sums = np.zeros(len(A)), np.zeros(len(B))
        sums = (by_weight, row_sums, column_sums)
        by_sigma = block.contract_triangle(W, *sums) if A is B else block.contract(W, *sums)
        value = row_sums.sum()
        if self.normalised:
            for X, total in ((A, row_sums), (B, column_sums)):
                factor = -0.5 * total * self.scale(X) ** 2
                by_sigma += self._contract_norms(X, factor, by_weight)
        return TermGradient(value, by_sigma, by_weight)

    def diagonal_gradient(self, X: EncodedSequences, w: Float) -> TermGradient:
        """Σ w_i ∂/∂(log amplitude, log σ, log λ) of the diagonal of the term."""
        by_weight = np.zeros_like(self.weights)
        value = float(w @ self.diagonal(X))
        by_sigma = 0.0
        if not self.normalised:
            by_sigma = self._contract_norms(X, self.amplitude * w, by_weight)
        return TermGradient(value, by_sigma, by_weight)

    def _contract_norms(self, X: EncodedSequences, factor: Float, by_weight: Float) -> float:
        norms = np.empty(len(X))
        by_sigma: float = contract_diagonal(
            X.occurrences(self.k), self.smoothing(X.width), factor, by_weight, norms
        )
        return by_sigma


class TermGradient(NamedTuple):
    """Contracted derivatives in log amplitude, log σ and the logarithms of the weights."""

    amplitude: float
    sigma: float
    weights: Float


class Block(NamedTuple):
    """A term between two lists of sequences, prepared for the computation of rows."""

    left: Occurrences
    right: Index
    smoothing: Smoothing
    row_scale: Float
    column_scale: Float

    def add_rows(self, rows: Array, out: Array) -> None:
        add_gram_rows(rows, *self, out)

    def contract(
        self, W: Float, by_weight: Float, row_sums: Float, column_sums: Float, start: int = 0
    ) -> float:
        """Rows `start`, `start` + 1, … contracted with those of W."""
        rows = np.arange(start, start + len(W))
        W = np.ascontiguousarray(W)
        by_sigma: float = contract_gram(rows, *self, W, by_weight, row_sums, column_sums)
        return by_sigma

    def contract_triangle(
        self, W: Float, by_weight: Float, row_sums: Float, column_sums: Float
    ) -> float:
        """As `contract`, for a symmetric block: only entries on and right of the diagonal."""
        n, height = len(W), 128  # rows at a time
        by_sigma = 0.0
        for start in range(0, n, height):
            stop = min(start + height, n)
            folded = np.array(W[start:stop, start:], order="C")
            folded[:, stop - start :] += W[stop:, start:stop].T
            by_sigma += self.restricted(np.arange(start, n)).contract(
                folded, by_weight, row_sums[start:stop], column_sums[start:], start
            )
        return by_sigma

    def restricted(self, columns: Array) -> Block:
        right = restricted(self.right, columns, len(self.column_scale))
        return self._replace(right=right, column_scale=self.column_scale[columns])
