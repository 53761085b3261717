"""How a fit converges: violation, primal and dual value against time."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..models.training import FitCurve
from .display import BLUE, GREEN, VERMILLION, Display

# Entries of a course whose first tenth may be left out of the picture.
MANY = 20


class ConvergenceDisplay(Display):
    """The largest violation, and the objectives between which the optimum lies, against time.

    Parameters
    ----------
    curve : FitCurve
    tol : float, optional
        The violation at which the fit ends.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.report import ConvergenceDisplay
    >>> X, y = chess_board(300, random_state=0)
    >>> display = ConvergenceDisplay.from_estimator(SVC(C=1e4, gamma=2.0), X, y)
    >>> [ax.get_ylabel() for ax in display.ax_]
    ['largest violation', 'objective']
    """

    panels = (1, 2)
    size = (9.6, 4.2)

    def __init__(self, *, curve: FitCurve, tol: float | None = None) -> None:
        self.curve, self.tol = curve, tol

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, ax: Any = None
    ) -> ConvergenceDisplay:
        """Fit a copy of an estimator and plot the course of it.

        Parameters
        ----------
        estimator : estimator with a `callback`
            For several classes, all problems are drawn one after the other.
        X, y : inputs and targets
        ax : two Axes, optional
        """
        rows: list[tuple[float, ...]] = []
        began = time.perf_counter()

        def note(progress: Any) -> bool:
            dual = getattr(progress, "dual", None)
            dual = progress.objective - progress.gap if dual is None else dual
            values = (progress.violation, dual + progress.gap, dual, progress.active)
            rows.append((time.perf_counter() - began, *values))
            return False

        model = clone(estimator).set_params(callback=note)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        curve = FitCurve(*np.array(rows, dtype=np.float64).reshape(-1, 5).T)
        return cls(curve=curve, tol=estimator.tol).plot(ax)

    @classmethod
    def from_curve(
        cls, curve: FitCurve, *, tol: float | None = None, ax: Any = None
    ) -> ConvergenceDisplay:
        """Plot a course that was recorded.

        Parameters
        ----------
        curve : FitCurve
        tol : float, optional
        ax : two Axes, optional
        """
        return cls(curve=curve, tol=tol).plot(ax)

    def _draw(self, ax: Any) -> None:
        left, right = ax
        curve, style = self.curve, {"marker": "o", "markersize": 4}
        known = np.isfinite(curve.violation) & (curve.violation > 0)
        left.semilogy(curve.seconds[known], curve.violation[known], color=BLUE, **style)
        if self.tol is not None:
            left.axhline(self.tol, color=GREEN, linestyle="--", linewidth=1.5)
            left.annotate(
                f"tol = {self.tol:g}",
                (0.0, self.tol),
                (6, 4),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                color=GREEN,
                fontsize=11,
            )
        left.set(xlabel="seconds", ylabel="largest violation", title="optimality conditions")
        for values, colour, name in (
            (curve.primal, VERMILLION, "primal"),
            (curve.dual, BLUE, "dual"),
        ):
            finite = np.isfinite(values)
            right.plot(curve.seconds[finite], values[finite], color=colour, label=name, **style)
        both = np.isfinite(curve.primal) & np.isfinite(curve.dual)
        right.fill_between(
            curve.seconds[both], curve.dual[both], curve.primal[both], color=BLUE, alpha=0.12
        )
        self._zoom(right, both)
        right.set(xlabel="seconds", ylabel="objective", title="the optimum lies between")
        right.legend()

    def _zoom(self, axes: Any, both: np.ndarray) -> None:
        """Leave out first values that are far off, so that the end can be seen."""
        if both.sum() < 3:
            return
        primal, dual = self.curve.primal[both], self.curve.dual[both]
        end = primal[-1]
        low = float(np.quantile(dual, 0.1)) if dual.size >= MANY else dual.min()
        height = max(end - low, 1e-12 * abs(end))
        top = min(primal.max(), end + 1.5 * height)
        if top > low:
            axes.set_ylim(low - 0.05 * (top - low), top + 0.05 * (top - low))
