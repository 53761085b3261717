"""Kernel ridge regression by the eigenvalues of W^½KW^½, down to λ = 0 (generalised inverse).

With W^½KW^½ = VSVᵀ and M = W^½V(S + λ)⁻¹VᵀW^½ the coefficients are β = M(t − b). As λ → 0 the
directions with s = 0 decide the bias, if they contain it at all:

    b = 1ᵀNt / 1ᵀN1,  N = W^½V₀V₀ᵀW^½;   else   b = 1ᵀM₊t / 1ᵀM₊1

and f = Kβ with β = M₊(t − b) is the function of least norm among those with least error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from .system import Float, RidgeSystem


class Rules(NamedTuple):
    """Which eigenvalues and directions are rounding."""

    # Eigenvalues below n times this fraction of the largest are rounding.
    rounding: float = 4.0 * float(np.finfo(np.float64).eps)
    # Without penalty, those below this part of the largest count as 0: their inverses would
    # multiply the rounding of the targets by more.
    cut: float = 1e-10
    # The bias lies outside the null space where less than this part of it is inside.
    inside: float = 1e-10


RULES = Rules()


class Spectrum(NamedTuple):
    """Coefficients and bias of each target, and whether the matrix is positive semi-definite."""

    coef: Float
    intercept: Float
    semidefinite: bool


def solve_by_spectrum(system: RidgeSystem, matrix: Float) -> Spectrum:
    """Solve with the whole matrix K, which it overwrites."""
    root = np.sqrt(system.weight)
    matrix *= root
    matrix *= root[:, None]
    values, V = eigh(matrix, overwrite_a=True, check_finite=False)
    largest = float(np.abs(values).max(initial=0.0))
    cut = (RULES.rounding * len(values) if system.penalty > 0 else RULES.cut) * largest
    kept = np.abs(values) > cut
    semidefinite = bool(values[0] >= -cut)
    if system.penalty > 0:
        inverse = 1.0 / (np.where(kept, values, 0.0) + system.penalty)
    else:
        inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    right = V.T @ (root[:, None] * system.targets)
    ones = V.T @ root
    bias = np.zeros(right.shape[1])
    if system.intercept:
        share = inverse
        if system.penalty == 0 and ones[~kept] @ ones[~kept] > RULES.inside * (ones @ ones):
            share = (~kept).astype(np.float64)
        bias = (ones * share) @ right / ((ones * share) @ ones)
    coef = root[:, None] * (V @ (inverse[:, None] * (right - np.outer(ones, bias))))
    return Spectrum(coef, bias, semidefinite)
