"""The intercept at the end of a fit, if the optimum does not determine it.

With kinks in the loss and no sample on one of them, all b of an interval are optimal. Its middle
is taken, so that the answer does not depend on how it was reached.
"""

from __future__ import annotations

import numpy as np

from ..losses import Float, Loss
from ..records import LinearProblem


def settled_intercept(problem: LinearProblem, w: Float, b: float, beta: Float) -> float:
    """b, or the middle of the interval in which Σ ℓ_i(x_i·w + b) does not change."""
    loss, intercept = problem.loss, problem.intercept
    if loss.smooth or not intercept.fitted or intercept.penalty > 0.0:
        return b
    if ((beta > loss.lower) & (beta < loss.upper) & (beta != 0.0)).any():
        return b
    low, high = flat_around(loss, problem.matrix.margins(w), b)
    if not low <= b <= high:
        return b
    if np.isinf(low) or np.isinf(high):
        return b if np.isinf(low) and np.isinf(high) else (low if np.isfinite(low) else high)
    return 0.5 * (low + high)


def flat_around(loss: Loss, z: Float, b: float) -> tuple[float, float]:
    """The nearest kinks of b ↦ Σ ℓ_i(z_i + b) on both sides of b; b itself if it is on one, up to
    1e-9 of the size of outputs and targets."""
    kinks = np.concatenate([loss.target - loss.epsilon - z, loss.target + loss.epsilon - z])
    scale = max(1.0, float(np.abs(kinks).max(initial=0.0)))
    if (np.abs(kinks - b) <= 1e-9 * scale).any():
        return b, b
    return (
        float(kinks[kinks < b].max(initial=-np.inf)),
        float(kinks[kinks > b].min(initial=np.inf)),
    )
