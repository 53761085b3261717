"""The radius–margin quotient R²/ρ² of hard-margin and squared-hinge machines (9.1.4, 9.3.2).

    1/ρ² = ‖w‖² = y·α        α the solution of the hard-margin machine on Q
    R²   = β·diag Q − βᵀQβ    β the centre of the smallest ball around the images
    ∂‖w‖² = −αᵀ∂Qα,    ∂R² = β·∂diag Q − βᵀ∂Qβ

With the squared hinge loss Σ C ξ² the machine has a hard margin on Q = K + 1/(2C), so C acts as a
kernel parameter. (Section 9.3.2 prints ∂‖w‖² without its minus sign; the proof of Theorem 9.3 has
it.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs, take
from ...runtime.parallel import single_threaded_blas
from ..base import Evaluation, Float, Objective, Point
from ..machines.optimum import optimum
from .samples import Samples, checked_start


class RadiusMargin(Samples, Objective[Point]):
    """The radius–margin quotient, to be minimised::

        R²/ρ²,   ρ = 1/‖w‖ the margin, R the radius of the smallest ball around all samples

    Without C, ``Point(kernel, C=inf, fixed=True)``, it is that of the hard-margin machine; if no
    function separates the classes, the value is not finite.

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> from maxmargin.tuning import Point, RadiusMargin
    >>> objective = RadiusMargin(np.array([[-1.0], [1.0], [3.0]]), [-1, 1, 1])
    >>> round(objective.value(Point(Linear(), C=np.inf, fixed=True)), 6)
    4.0
    """

    def __init__(self, X: Inputs, y: ArrayLike) -> None:
        super().__init__(X, y)
        self._alpha: Float | None = None
        self._beta: Float | None = None

    def value(self, point: Point) -> float:
        """The value alone."""
        with single_threaded_blas():
            solved = self._solved(point)
        return np.nan if solved is None else solved.radius * solved.weight

    def evaluate(self, point: Point) -> Evaluation:
        with single_threaded_blas():
            return self._evaluated(point)

    def state(self) -> dict[str, Any]:
        return {"alpha": self._alpha, "beta": self._beta}

    def restore(self, state: dict[str, Any]) -> None:
        self._alpha, self._beta = (checked_start(state[k], self.n) for k in ("alpha", "beta"))

    def _evaluated(self, point: Point) -> Evaluation:
        solved = self._solved(point)
        if solved is None:
            return Evaluation(np.nan, np.full(len(point.names), np.nan))
        alpha, beta, radius, weight = solved
        support = np.flatnonzero((alpha != 0) | (beta > 0))
        a, b = alpha[support], beta[support]
        inputs = take(self.X, support)
        W = np.outer(-radius * a, a) - np.outer(weight * b, b)
        slope = point.kernel.gradient(inputs, None, W)
        slope += point.kernel.diagonal_gradient(inputs, weight * b)
        by_diagonal = weight * (1.0 - beta @ beta) - radius * (alpha @ alpha)
        return Evaluation(
            radius * weight, point.gradient(slope, float(-0.5 / point.C * by_diagonal))
        )

    def _solved(self, point: Point) -> Solved | None:
        Q = point.kernel(self.X)
        if not np.isfinite(Q).all():
            return None
        Q.flat[:: self.n + 1] += 0.5 / point.C
        endless = np.inf * self.y
        machine = optimum(
            Q, self.y, np.minimum(endless, 0.0), np.maximum(endless, 0.0), 0.0, self._alpha
        )
        if not machine.bounded:
            return None
        half, zeros = 0.5 * np.diagonal(Q), np.zeros(self.n)
        ball = optimum(Q, half, zeros, zeros + np.inf, 1.0, self._beta)
        self._alpha, self._beta = machine.alpha, ball.alpha
        # β·diag Q − βᵀQβ, where G = ½ diag Q − Qβ
        radius = float(ball.alpha @ (half + ball.gradient))
        return Solved(machine.alpha, ball.alpha, radius, float(self.y @ machine.alpha))


class Solved(NamedTuple):
    """The machine α, the centre of the ball β, R² and ‖w‖²."""

    alpha: Float
    beta: Float
    radius: float
    weight: float
