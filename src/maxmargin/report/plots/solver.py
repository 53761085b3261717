"""Plots of solvers: active samples under shrinking, and lengths of planned steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import Gram
from ...solvers import Solution, solve
from ...solvers.linear import CLASSIFICATION, Intercept, as_matrix, fit_linear
from ...solvers.linear.records import LinearTrace
from ...solvers.smo.state import PLANNED
from .display import BLUE, GREY, VERMILLION, Display, colour_of, dense, marker_of

# Edges of the histogram in t, the ratio being ±(10^(t²/2) − 1).
EDGES = np.linspace(-4.0, 4.0, 81)


class ShrinkingDisplay(Display):
    """Which samples are still active, epoch by epoch of coordinate descent (report, Figure 4).

    Large points are active, small grey ones have been set aside. Inputs with more than two
    features are not drawn, only the number of active samples is.

    Parameters
    ----------
    trace : LinearTrace
        With `members`.
    X : float array of shape (samples, features)
    codes : int array of shape (samples,)
    labels : list of str

    Examples
    --------
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.report import ShrinkingDisplay
    >>> X, y = two_blobs(100, random_state=0)
    >>> display = ShrinkingDisplay.from_samples(X, y)
    >>> bool(display.trace.active[-1] < display.trace.active[0])
    True
    """

    def __init__(
        self, *, trace: LinearTrace, X: np.ndarray, codes: np.ndarray, labels: list[str]
    ) -> None:
        self.trace, self.X, self.codes, self.labels = trace, X, codes, labels
        in_plane = X.shape[1] == 2 and bool(trace.members)
        self.epochs = epochs_that_differ(trace.members) if in_plane else np.empty(0, dtype=int)
        self.panels = (1, len(self.epochs) + 1)
        self.size = (3.0 * len(self.epochs) + 3.6, 4.0) if in_plane else (6.4, 4.4)

    @classmethod
    def from_samples(
        cls, X: Any, y: Any, *, C: float = 1.0, tol: float = 1e-6, ax: Any = None
    ) -> ShrinkingDisplay:
        """Train a linear machine (hinge loss) by coordinate descent and plot its active samples.

        Parameters
        ----------
        X : array or sparse matrix of shape (samples, features)
        y : array of shape (samples,)
            Labels of two classes.
        C, tol : float
        ax : array of Axes, optional
        """
        classes, codes = np.unique(y, return_inverse=True)
        if classes.size != 2:
            raise ValueError(f"y must have two classes, got {classes.size}")
        labels = np.where(codes == 1, 1.0, -1.0)
        solution = fit_linear(
            as_matrix(X),
            CLASSIFICATION["hinge"](labels, np.full(labels.size, C)),
            intercept=Intercept(True, 1.0),
            solver="coordinate",
            tol=tol,
            max_steps=1000,
            trace=True,
        )
        texts = [str(label) for label in classes]
        assert solution.trace is not None
        return cls(trace=solution.trace, X=dense(X), codes=codes, labels=texts).plot(ax)

    def _draw(self, ax: Any) -> None:
        axes = np.ravel(ax)
        for panel, epoch in zip(axes, self.epochs):
            self._draw_samples(panel, int(epoch))
        if len(self.epochs):
            place = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.03)}
            axes[0].legend(ncols=3, fontsize=10, handletextpad=0.1, columnspacing=0.8, **place)
        end = axes[-1]
        epochs = np.arange(1, self.trace.active.size + 1)
        end.plot(epochs, self.trace.active, color=BLUE, marker="o", markersize=4)
        for epoch in self.epochs:
            end.plot(
                epoch + 1, self.trace.active[epoch], color=VERMILLION, marker="o", markersize=7
            )
        end.set(xlabel="epoch", ylabel="active samples", title="still active")
        end.set_ylim(bottom=0)
        end.xaxis.get_major_locator().set_params(integer=True)

    def _draw_samples(self, axes: Any, epoch: int) -> None:
        active = np.zeros(self.codes.size, dtype=bool)
        active[self.trace.members[epoch]] = True
        axes.scatter(*self.X[~active].T, s=7, color="#C4C4C4", linewidths=0, label="set aside")
        for place, label in enumerate(self.labels):
            rows = active & (self.codes == place)
            style = {"color": colour_of(place), "marker": marker_of(place), "s": 34}
            axes.scatter(*self.X[rows].T, label=label, edgecolors="white", linewidths=0.5, **style)
        axes.set_title(f"epoch {epoch + 1}\n{active.sum():,} active")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(False)
        axes.set_box_aspect(1)


def epochs_that_differ(members: list[np.ndarray], most: int = 4) -> np.ndarray:
    """Epochs, at most `most`, with numbers of active samples that are far from each other.

    The last is the one with the fewest: after it all samples are active again.
    """
    counts = np.array([own.size for own in members])
    counts = counts[: int(np.argmin(counts)) + 1]
    levels = np.linspace(counts[0], counts[-1], most)
    chosen = [int(np.argmin(np.abs(counts - level))) for level in levels]
    return np.unique(chosen)


class PlanningDisplay(Display):
    """Lengths of planned steps compared with Newton steps (thesis, Figure 7.3).

    A histogram of μ/μ̂ − 1: 0 is the Newton step, positive values are longer steps, values below −1
    go the other way. Both axes are logarithmic; the outermost bins hold all that lies beyond.

    Parameters
    ----------
    relative : float array
        μ/μ̂ − 1 of every planned step.

    Examples
    --------
    >>> from maxmargin.data import chess_board
    >>> from maxmargin.report import PlanningDisplay
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.kernels import Gaussian
    >>> X, y = chess_board(200, random_state=0)
    >>> problem = hinge(y.astype(float), 1e3).problem
    >>> display = PlanningDisplay.from_problem(problem, Gaussian(0.5).bind(X))
    >>> bool((display.relative > 0).mean() > 0.5)
    True
    """

    def __init__(self, *, relative: np.ndarray) -> None:
        self.relative = relative

    @classmethod
    def from_problem(
        cls, problem: Any, gram: Gram | np.ndarray, *, ax: Any = None, **options: Any
    ) -> PlanningDisplay:
        """Solve a problem with planning ahead and plot its steps.

        Parameters
        ----------
        problem : DualProblem
        gram : Gram or array
        ax : Axes, optional
        **options
            Of `solve`.
        """
        arguments = {"planning": 1, "face": False, "driver": "full", **options}
        return cls.from_solution(solve(problem, gram, trace=True, **arguments), ax=ax)

    @classmethod
    def from_solution(cls, solution: Solution, *, ax: Any = None) -> PlanningDisplay:
        """Plot the planned steps of a solution.

        Parameters
        ----------
        solution : Solution
            Of `solve` with ``trace=True`` and ``planning`` of at least 1.
        ax : Axes, optional
        """
        if solution.trace is None:
            raise ValueError("solution has no trace: call solve with trace=True")
        planned = solution.trace.kind == PLANNED
        return cls(relative=solution.trace.ratio[planned] - 1.0).plot(ax)

    def _draw(self, ax: Any) -> None:
        t = np.sign(self.relative) * np.sqrt(2.0 * np.log10(1.0 + np.abs(self.relative)))
        counts, _ = np.histogram(np.clip(t, EDGES[0], EDGES[-1]), bins=EDGES)
        used = np.flatnonzero(counts)
        if used.size:
            # Only the part with steps in it, and the Newton step at 0.
            first = min(EDGES[used[0]], 0.0) - 0.1
            ax.set_xlim(first, max(EDGES[used[-1] + 1], 0.0) + 0.1)
        ax.bar(EDGES[:-1], counts, width=np.diff(EDGES), align="edge", color=BLUE, linewidth=0)
        ax.axvline(0.0, color=GREY, linewidth=1.2)
        if counts.max(initial=0) > 10:
            ax.set_yscale("log")
            ax.set_ylim(0.7, 2.0 * counts.max())
        ticks = np.array([-1e4, -1e2, -1.0, -0.1, 0.0, 0.1, 1.0, 10.0, 1e2, 1e4, 1e8])
        places = np.sign(ticks) * np.sqrt(2.0 * np.log10(1.0 + np.abs(ticks)))
        low, high = ax.get_xlim()
        inside = (places >= low) & (places <= high)
        names = [f"${tick:g}$" if abs(tick) < 1e3 else _power(tick) for tick in ticks]
        ax.set_xticks(places[inside], [n for n, shown in zip(names, inside) if shown])
        ax.set(xlabel="planned step / Newton step − 1", ylabel="steps")
        ax.set_title(f"lengths of {self.relative.size:,} planned steps")


def _power(value: float) -> str:
    sign = "-" if value < 0 else ""
    return f"${sign}10^{{{round(np.log10(abs(value)))}}}$"
