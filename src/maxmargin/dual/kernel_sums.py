"""Kα for every sample: in float64, or with the accuracy that a certificate needs.

A certificate depends on the value of Kα at support vectors and near the margin. For samples whose
gradient keeps them at a bound by more than rounding, only that fact matters.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dnrm2

from ..kernels.base import Gram
from ..kernels.row_sums import add_rows
from ..runtime.buffers import buffer
from ..runtime.costs import FEW_FEATURES, FEW_FEATURES_SHARE, ONE_BLOCK, WORTH_A_THREAD
from ..runtime.parallel import in_parts
from .problem import DualProblem, Float, Int


class Sizes(NamedTuple):
    """Blocks of the Gram matrix in memory, and how their work is divided."""

    # Largest number of rows and columns of a block: 32 MB, or, for inputs with few features, what
    # stays in the cache, as reading values then takes as long as computing them.
    block: tuple[int, int] = (1024, 4096)
    cached_block: tuple[int, int] = (512, 1024)
    # Rows and columns of a block that is used twice by symmetry; fewer for inputs with few features
    # if the work is not divided among threads, so that the block stays in the cache.
    side: int = 512
    cached_side: int = 256
    # Largest number of parts of the pairs of blocks; each part has its own sums.
    most_sums: int = 64


SIZES = Sizes()

Pause = Callable[[], object]


def kernel_expansion(
    coef: Float, gram: Gram, pause: Pause | None = None, samples: Int | None = None
) -> Float:
    """Kα for every sample or for those given, from the rows of the samples with a coefficient,
    block by block.

    Parameters
    ----------
    coef : float array
        One coefficient for each sample.
    gram : Gram
        In float64.
    pause : callable, optional
        Called after each block; it may raise.
    samples : int array, optional
        At which samples; at all by default.

    Returns
    -------
    float array

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import kernel_expansion
    >>> from maxmargin.kernels import Linear
    >>> gram = Linear().bind(np.array([[-1.0], [1.0], [3.0]]), np.float64)
    >>> kernel_expansion(np.array([-0.5, 0.5, 0.0]), gram)
    array([-1.,  1.,  3.])
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
    """Kα for every sample, from `gram` in float32 and, where more than a sign depends on it, from
    `exact` in float64.

    Parameters
    ----------
    problem : DualProblem
    alpha : float array
    gram, exact : Gram
        Of the same inputs, in float32 and float64.
    pause : callable, optional
        Called after each block; it may raise.

    Returns
    -------
    float array

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge, sharp_expansion
    >>> from maxmargin.kernels import Linear
    >>> X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([-1, 1, 1])
    >>> gram, exact = (Linear().bind(X, kind) for kind in (np.float32, np.float64))
    >>> sharp_expansion(hinge(y, C=1.0).problem, np.array([-0.5, 0.5, 0.0]), gram, exact)
    array([-1.,  1.,  3.])
    """
    coef = problem.per_sample(alpha)
    if problem.constrained:
        return kernel_expansion(coef, exact, pause)
    support = np.flatnonzero(coef)
    probed = support[:: max(1, support.size // 1000)]
    asked = coef == 0
    asked[probed] = True
    approximate = np.full(gram.n, np.nan)
    approximate[asked] = _expansion(coef, gram, pause, np.flatnonzero(asked))
    sharp = approximate.copy()
    sharp[support] = _expansion_at_support(coef, exact, pause)
    known = coef != 0
    # Kernel values of 1e-300 have coefficients whose squares overflow; not in this norm.
    length = float(dnrm2(coef))
    while True:
        seen = float(np.nanmax(np.abs(sharp - approximate)[known], initial=0.0))
        # The largest error of the probed ones, with a margin for the others.
        error = max(4.0 * seen, gram.rounding * length)
        wanted = np.flatnonzero(~known & ~_decided(problem, alpha, sharp, error))
        if not wanted.size:
            return sharp
        sharp[wanted] = kernel_expansion(coef, exact, pause, wanted)
        known[wanted] = True


def _expansion(coef: Float, gram: Gram, pause: Pause | None, samples: Int) -> Float:
    """Kα, of which only the change since the known sums of `gram` is computed."""
    known = gram.summed
    if known is not None:
        change = coef - known.coef
        if np.count_nonzero(change) < np.count_nonzero(coef):
            return known.values[samples] + _sums(change, gram, pause, samples)
    return _sums(coef, gram, pause, samples)


def _sums(coef: Float, gram: Gram, pause: Pause | None, samples: Int) -> Float:
    support, total = np.flatnonzero(coef), np.zeros(gram.n)
    if gram.whole is not None:
        add_rows(total, gram.whole, support, coef[support])
        return total if samples.size == gram.n else total[samples]
    if gram.stored_rows is not None:
        present = gram.stored_rows.slot[support] >= 0
        total = gram.stored_rows.sums(support[present], coef[support[present]])
        support = support[~present]
    result = total[samples]
    if not support.size:
        return result
    weights, (height, width) = coef.astype(gram.dtype), _block(gram)
    for left in range(0, samples.size, width):
        part = slice(left, left + width)
        columns = samples[part] if samples[part].size < gram.n else None
        for top in range(0, support.size, height):
            rows = support[top : top + height]
            result[part] += weights[rows] @ gram.rows(rows, columns)
            if pause is not None:
                pause()
    return result


def _expansion_at_support(coef: Float, gram: Gram, pause: Pause | None) -> Float:
    """Kα at the samples with a coefficient; each block is used twice by symmetry."""
    support = np.flatnonzero(coef)
    weights = coef[support]
    if support.size <= ONE_BLOCK:
        return np.asarray(gram.matrix_among(support, pause) @ weights)
    gram, places = gram.among(support), np.arange(support.size)
    work, side = support.size**2, SIZES.side
    if _has_few_features(gram):
        work //= FEW_FEATURES_SHARE
        side = SIZES.side if work >= WORTH_A_THREAD else SIZES.cached_side
    blocks = [places[top : top + side] for top in range(0, support.size, side)]
    # The prepared columns of a block are used by all pairs with these columns.
    pairs = [(upper, lower) for k, lower in enumerate(blocks) for upper in blocks[: k + 1]]
    results = []

    def some_pairs(start: int, stop: int) -> None:
        result, memory = np.zeros(support.size), buffer((side * side,), gram.dtype)
        results.append((start, result))
        for upper, lower in pairs[start:stop]:
            shape = upper.size, lower.size
            values = gram.rows(upper, lower, memory[: upper.size * lower.size].reshape(shape))
            result[lower] += weights[upper] @ values
            if lower is not upper:
                result[upper] += values @ weights[lower]
            if pause is not None:
                pause()

    in_parts(some_pairs, len(pairs), min(work, SIZES.most_sums * WORTH_A_THREAD // 2), grain=1)
    total: Float = np.sum([result for _, result in sorted(results, key=itemgetter(0))], axis=0)
    return total


def _block(gram: Gram) -> tuple[int, int]:
    return SIZES.cached_block if _has_few_features(gram) else SIZES.block


def _has_few_features(gram: Gram) -> bool:
    return getattr(gram.X, "ndim", 1) == 2 and gram.X.shape[1] < FEW_FEATURES


def _decided(
    problem: DualProblem, alpha: Float, kernel_alpha: Float, error: float
) -> NDArray[np.bool_]:
    """Mask of the samples whose gradients keep all variables at their bounds by more than the
    error."""
    gradient = problem.gradient(alpha, kernel_alpha)
    pull = gradient - problem.bias(alpha, gradient)[problem.group]
    below = ~problem.can_fall(alpha) & (pull < -error)
    above = ~problem.can_rise(alpha) & (pull > error)
    decided = (below | above).reshape(problem.copies, problem.samples)
    return np.asarray(decided.all(axis=0))
