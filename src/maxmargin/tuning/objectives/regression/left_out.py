"""Leave-one-out loss of a regression, by refits and by spans, each with its exact gradient.

Without sample n the machine f becomes f^n̂. The loss is that of the residual r_n = y_n − f^n̂(x_n):

    Φ = (1/N) Σ_n ℓ(r_n),    ℓ(r) = r² or |r|

Leaving out a sample inside the tube that does not fix the bias changes nothing: r_n = y_n − f(x_n).
For the others f^n̂ is trained (`LeaveOneOutLoss`), starting from f with one variable fixed at zero.
If the sets of free and bounded vectors do not change, the span S_n of section 9.1.5 gives the
residual without training (`RegressionSpanBound`)::

    r_n = y_n − f(x_n) + β_n S_n²

The sum of the absolute values is the bound of Chang and Lin (2005), with the residuals of samples
inside the tube unchanged.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....kernels.base import Inputs, count
from ...base import Evaluation, Float, Objective, TubePoint
from ...machines.optimum import Int
from ...machines.tube import TubeFit, doubled, left_out_tube_fit, tube_fit
from ..adjoint import Derivative, Saddle, bounded_part, saddle_of, sensitivities
from ..samples import as_inputs, checked_start
from ..span import RIDGE, FreeSpans, NoFreeSpans
from .held_out import checked_regression, judged


class TubeDerivative(Derivative):
    """The derivative of an objective, including that in ε."""

    def __init__(self, samples: int) -> None:
        super().__init__(samples)
        self.epsilon = 0.0

    def add_tube_outputs(
        self,
        found: TubeFit,
        K: Float,
        slope: Float,
        saddle: Saddle | None,
        free_slope: Float | float = 0.0,
    ) -> None:
        """Add the contribution of a machine's outputs on all samples and of its free β.

        λ = slope − c weighs the equations y_u − s_u ε of the free vectors.
        """
        coefficients, log_C = sensitivities(found.fit, K, slope, saddle, free_slope)
        rows, columns = np.flatnonzero(coefficients), np.flatnonzero(found.fit.alpha)
        self.weights[rows[:, None], columns] += np.outer(
            coefficients[rows], found.fit.alpha[columns]
        )
        self.log_C += log_C
        self.epsilon -= float((slope - coefficients) @ found.sides)

    def at(self, point: TubePoint, X: Inputs) -> Float:
        """The gradient in the coordinates of a point."""
        slope = point.kernel.gradient(X, None, self.weights)
        return point.gradient(slope, self.log_C, point.epsilon * self.epsilon)


def residuals(machine: TubeFit) -> Float:
    """y − f of all samples."""
    return np.asarray(machine.fit.gradient - machine.fit.bias)


class LeftOut(Objective[TubePoint]):
    """Mean loss of samples left out one by one.

    Parameters
    ----------
    X : inputs
    y : float array
    loss : {"squared", "absolute"}
    """

    def __init__(self, X: Inputs, y: ArrayLike, loss: str = "squared") -> None:
        self.X: Any = as_inputs(X)
        self.n = count(X)
        self.y = checked_regression(self.n, y, loss)
        if self.n < 2:
            raise ValueError(f"leaving one out needs at least two samples, got {self.n}")
        self.loss = loss
        self._start: Float | None = None

    def state(self) -> dict[str, Any]:
        return {"start": self._start}

    def restore(self, state: dict[str, Any]) -> None:
        self._start = checked_start(state["start"], self.n)

    def evaluate(self, point: TubePoint) -> Evaluation:
        K = point.kernel(self.X)
        bad = Evaluation(np.nan, np.full(len(point.names), np.nan))
        if not np.isfinite(K).all():
            return bad
        found = tube_fit(K, self.y, point.C, point.epsilon, self._start)
        if not found.fit.bounded:
            return bad
        self._start = found.fit.alpha
        derivative = TubeDerivative(self.n)
        value = self._summed(K, found, point, derivative)
        return Evaluation(value / self.n, derivative.at(point, self.X) / self.n)

    @abstractmethod
    def _summed(
        self, K: Float, found: TubeFit, point: TubePoint, derivative: TubeDerivative
    ) -> float:
        """Σ ℓ(r_n), with its derivative added to the gradient."""


class LeaveOneOutLoss(LeftOut):
    """Mean loss of each sample under the ε-insensitive machine trained on all others.

    Parameters
    ----------
    X : inputs
    y : float array
    loss : {"squared", "absolute"}

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import LeaveOneOutLoss, TubePoint
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> objective = LeaveOneOutLoss(X, np.sin(X[:, 0]))
    >>> value, gradient = objective.evaluate(TubePoint(Gaussian(0.5), C=10.0, epsilon=0.01))
    >>> bool(value < 1e-3), gradient.shape
    (True, (3,))
    """

    def _summed(
        self, K: Float, found: TubeFit, point: TubePoint, derivative: TubeDerivative
    ) -> float:
        matters = found.fit.alpha != 0
        if not found.fit.free.size:
            matters[list(found.fit.meeting)] = True
        value = self._add(K, found, np.flatnonzero(~matters), derivative)
        Q = doubled(K)
        for n in np.flatnonzero(matters):
            own = left_out_tube_fit(Q, self.y, point.C, point.epsilon, found.fit.alpha, int(n))
            value += self._add(K, own, np.array([n]), derivative)
        return value

    def _add(self, K: Float, machine: TubeFit, judged_at: Int, derivative: TubeDerivative) -> float:
        """The loss of some samples under a machine, with its derivative added to the gradient."""
        value, push = judged(-residuals(machine)[judged_at], self.loss)
        slope = np.zeros(self.n)
        slope[judged_at] = push
        derivative.add_tube_outputs(machine, K, slope, saddle_of(machine.fit, K))
        return value


class RegressionSpanBound(LeftOut):
    """Mean loss of each sample under the machine without it, estimated by spans::

        (1/N) Σ_n ℓ(y_n − f(x_n) + β_n S_n²)

    One machine is trained. The value equals that of `LeaveOneOutLoss` if no sample enters or leaves
    the sets of free and bounded vectors when another is left out.

    Parameters
    ----------
    X : inputs
    y : float array
    loss : {"squared", "absolute"}

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import RegressionSpanBound, TubePoint
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> objective = RegressionSpanBound(X, np.sin(X[:, 0]))
    >>> bool(objective.value(TubePoint(Gaussian(0.5), C=10.0, epsilon=0.01)) < 1e-2)
    True

    References
    ----------
    Chang and Lin, *Leave-one-out bounds for support vector regression model selection*, 2005.
    """

    def _summed(
        self, K: Float, found: TubeFit, point: TubePoint, derivative: TubeDerivative
    ) -> float:
        del point
        fit, beta = found.fit, found.fit.alpha
        saddle = saddle_of(fit, K, RIDGE)
        spans = FreeSpans(K, fit, saddle) if saddle else NoFreeSpans(K, fit)
        bounded: Int = np.flatnonzero(bounded_part(fit))
        of_free, of_bounded = spans.of_free(), spans.of(bounded)
        left_out = residuals(found)
        left_out[fit.free] += beta[fit.free] * of_free
        left_out[bounded] += beta[bounded] * of_bounded
        value, push = judged(left_out, self.loss)
        spans.add_free(derivative, push[fit.free] * beta[fit.free])
        spans.add(derivative, bounded, push[bounded] * beta[bounded])
        derivative.log_C += float(np.sum(push[bounded] * beta[bounded] * of_bounded))
        derivative.add_tube_outputs(found, K, -push, saddle, push[fit.free] * of_free)
        return value
