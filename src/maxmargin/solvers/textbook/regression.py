"""Kernel regression by gradient steps (lecture 004), with and without a penalty λ.

    β ← β + η(t − Kβ − λβ)                       full gradient, stable for η < 2/(λ_max + λ)
    β_i ← β_i + η(t_i − (Kβ)_i − λβ_i)           single samples, for η < 2/(max K_ii + λ)

The limit is (K + λ)⁻¹t: kernel ridge regression without a bias. The full gradient converges like
max(|1 − η(λ_min + λ)|, |1 − η(λ_max + λ)|)ᵏ, which may never converge for λ = 0 and singular K.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dual.problem import Float
from .record import CountedMatrix


class GradientTrace(NamedTuple):
    """After every step (or epoch): the error ½‖t − Kβ‖² + ½λβᵀKβ and the largest residual."""

    objective: Float
    residual: Float


class GradientSolution(NamedTuple):
    """β, and how the run ended: "converged" if the residual is within tol."""

    coef: Float
    status: str
    steps: int
    trace: GradientTrace


def largest_rate(K: Any, penalty: float = 0.0, single: bool = False) -> float:
    """The η below which steps converge, for the full gradient or for single samples.

    Parameters
    ----------
    K : array of shape (samples, samples)
    penalty : float
        λ
    single : bool

    Returns
    -------
    float

    Examples
    --------
    >>> from maxmargin.solvers.textbook import largest_rate
    >>> largest_rate([[3.0, 0.0], [0.0, 1.0]], penalty=1.0)
    0.5
    """
    matrix = CountedMatrix(K).matrix
    top = float(matrix.diagonal().max()) if single else float(np.linalg.eigvalsh(matrix)[-1])
    return 2.0 / (top + penalty)


def kernel_regression(
    K: Any,
    t: Any,
    *,
    rate: float | None = None,
    penalty: float = 0.0,
    single: bool = False,
    tol: float = 1e-6,
    max_steps: int = 10_000,
    random_state: int = 0,
) -> GradientSolution:
    """Gradient steps until max|t − Kβ − λβ| ≤ tol.

    Parameters
    ----------
    K : array of shape (samples, samples)
    t : array of shape (samples,)
    rate : float, optional
        η, in (0, largest_rate); half of `largest_rate` by default.
    penalty : float
        λ
    single : bool
        Update sample by sample, in random permutations; a step is then an epoch.
    tol : float
    max_steps : int
    random_state : int

    Returns
    -------
    GradientSolution

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.textbook import kernel_regression
    >>> kernel_regression(np.eye(2), [1.0, 3.0], penalty=1.0).coef.round(4)
    array([0.5, 1.5])
    """
    matrix, targets = CountedMatrix(K).matrix, np.asarray(t, dtype=np.float64)
    if targets.shape != matrix.shape[:1]:
        raise ValueError(f"t must have {len(matrix)} entries, got shape {targets.shape}")
    if not penalty >= 0:
        raise ValueError(f"penalty must not be negative, got {penalty}")
    limit = largest_rate(matrix, penalty, single)
    rate = 0.5 * limit if rate is None else float(rate)
    if not 0 < rate < limit:
        raise ValueError(f"rate must be in (0, {limit:g}), beyond which steps diverge, got {rate}")
    random, coef, rows = np.random.default_rng(random_state), np.zeros(len(matrix)), []
    status, steps = "step_limit", 0
    while steps < max_steps:
        left = targets - matrix @ coef - penalty * coef
        if np.abs(left).max(initial=0.0) <= tol:
            status = "converged"
            break
        steps += 1
        if single:
            for i in random.permutation(len(coef)):
                coef[i] += rate * (targets[i] - matrix[i] @ coef - penalty * coef[i])
        else:
            coef = coef + rate * left
        error = targets - matrix @ coef
        value = 0.5 * error @ error + 0.5 * penalty * coef @ matrix @ coef
        rows.append((float(value), float(np.abs(error - penalty * coef).max())))
    trace = GradientTrace(*np.array(rows).reshape(-1, 2).T)
    return GradientSolution(coef, status, steps, trace)
