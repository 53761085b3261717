"""Convergence of a fit: violation, primal and dual value against time or steps."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ...models.training import FitCurve
from ...solvers import Solution
from ..pictures.certificate import stopped_fits, values_of
from .display import BLUE, GREEN, VERMILLION, Display

AXES = ("seconds", "steps")


class ConvergenceDisplay(Display):
    """The largest violation, and the objectives between which the optimum lies.

    Parameters
    ----------
    curve : FitCurve
    tol : float, optional
        The violation at which the fit ends.
    steps : int array, optional
        Steps of the solver up to each entry of the curve.
    against : {"seconds", "steps"}

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

    def __init__(
        self,
        *,
        curve: FitCurve,
        tol: float | None = None,
        steps: np.ndarray | None = None,
        against: str = "seconds",
    ) -> None:
        if against == "steps" and steps is None:
            raise ValueError('against="steps" needs steps, which this curve does not have')
        self.curve, self.tol, self.steps, self.against = curve, tol, steps, against

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, against: str = "seconds", ax: Any = None
    ) -> ConvergenceDisplay:
        """Fit a copy of an estimator and plot its convergence.

        Parameters
        ----------
        estimator : estimator with a `callback`
            For several classes, all problems are drawn one after the other.
        X, y : inputs and targets
        against : {"seconds", "steps"}
            The horizontal axis. Seconds count from the first report of the solver, so that
            compiling and reading are left out. For steps, copies are fitted that end after 1, 2,
            4, … steps, and their certificates are drawn.
        ax : two Axes, optional
        """
        if against not in AXES:
            raise ValueError(f'against must be "seconds" or "steps", got {against!r}')
        if against == "steps":
            return cls._from_stopped_fits(stopped_fits(estimator, X, y), estimator.tol).plot(ax)
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
        columns = np.array(rows, dtype=np.float64).reshape(-1, 5).T
        columns[0] -= columns[0][:1].sum()
        return cls(curve=FitCurve(*columns), tol=estimator.tol, against=against).plot(ax)

    @classmethod
    def _from_stopped_fits(
        cls, fits: list[tuple[int, Any]], tol: float | None
    ) -> ConvergenceDisplay:
        proofs = [model.certificate_ for _, model in fits]
        primal, dual = np.array([values_of(proof) for proof in proofs]).T
        violation = np.array([proof.violation for proof in proofs])
        unknown = np.full(len(fits), np.nan)
        steps = np.array([limit for limit, _ in fits])
        curve = FitCurve(unknown, violation, primal, dual, unknown)
        return cls(curve=curve, tol=tol, steps=steps, against="steps")

    @classmethod
    def from_solution(
        cls, solution: Solution, *, tol: float | None = None, ax: Any = None
    ) -> ConvergenceDisplay:
        """Plot every step of a solution with a trace.

        Parameters
        ----------
        solution : Solution
            Of `maxmargin.solve` with ``trace=True``.
        tol : float, optional
        ax : two Axes, optional
        """
        if solution.trace is None:
            raise ValueError("solution has no trace: call solve with trace=True")
        trace, unknown = solution.trace, np.full(solution.trace.dual.size, np.nan)
        curve = FitCurve(unknown, trace.violation, unknown, trace.dual, trace.active)
        steps = np.arange(1, trace.dual.size + 1)
        return cls(curve=curve, tol=tol, steps=steps, against="steps").plot(ax)

    @classmethod
    def from_curve(
        cls, curve: FitCurve, *, tol: float | None = None, ax: Any = None
    ) -> ConvergenceDisplay:
        """Plot a recorded convergence history.

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
        across = curve.seconds if self.against == "seconds" else self.steps
        assert across is not None
        if across.size > 60:  # markers would touch
            style = {"linewidth": 1.2}
        elif self.against == "steps":
            left.set_xscale("log")
            right.set_xscale("log")
        known = np.isfinite(curve.violation) & (curve.violation > 0)
        left.semilogy(across[known], curve.violation[known], color=BLUE, **style)
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
        left.set(xlabel=self.against, ylabel="largest violation", title="optimality conditions")
        for values, colour, name in (
            (curve.primal, VERMILLION, "primal"),
            (curve.dual, BLUE, "dual"),
        ):
            finite = np.isfinite(values)
            if finite.any():
                right.plot(across[finite], values[finite], color=colour, label=name, **style)
        both = np.isfinite(curve.primal) & np.isfinite(curve.dual)
        right.fill_between(
            across[both], curve.dual[both], curve.primal[both], color=BLUE, alpha=0.12
        )
        self._zoom(right, both)
        title = "the optimum lies between" if both.any() else "dual value"
        right.set(xlabel=self.against, ylabel="objective", title=title)
        right.legend()

    def _zoom(self, axes: Any, both: np.ndarray) -> None:
        """Leave out first values (of 20 or more, a tenth) that hide the end by their size."""
        if both.sum() < 3:
            return
        primal, dual = self.curve.primal[both], self.curve.dual[both]
        end = primal[-1]
        low = float(np.quantile(dual, 0.1)) if dual.size >= 20 else dual.min()
        height = max(end - low, 1e-12 * abs(end))
        top = min(primal.max(), end + 1.5 * height)
        if top > low:
            axes.set_ylim(low - 0.05 * (top - low), top + 0.05 * (top - low))
