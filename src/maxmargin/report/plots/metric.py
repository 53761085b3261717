"""The metric of a Gaussian kernel as ellipses: the range of a sample's influence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import Gaussian, MetricGaussian
from ...models.files import chosen_machine
from .display import BLACK, VERMILLION, Display, colour_of, dense, marker_of

# Ellipses on which the kernel has these values.
LEVELS = (0.8, 0.4, 0.1)


class MetricDisplay(Display):
    """Ellipses around the mean of the samples on which the kernel with it is 0.8, 0.4 and 0.1.

    Parameters
    ----------
    matrix : float array of shape (2, 2)
        M of k = exp(−dᵀMd) for differences d in the two features shown.
    points : float array of shape (samples, 2)
    codes : int array
    labels : list of str
    names : tuple of two str

    Examples
    --------
    >>> from maxmargin import AutoSVC
    >>> from maxmargin.data import stretched_chess_board
    >>> from maxmargin.report import MetricDisplay
    >>> X, y = stretched_chess_board(150, random_state=0)
    >>> model = AutoSVC(metric="full", strategy="kta").fit(X, y)
    >>> display = MetricDisplay.from_estimator(model, X, y)
    >>> display.matrix.shape
    (2, 2)
    """

    size = (5.6, 5.0)

    def __init__(
        self,
        *,
        matrix: np.ndarray,
        points: np.ndarray,
        codes: np.ndarray,
        labels: list[str],
        names: tuple[str, str],
    ) -> None:
        self.matrix, self.points, self.codes = matrix, points, codes
        self.labels, self.names = labels, names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        features: tuple[int, int] | None = None,
        feature_names: Any = None,
        ax: Any = None,
    ) -> MetricDisplay:
        """Plot the metric of a fitted machine with a Gaussian kernel.

        Parameters
        ----------
        estimator : estimator with `kernel_`
        X : array of shape (samples, features), optional
            Samples to draw; the support vectors by default.
        y : array of shape (samples,), optional
        features : tuple of two int, optional
            Which to show; differences in the others are 0. By default those two whose spread
            counts most under the metric.
        feature_names : list of str, optional
        ax : Axes, optional
        """
        machine = chosen_machine(estimator)
        inputs = dense(machine.support_vectors_ if X is None else X)
        full = metric_matrix(machine.kernel_, inputs.shape[1])
        pair = list(weightiest(full, inputs) if features is None else features)
        names = feature_names
        if names is None:
            default = [f"x{i + 1}" for i in range(inputs.shape[1])]
            names = getattr(estimator, "feature_names_in_", default)
        classes, codes = np.unique(
            np.zeros(len(inputs)) if y is None else np.asarray(y), return_inverse=True
        )
        return cls(
            matrix=full[np.ix_(pair, pair)],
            points=inputs[:, pair],
            codes=codes,
            labels=[str(label) for label in classes] if y is not None else ["samples"],
            names=(str(names[pair[0]]), str(names[pair[1]])),
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        from matplotlib.patheffects import withStroke

        shown = np.random.default_rng(0).permutation(len(self.points))[:1000]
        for place, label in enumerate(self.labels):
            rows = shown[self.codes[shown] == place]
            style = {"color": colour_of(place), "marker": marker_of(place), "s": 12}
            ax.scatter(*self.points[rows].T, label=label, alpha=0.55, linewidths=0, **style)
        values, vectors = np.linalg.eigh(self.matrix)
        angle = np.linspace(0.0, 2.0 * np.pi, 200)
        circle = np.array([np.cos(angle), np.sin(angle)])
        centre = self.points.mean(axis=0)
        halo = [withStroke(linewidth=4.0, foreground="white")]
        for level, dashes in zip(LEVELS, ("-", "--", ":")):
            radii = np.sqrt(-np.log(level) / np.maximum(values, np.finfo(float).tiny))
            line = centre[:, None] + vectors @ (radii[:, None] * circle)
            ax.plot(
                *line, color=BLACK, linestyle=dashes, path_effects=halo, label=f"kernel {level:g}"
            )
        ax.plot(*centre, marker="+", color=VERMILLION, markersize=12, markeredgewidth=2.5)
        span = np.ptp(self.points, axis=0)
        low, high = self.points.min(axis=0) - 0.08 * span, self.points.max(axis=0) + 0.08 * span
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title="kernel value with the mean")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, fontsize=10)


def weightiest(matrix: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """The two features whose spread counts most under a metric, in their order."""
    weights = np.diag(matrix) * inputs.var(axis=0)
    return np.sort(np.argsort(-weights, kind="stable")[:2])


def metric_matrix(kernel: Any, features: int) -> np.ndarray:
    """M of a Gaussian kernel exp(−dᵀMd)."""
    if isinstance(kernel, MetricGaussian):
        return 0.5 * kernel.metric.T @ kernel.metric
    if isinstance(kernel, Gaussian):
        return np.diag(np.broadcast_to(np.asarray(kernel.gamma, dtype=float), features))
    raise ValueError(
        f"estimator must have a Gaussian kernel to show its metric, got {type(kernel).__name__}"
    )
