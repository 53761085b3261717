"""Resilient backpropagation: steps by the sign of each partial derivative.

Rprop (Algorithm 11.1) increases the step size δ_i while the sign of the derivative stays the same
and decreases it when the sign changes. iRprop⁺ takes back a step that changed the sign and made the
objective worse.
"""

from __future__ import annotations

import numpy as np

from ..base import Evaluation, Float, Limits, Objective, P
from .base import Ended, Optimiser, require_finite, require_gradient


class Rprop(Optimiser[P]):
    """Algorithm 11.1 of the thesis::

        δ_i ← η₊ δ_i  if P_i G_i > 0,   η₋ δ_i  if P_i G_i < 0
        x_i ← x_i − sign(G_i) δ_i

    with G the gradient and P the one before.

    Parameters
    ----------
    start : Point
    step : float or array
        First step sizes.
    limits : Limits, optional
    grow, shrink : float
        η₊ and η₋.
    smallest, largest : float
        Bounds of the step sizes. The walk has converged when all are down to the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import Evaluation, Objective, Rprop, Vector
    >>> class Bowl(Objective):
    ...     def evaluate(self, point):
    ...         return Evaluation(float(point.theta @ point.theta), 2 * point.theta)
    >>> optimiser = Rprop(Vector(np.array([1.0, -2.0])), step=0.1)
    >>> result = optimiser.run(Bowl(), evaluations=100)
    >>> bool(np.abs(result.point.theta).max() < 1e-6)
    True
    """

    def __init__(
        self,
        start: P,
        step: float | Float = 0.1,
        limits: Limits | None = None,
        *,
        grow: float = 1.2,
        shrink: float = 0.5,
        smallest: float = 1e-9,
        largest: float = 5.0,
    ) -> None:
        super().__init__(start, limits)
        if not 0 < shrink < 1 < grow:
            raise ValueError(f"need 0 < shrink < 1 < grow, got shrink={shrink} and grow={grow}")
        self.steps = np.broadcast_to(np.asarray(step, dtype=np.float64), (self.size,)).copy()
        if not (self.steps > 0).all():
            raise ValueError(f"step must be positive, got {step}")
        self.grow, self.shrink = grow, shrink
        self.smallest, self.largest = smallest, largest
        self.gradient = np.zeros(self.size)
        self.delta = np.zeros(self.size)
        self.value = np.inf
        # The last point with a finite objective, and the step from there.
        self.good: P | None = None

    def _iterate(self, objective: Objective[P], left: float) -> None:
        del left
        require_gradient(objective, type(self).__name__)
        evaluation = self._evaluated(objective, self.point)
        if not evaluation.finite:
            self._step_around(evaluation)
            return
        self.good = self.point
        assert evaluation.gradient is not None
        self.delta = self._chosen_step(evaluation.value, evaluation.gradient)
        self.value = evaluation.value
        if not evaluation.gradient.any() or (self.steps <= self.smallest).all():
            raise Ended("converged")
        self._step(self.delta)

    def _step_around(self, evaluation: Evaluation) -> None:
        """Repeat the step from the last good point, half as far."""
        if self.good is None:
            require_finite(evaluation)
            return
        if (self.steps <= self.smallest).all():
            raise Ended("converged")
        self.steps = np.maximum(self.shrink * self.steps, self.smallest)
        self.point, self.delta = self.good, self.shrink * self.delta
        self._step(self.delta)

    def _chosen_step(self, value: float, gradient: Float) -> Float:
        del value
        self._adapt(gradient)
        self.gradient = gradient
        return -np.sign(gradient) * self.steps

    def _adapt(self, gradient: Float) -> Float:
        """Change the step sizes by the signs of successive derivatives; return their product."""
        product = np.sign(self.gradient) * np.sign(gradient)
        factor = np.where(product > 0, self.grow, np.where(product < 0, self.shrink, 1.0))
        self.steps = np.clip(factor * self.steps, self.smallest, self.largest)
        return product


class IRpropPlus(Rprop[P]):
    """iRprop⁺ (Igel and Hüsken, 2003): Rprop that takes back steps that made things worse::

        where P_i G_i < 0:   x_i ← x_i − Δ_i  if the value has grown, else x_i;   G_i ← 0

    with Δ the step before.

    Parameters
    ----------
    start : Point
    step : float or array
        First step sizes.
    limits : Limits, optional
    grow, shrink : float
        η₊ and η₋.
    smallest, largest : float
        Bounds of the step sizes. The walk has converged when all are down to the smallest.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.tuning import Evaluation, IRpropPlus, Objective, Vector
    >>> class Bowl(Objective):
    ...     def evaluate(self, point):
    ...         return Evaluation(float(point.theta @ point.theta), 2 * point.theta)
    >>> optimiser = IRpropPlus(Vector(np.array([1.0, -2.0])), step=0.1)
    >>> result = optimiser.run(Bowl(), evaluations=100)
    >>> bool(np.abs(result.point.theta).max() < 1e-6)
    True
    """

    def _chosen_step(self, value: float, gradient: Float) -> Float:
        reversed_sign = self._adapt(gradient) < 0
        back = -self.delta if value > self.value else np.zeros(self.size)
        self.gradient = np.where(reversed_sign, 0.0, gradient)
        return np.where(reversed_sign, back, -np.sign(gradient) * self.steps)
