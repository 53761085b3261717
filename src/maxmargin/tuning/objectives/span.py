"""The span bound S of section 9.1.5 and its gradient (9.3.4).

    S = Σ_n 1 − max(0, p_n/q_n),   q_n = y_n f(x_n),   p_n = y_n f^n̂(x_n)

where f^n̂ is the machine trained without sample n. Only support vectors contribute. If the sets of
free and bounded vectors do not change when n is left out, q_n − p_n = |α_n| S_n² with the span S_n,
the distance of Φ(x_n) from the affine hull of the other free vectors::

    S_n² = 1 / (H⁻¹)_nn             n free
    S_n² = K_nn − v_nᵀ H⁻¹ v_n      n bounded,  v_n = (K_un, 1)

(The thesis prints α_n² S_n².) If no vector is free, f^n̂ = f − α_n k(x_n, ·) with the bias taken
from the same two samples as before. S is an upper bound on the number of leave-one-out errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...kernels.base import Inputs
from ..base import Evaluation, Float, Objective, Point
from ..machines.optimum import Fit, Int, hinge_fit, left_out_fit
from .adjoint import Derivative, Saddle, bounded_part, saddle_of
from .samples import Samples, checked_start

# Added to the diagonal of K_uu, so that H⁻¹ is not dominated by rounding where free vectors
# coincide; their span is then small instead of zero.
RIDGE = 1e-10


class SpanBound(Samples, Objective[Point]):
    """The span bound divided by the number of samples, to be minimised::

        S/n,   S = Σ_n 1 − max(0, f^n̂(x_n)/f(x_n))

    Parameters
    ----------
    X : inputs
    y : array of −1 and +1
    refit : bool
        Train f^n̂ for every support vector. Otherwise it is computed on the assumption that the
        sets of free and bounded vectors do not change.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.tuning import Point, SpanBound
    >>> X, y = chess_board(100, random_state=0)
    >>> round(SpanBound(X, y).value(Point(Gaussian(2.0), C=100.0)), 4)
    0.2731
    >>> round(SpanBound(X, y, refit=True).value(Point(Gaussian(2.0), C=100.0)), 4)
    0.2388

    References
    ----------
    Vapnik and Chapelle, *Bounds on error expectation for support vector machines*, 2000.
    """

    def __init__(self, X: Inputs, y: ArrayLike, refit: bool = False) -> None:
        super().__init__(X, y)
        self.refit = refit
        self._start: Float | None = None

    def state(self) -> dict[str, Any]:
        return {"start": self._start}

    def restore(self, state: dict[str, Any]) -> None:
        self._start = checked_start(state["start"], self.n)

    def evaluate(self, point: Point) -> Evaluation:
        K = point.kernel(self.X)
        bad = Evaluation(np.nan, np.full(len(point.names), np.nan))
        if not np.isfinite(K).all():
            return bad
        fit = hinge_fit(K, self.y, point.C, self._start)
        if not fit.bounded:
            return bad
        self._start = fit.alpha
        derivative = Derivative(self.n)
        bound = self._by_refitting if self.refit else self._by_spans
        value = bound(K, fit, point.C, derivative)
        slope = derivative.contracted(point, self.X)
        return Evaluation(value / self.n, slope / self.n)

    def _by_spans(self, K: Float, fit: Fit, C: float, derivative: Derivative) -> float:
        del C
        saddle = saddle_of(fit, K, RIDGE)
        margins = self.y * (self.y - fit.gradient + fit.bias)
        size = np.abs(fit.alpha)
        at_bound = bounded_part(fit) != 0
        spans = FreeSpans(K, fit, saddle) if saddle else NoFreeSpans(K, fit)
        value, slope, free_slope = 0.0, np.zeros(self.n), np.zeros(fit.free.size)

        square = spans.of_free()
        kept = size[fit.free] * square < 1.0
        value += float(np.where(kept, size[fit.free] * square, 1.0).sum())
        free_slope[kept] = (self.y[fit.free] * square)[kept]
        spans.add_free(derivative, np.where(kept, size[fit.free], 0.0))

        bounded = np.flatnonzero(at_bound)
        square = spans.of(bounded)
        loss, margin = size[bounded] * square, margins[bounded]
        kept = loss < margin
        value += float(np.sum(~kept))
        bounded, square, loss, margin = bounded[kept], square[kept], loss[kept], margin[kept]
        value += float(np.sum(loss / margin))
        slope[bounded] = -self.y[bounded] * loss / margin**2
        spans.add(derivative, bounded, size[bounded] / margin)
        derivative.log_C += float(np.sum(loss / margin))

        derivative.add_outputs(fit, K, slope, saddle, free_slope)
        return value

    def _by_refitting(self, K: Float, fit: Fit, C: float, derivative: Derivative) -> float:
        margins = self.y * (self.y - fit.gradient + fit.bias)
        value, slope = 0.0, np.zeros(self.n)
        for n in np.flatnonzero(fit.alpha):
            without = left_out_fit(K, self.y, C, fit.alpha, int(n))
            margin = self.y[n] * (self.y[n] - without.gradient[n] + without.bias)
            if margin <= 0 or margins[n] <= 0:
                value += 1.0
                continue
            value += float(1.0 - margin / margins[n])
            slope[n] = self.y[n] * margin / margins[n] ** 2
            own = np.zeros(self.n)
            own[n] = -self.y[n] / margins[n]
            derivative.add_outputs(without, K, own, saddle_of(without, K))
        derivative.add_outputs(fit, K, slope, saddle_of(fit, K))
        return value


class FreeSpans:
    """S_n² and its derivative if there are free vectors."""

    def __init__(self, K: Float, fit: Fit, saddle: Saddle) -> None:
        self.K, self.free = K, fit.free
        self.inverse = saddle.inverse()

    def of_free(self) -> Float:
        return np.asarray(1.0 / np.diagonal(self.inverse)[:-1])

    def add_free(self, derivative: Derivative, weights: Float) -> None:
        """Σ weights_n ∂S_n² over the free vectors; ∂S_n² = S_n⁴ (H⁻¹ ∂H H⁻¹)_nn."""
        rows = self.inverse[:-1, :-1]
        derivative.weights[self.free[:, None], self.free] += (
            rows * (weights * self.of_free() ** 2) @ rows
        )

    def of(self, samples: Int) -> Float:
        inner = np.vecdot(self._columns(samples), self._in(samples))
        return np.asarray(np.diagonal(self.K)[samples] - inner)

    def add(self, derivative: Derivative, samples: Int, weights: Float) -> None:
        """Σ weights_n ∂S_n²; ∂S_n² = ∂K_nn − 2 ∂K_nu c + cᵀ ∂K_uu c with c = H⁻¹ v_n."""
        c = self._in(samples)[:, :-1]
        derivative.weights[samples, samples] += weights
        derivative.weights[samples[:, None], self.free] -= 2.0 * weights[:, None] * c
        derivative.weights[self.free[:, None], self.free] += c.T * weights @ c

    def _columns(self, samples: Int) -> Float:
        """v_n, a row for each sample."""
        return np.column_stack([self.K[samples[:, None], self.free], np.ones(samples.size)])

    def _in(self, samples: Int) -> Float:
        return np.asarray(self._columns(samples) @ self.inverse)


class NoFreeSpans:
    """The substitute for S_n² if no vector is free."""

    def __init__(self, K: Float, fit: Fit) -> None:
        self.K, self.meeting = K, list(fit.meeting)

    def of_free(self) -> Float:
        return np.zeros(0)

    def add_free(self, derivative: Derivative, weights: Float) -> None:
        pass

    def of(self, samples: Int) -> Float:
        shared = self.K[samples[:, None], self.meeting].mean(axis=1)
        return np.asarray(np.diagonal(self.K)[samples] - shared)

    def add(self, derivative: Derivative, samples: Int, weights: Float) -> None:
        derivative.weights[samples, samples] += weights
        derivative.weights[samples[:, None], self.meeting] -= 0.5 * weights[:, None]
