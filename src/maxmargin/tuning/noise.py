"""The noisy test functions of section 11.4, drawn anew at every evaluation.

With m and n uniform on [0, 1] they have the means g⁽¹⁾ … g⁽⁴⁾ printed there, and these minima:

    f⁽¹⁾  UnreliableSign    −|x| for m ≤ ¼, else |x|                      0
    f⁽²⁾  SeparateBowl      (x−m)² + (y−n)²                               (½, ½)
    f⁽³⁾  TiltedBowl        (x−m)² + 9/5 (x−m)(y−n) + (y−n)²              (½, ½)
    f⁽⁴⁾  SkewedSlope       3(m−x) for x ≤ m, else x−m                    ¾
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .base import Evaluation, Float, Objective, Vector


class NoisyFunction(Objective[Vector]):
    """A family of functions with a random member at each evaluation.

    Parameters
    ----------
    random_state : int, optional
    """

    noisy = True
    parameters = 1
    optimum: tuple[float, ...]

    def __init__(self, random_state: int | None = None) -> None:
        self._random = np.random.default_rng(random_state)
        self._drawn: list[list[float]] = []

    def evaluate(self, point: Vector) -> Evaluation:
        if not self._drawn:
            self._drawn = self._random.uniform(size=(1 << 14, self.parameters)).tolist()
        return self._member(point.theta, *self._drawn.pop())

    @abstractmethod
    def _member(self, x: Float, *drawn: float) -> Evaluation:
        """Value and gradient of one function of the family."""


class UnreliableSign(NoisyFunction):
    """f⁽¹⁾: the derivative points the right way in three of four cases, however close."""

    optimum = (0.0,)

    def _member(self, x: Float, *drawn: float) -> Evaluation:
        sign = -1.0 if drawn[0] <= 0.25 else 1.0
        return Evaluation(sign * abs(float(x[0])), sign * np.sign(x))


class SeparateBowl(NoisyFunction):
    """f⁽²⁾: two independent coordinates."""

    parameters = 2
    optimum = (0.5, 0.5)
    coupling = 0.0

    def _member(self, x: Float, *drawn: float) -> Evaluation:
        u, v = float(x[0]) - drawn[0], float(x[1]) - drawn[1]
        c = self.coupling
        return Evaluation(u * u + c * u * v + v * v, np.array([2 * u + c * v, 2 * v + c * u]))


class TiltedBowl(SeparateBowl):
    """f⁽³⁾: two coordinates that depend on each other, condition number 19."""

    coupling = 1.8


class SkewedSlope(NoisyFunction):
    """f⁽⁴⁾: the median derivative vanishes at ½, the mean at ¾."""

    optimum = (0.75,)

    def _member(self, x: Float, *drawn: float) -> Evaluation:
        u = float(x[0]) - drawn[0]
        return Evaluation(-3.0 * u, np.array([-3.0])) if u <= 0 else Evaluation(u, np.ones(1))
