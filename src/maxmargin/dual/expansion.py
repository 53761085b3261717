"""Kα for every sample: in float64, or as sharply as a certificate needs it.

A certificate depends on the value of Kα at support vectors and near the margin. Of samples at a
bound that are held there by more than rounding, it needs only to know that they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..kernels.base import Gram
from .problem import DualProblem, Float, Int

# A block of at most this many rows and columns of the Gram matrix is held at a time: 64 MB.
BLOCK_ROWS, BLOCK_COLUMNS = 2048, 4096
# Rounding is taken to be this many times the largest error seen.
SAFETY = 4.0

Pause = Callable[[], object]


def kernel_expansion(
    coef: Float, gram: Gram, pause: Pause | None = None, samples: Int | None = None
) -> Float:
    """Kα for every sample or for those given, from the rows of the samples with a coefficient,
    block by block.

    `pause` is called after each block and may raise.
    """
    if gram.dtype != np.float64:
        raise ValueError(f"gram must be bound in float64, got {gram.dtype}")
    if coef.shape != (gram.n,):
        raise ValueError(
            f"coef must have one entry for each of the {gram.n} samples, got shape {coef.shape}"
        )
    return _expansion(coef, gram, pause, np.arange(gram.n) if samples is None else samples)


def sharp_expansion(
    problem: DualProblem, alpha: Float, gram: Gram, exact: Gram, pause: Pause | None = None
) -> Float:
    """Kα for every sample, from `gram` in float32 and, wherever more than a sign depends on it,
    from `exact` in float64."""
    coef = problem.per_sample(alpha)
    if _has_constraints(problem):
        return kernel_expansion(coef, exact, pause)
    rough = _expansion(coef, gram, pause, np.arange(gram.n))
    sharp = rough.copy()
    known = np.zeros(gram.n, dtype=bool)
    wanted = coef != 0
    while wanted.any():
        sharp[wanted] = kernel_expansion(coef, exact, pause, np.flatnonzero(wanted))
        known |= wanted
        seen = float(np.abs(sharp - rough)[known].max())
        error = max(SAFETY * seen, gram.rounding * float(np.linalg.norm(coef)))
        wanted = ~known & ~_decided(problem, alpha, sharp, error)
    return sharp


def _expansion(coef: Float, gram: Gram, pause: Pause | None, samples: Int) -> Float:
    support = np.flatnonzero(coef)
    weights = coef.astype(gram.dtype)
    result = np.zeros(samples.size)
    for left in range(0, samples.size, BLOCK_COLUMNS):
        part = slice(left, left + BLOCK_COLUMNS)
        columns = samples[part] if samples[part].size < gram.n else None
        for top in range(0, support.size, BLOCK_ROWS):
            rows = support[top : top + BLOCK_ROWS]
            result[part] += weights[rows] @ gram.rows(rows, columns)
            if pause is not None:
                pause()
    return result


def _has_constraints(problem: DualProblem) -> bool:
    """Whether a loss is a constraint, which the whole function is scaled to meet."""
    endless = np.isinf(problem.upper) | np.isinf(problem.lower)
    return bool((endless & (problem.ridge == 0)).any())


def _decided(
    problem: DualProblem, alpha: Float, kernel_alpha: Float, error: float
) -> NDArray[np.bool_]:
    """Samples all of whose variables are held at their bounds by more than the error."""
    gradient = problem.gradient(alpha, kernel_alpha)
    pull = gradient - problem.bias(alpha, gradient)[problem.group]
    below = ~problem.can_fall(alpha) & (pull < -error)
    above = ~problem.can_rise(alpha) & (pull > error)
    held = (below | above).reshape(problem.copies, problem.samples)
    return np.asarray(held.all(axis=0))
