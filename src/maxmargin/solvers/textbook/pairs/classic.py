"""The pair step of the lectures: labels ±1, 0 ≤ α ≤ C, with the bias updated in every step.

The lectures write α ≥ 0 with Σ α_i y_i = 0; `DualProblem` has the signed y_i α_i. With
E_k = ŷ(x_k) − y_k and η = k₁₁ + k₂₂ − 2k₁₂ (misprints in the lectures corrected):

    α₂ ← clip(α₂ + y₂(E₁ − E₂)/η, L, H),    α₁ ← α₁ + y₁y₂(α₂ᵒˡᵈ − α₂)
    b₁ = b − E₁ − y₁Δα₁k₁₁ − y₂Δα₂k₁₂,     b₂ = b − E₂ − y₁Δα₁k₁₂ − y₂Δα₂k₂₂
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dual import hinge
from ....dual.problem import Float
from ..record import CLIPPED, FREE, Recorder


class Classic:
    """The state of the lectures' SMO: 0 ≤ α ≤ C, b and the errors, on top of a `Recorder`."""

    def __init__(self, y: Any, K: Any, C: Any, trace: bool | str) -> None:
        self.y: Float = np.asarray(y, dtype=np.float64)
        self.run = Recorder(hinge(self.y, C).problem, K, trace)
        self.C = np.abs(self.run.problem.upper - self.run.problem.lower)
        self.b = 0.0

    @property
    def alpha(self) -> Float:
        """The non-negative α of the lectures."""
        return np.abs(self.run.alpha)

    def error(self, k: int) -> float:
        """E_k = ŷ(x_k) − y_k, from the gradient y − Kα."""
        return float(self.b - self.run.gradient[k])

    def errors(self) -> Float:
        return np.asarray(self.b - self.run.gradient)

    def violates(self, k: int, tol: float) -> bool:
        """Whether sample k breaks its optimality condition by more than tol."""
        wrong, alpha = self.y[k] * self.error(k), abs(self.run.alpha[k])
        return bool((alpha < self.C[k] and wrong < -tol) or (alpha > 0 and wrong > tol))

    def is_free(self, k: int) -> bool:
        return bool(0 < abs(self.run.alpha[k]) < self.C[k])

    def optimise(self, first: int, second: int) -> bool:
        """Move both samples; return whether anything changed."""
        if first == second:
            return False
        y1, y2 = self.y[first], self.y[second]
        a1, a2 = self.alpha[first], self.alpha[second]
        if y1 != y2:
            low, high = max(0.0, a2 - a1), min(self.C[second], self.C[first] + a2 - a1)
        else:
            low, high = max(0.0, a1 + a2 - self.C[first]), min(self.C[second], a1 + a2)
        eta = self.run.curvature(first, second)
        E1, E2 = self.error(first), self.error(second)
        if low >= high or eta <= 0:
            return False
        newton = y2 * (E1 - E2) / eta
        new = min(max(a2 + newton, low), high)
        if abs(new - a2) < 1e-10 * (new + a2 + 1e-10):
            return False
        kind = FREE if low < new < high else CLIPPED
        # Signed: y₁α₁ changes by −y₂Δα₂.
        self.run.move_pair(second, first, y2 * (new - a2), kind, (new - a2) / newton)
        # The gradient has moved with α: the bias that makes the new error of a sample 0.
        biases = [self.run.gradient[k] for k in (first, second) if self.is_free(k)]
        both = [self.run.gradient[first], self.run.gradient[second]]
        self.b = float(np.mean(biases or both))
        return True
