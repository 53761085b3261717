"""The path of SMO in the box of two dual variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dual import DualProblem
from ...solvers import solve
from ...solvers.solver import as_gram
from ..plots.display import BLACK, BLUE, GREY, VERMILLION, Display


class PairPathDisplay(Display):
    """Where two dual variables are after each step of SMO, inside their box.

    A step moves two variables at a time along the line on which their sum is constant. For a
    problem of three variables with one constraint on their sum, two of them determine the third:
    then the colours show the dual value, the grey region what the third variable forbids, and every
    step is along one of three directions.

    Parameters
    ----------
    path : float array of shape (steps + 1, 2)
    lower, upper : float arrays of shape (2,)
        The box.
    pair : tuple of two int
    landscape : two float arrays of shape (n, n), optional
        Dual values over the box, and how far the third variable is inside its own (negative:
        outside).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.dual import hinge
    >>> from maxmargin.report import PairPathDisplay
    >>> K = np.array([[1.0, 0.2, 0.6], [0.2, 1.0, 0.5], [0.6, 0.5, 1.0]])
    >>> display = PairPathDisplay.from_problem(hinge(np.array([1.0, 1.0, -1.0]), 2.0).problem, K)
    >>> display.path[0].tolist()
    [0.0, 0.0]
    """

    size = (5.8, 5.0)

    def __init__(
        self,
        *,
        path: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        pair: tuple[int, int],
        landscape: tuple[np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.path, self.lower, self.upper = path, lower, upper
        self.pair, self.landscape = pair, landscape

    @classmethod
    def from_problem(
        cls,
        problem: DualProblem,
        gram: Any,
        *,
        pair: tuple[int, int] | None = None,
        steps: int = 200,
        ax: Any = None,
        **options: Any,
    ) -> PairPathDisplay:
        """Solve a small problem step by step and plot two of its variables.

        Parameters
        ----------
        problem : DualProblem
            With finite bounds.
        gram : Gram or array
        pair : tuple of two int, optional
            Which variables; by default the first two of three, else the two that travel furthest.
        steps : int
            Steps at most.
        ax : Axes, optional
        **options
            Of `solve`, for instance ``selection="mvp"``.
        """
        gram = as_gram(gram)
        points = alphas_of(problem, gram, steps, options)
        if pair is None:
            pair = (0, 1) if problem.lower.size == 3 else _furthest(points)
        chosen = list(pair)
        box = problem.lower[chosen], problem.upper[chosen]
        if not np.isfinite(box).all():
            raise ValueError("problem must have finite bounds to draw their box: use a finite C")
        landscape = None
        if problem.lower.size == 3 and problem.totals.size == 1 and problem.samples == 3:
            landscape = landscape_of(problem, gram, pair)
        return cls(
            path=points[:, chosen], lower=box[0], upper=box[1], pair=pair, landscape=landscape
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        if self.landscape is not None:
            values, slack = self.landscape
            box = zip(self.lower, self.upper, values.shape)
            sides = [np.linspace(low, high, count) for low, high, count in box]
            levels = np.linspace(values[slack >= 0].min(), values[slack >= 0].max(), 24)
            ax.contourf(*sides, values, levels=levels, cmap="Blues", alpha=0.8)
            ax.contour(*sides, values, levels=levels, colors="white", linewidths=0.5)
            if slack.min() < 0:
                grey = {"levels": [slack.min(), 0.0], "colors": ["#DDDDDD"]}
                ax.contourf(*sides, slack, zorder=2.2, **grey)
        ends = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
        corners = np.array(
            [[(self.lower, self.upper)[e][k] for k, e in enumerate(x)] for x in ends]
        )
        ax.plot(*corners.T, color=BLACK, linewidth=1.6, zorder=3)
        ax.plot(
            *self.path.T,
            color=VERMILLION,
            marker="o",
            markersize=5,
            linewidth=1.8,
            zorder=4,
            label="SMO",
        )
        ax.plot(
            *self.path[0],
            marker="o",
            color=GREY,
            markersize=10,
            linestyle="none",
            label="start",
            zorder=4,
        )
        star = {"marker": "*", "markersize": 17, "markeredgecolor": "white", "linestyle": "none"}
        ax.plot(*self.path[-1], color=BLUE, label="end", zorder=5, **star)
        pad = 0.06 * (self.upper - self.lower)
        low, high = self.lower - pad, self.upper + pad
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        first, second = (k + 1 for k in self.pair)
        title = f"{len(self.path) - 1} steps in the box of two variables"
        ax.set(xlabel=rf"$\alpha_{{{first}}}$", ylabel=rf"$\alpha_{{{second}}}$", title=title)
        ax.grid(False)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, fontsize=10)


def alphas_of(problem: DualProblem, gram: Any, steps: int, options: dict[str, Any]) -> np.ndarray:
    """α before the first step and after each one: solved again with one step more every time."""
    arguments = {"face": False, "shrinking": False, "driver": "full", **options}
    points = [problem.feasible()]
    for limit in range(1, steps + 1):
        solution = solve(problem, gram, max_steps=limit, **arguments)
        if solution.steps < limit:
            break
        points.append(solution.alpha)
        if solution.status != "step_limit":
            break
    return np.array(points)


def _furthest(points: np.ndarray) -> tuple[int, int]:
    travelled = np.abs(np.diff(points, axis=0)).sum(axis=0)
    first, second = np.sort(np.argsort(-travelled, kind="stable")[:2])
    return int(first), int(second)


def landscape_of(
    problem: DualProblem, gram: Any, pair: tuple[int, int], points: int = 120
) -> tuple[np.ndarray, np.ndarray]:
    """Dual values over the box of two of three variables; the sum determines the third.

    They are computed at `points` along each side of the box.
    """
    i, j = pair
    (third,) = {0, 1, 2} - {i, j}
    Q = np.asarray(gram.matrix(), dtype=np.float64) + np.diag(problem.ridge)
    total = problem.feasible().sum()
    sides = [np.linspace(problem.lower[k], problem.upper[k], points) for k in pair]
    alpha = np.empty((points, points, 3))
    alpha[..., i], alpha[..., j] = np.meshgrid(*sides)
    alpha[..., third] = total - alpha[..., i] - alpha[..., j]
    value = alpha @ problem.linear - 0.5 * np.einsum("...a,ab,...b", alpha, Q, alpha)
    slack = np.minimum(
        alpha[..., third] - problem.lower[third], problem.upper[third] - alpha[..., third]
    )
    return value, slack
