"""Log-likelihood of held-out samples with the one-parameter sigmoid (9.2.2, 9.3.5).

With the margins m_i = y_i f(x_i) of the held-out samples and σ_s(t) = 1/(1 + exp(st)), r = −s ≥ 0,

    L = max_r −Σ_i log(1 + exp(−r m_i)),     ∂L/∂f(x_i) = y_i r / (1 + exp(r m_i))

at the maximum. If all margins are positive, L = 0 is approached as r → ∞ and the derivative
vanishes. If their sum is not positive, the best slope is r = 0: an output that points the wrong way
carries no information. (The thesis leaves the sign of s open; s > 0 would reward a machine for
being wrong on the current split.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs
from ...runtime.jit import compiled
from ..base import Evaluation, Float
from .holdout import SplitObjective
from .splits import Int, RandomSplits, Splits


@compiled
def log_likelihood(margins: Float, weight: Float, slope: Float) -> tuple[float, float]:
    """(L, r) for weighted margins, and ∂L/∂m_i into `slope`."""
    n = margins.size
    total, least, largest, samples = 0.0, np.inf, 0.0, 0.0
    for i in range(n):
        total += weight[i] * margins[i]
        samples += weight[i]
        least = min(least, margins[i])
        largest = max(largest, abs(margins[i]))
    for i in range(n):
        slope[i] = 0.0
    if total <= 0.0:
        return -samples * np.log(2.0), 0.0
    if least > 0.0:
        return 0.0, np.inf
    # L is concave in r and its maximum lies between `low` and `high`: Newton, else bisection.
    low, high, r = 0.0, np.inf, 1.0 / largest
    for _ in range(200):
        first, second = 0.0, 0.0
        for i in range(n):
            p = 1.0 / (1.0 + np.exp(r * margins[i]))
            first += weight[i] * margins[i] * p
            second += weight[i] * margins[i] * margins[i] * p * (1.0 - p)
        if first > 0.0:
            low = r
        else:
            high = r
        step = r + first / second if second > 0.0 else np.inf
        if not low < step < high:
            step = 2.0 * r if np.isinf(high) else 0.5 * (low + high)
        if abs(step - r) <= 1e-14 * r:
            break
        r = step
    value = 0.0
    for i in range(n):
        x = -r * margins[i]
        value -= weight[i] * (max(x, 0.0) + np.log1p(np.exp(-abs(x))))
    for i in range(n):
        slope[i] = weight[i] * r / (1.0 + np.exp(r * margins[i]))
    return value, r


class LogLikelihood(SplitObjective):
    """Log-likelihood of the held-out samples under σ_s(f(x)), s fitted to them (9.2.2)::

        L = max_s Σ_{y_i=+1} log σ_s(f(x_i)) + Σ_{y_i=−1} log(1 − σ_s(f(x_i)))

    It is to be maximised. By default every evaluation draws a new split; with several fixed splits
    the value is the mean over them.

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    splits : Splits, optional
    fraction : float
        Fraction of the samples to train on, if `splits` is not given.
    random_state : int, optional
        Of the random splits.
    penalty : float array, optional
        Factor on the C of each sample; 1 by default.
    importance : float array, optional
        Weight of each sample in the likelihood; 1 by default.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import LogLikelihood, Point
    >>> objective = LogLikelihood(*chess_board(200, random_state=0), random_state=1)
    >>> value, gradient = objective.evaluate(Point(Gaussian(2.0), C=10.0))
    """

    maximise = True

    def __init__(
        self,
        X: Inputs,
        y: ArrayLike,
        splits: Splits | None = None,
        *,
        fraction: float = 0.8,
        random_state: int | None = None,
        penalty: Float | None = None,
        importance: Float | None = None,
    ) -> None:
        if splits is None:
            splits = RandomSplits(np.asarray(y, dtype=np.float64), fraction, random_state)
        super().__init__(X, y, splits, penalty)
        self.importance = np.ones(self.n) if importance is None else importance

    def _judged(self, outputs: Float, labels: Float, test: Int) -> Evaluation:
        slope = np.empty(labels.size)
        value, _ = log_likelihood(labels * outputs, self.importance[test], slope)
        return Evaluation(value, labels * slope)
