"""Leave-one-out error and the number of support vectors that bounds it (9.1.2, 9.1.3)."""

from __future__ import annotations

import numpy as np

from ..base import Evaluation, Objective, Point
from ..machines.optimum import hinge_fit, left_out_fit
from .samples import Samples


class LeaveOneOutError(Samples, Objective[Point]):
    """Fraction of the samples that a machine trained on all others gets wrong (9.1.2).

    Leaving out a sample that is not a support vector changes nothing, and a sample that the full
    machine misclassifies is also misclassified without it: neither needs a refit. The other fits
    start from the full machine with one variable fixed at zero and the sum restored.

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import LeaveOneOutError, Point
    >>> objective = LeaveOneOutError(*chess_board(100, random_state=0))
    >>> objective.value(Point(Gaussian(2.0), C=100.0))
    0.13
    """

    differentiable = False

    def evaluate(self, point: Point) -> Evaluation:
        K = point.kernel(self.X)
        if not np.isfinite(K).all():
            return Evaluation(np.nan)
        fit = hinge_fit(K, self.y, point.C)
        if not fit.bounded:
            return Evaluation(np.nan)
        outputs = self.y - fit.gradient + fit.bias
        wrong = np.where(outputs > 0, 1.0, -1.0) != self.y
        errors = int(wrong.sum())
        for i in np.flatnonzero((fit.alpha != 0) & ~wrong):
            without = left_out_fit(K, self.y, point.C, fit.alpha, int(i))
            output = self.y[i] - without.gradient[i] + without.bias
            errors += (output > 0) != (self.y[i] > 0)
        return Evaluation(float(errors / self.n))


class SupportVectorCount(Samples, Objective[Point]):
    """Fraction of the samples that are support vectors, an upper bound on the leave-one-out error
    (9.1.3).

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Point, SupportVectorCount
    >>> objective = SupportVectorCount(*chess_board(100, random_state=0))
    >>> objective.value(Point(Gaussian(2.0), C=100.0))
    0.39
    """

    differentiable = False

    def evaluate(self, point: Point) -> Evaluation:
        K = point.kernel(self.X)
        if not np.isfinite(K).all():
            return Evaluation(np.nan)
        fit = hinge_fit(K, self.y, point.C)
        return Evaluation(float(np.mean(fit.alpha != 0)) if fit.bounded else np.nan)
