"""Plots of predictions: confusion of classes, residuals of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import metrics

from .display import BLUE, GREEN, GREY, VERMILLION, Display


class ConfusionDisplay(Display):
    """The confusion matrix: rows are true classes, columns predicted ones.

    Parameters
    ----------
    matrix : int array of shape (classes, classes)
    labels : list of str

    Examples
    --------
    >>> from maxmargin.report import ConfusionDisplay
    >>> display = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"])
    >>> display.matrix
    array([[1, 1],
           [0, 1]])
    """

    def __init__(self, *, matrix: np.ndarray, labels: list[str]) -> None:
        self.matrix, self.labels = matrix, labels
        side = float(np.clip(0.42 * len(labels) + 2.4, 4.4, 12.0))
        self.size = (side + 0.8, side)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> ConfusionDisplay:
        """Plot for a fitted classifier.

        Parameters
        ----------
        estimator : classifier
        X, y : samples and labels
        ax : Axes, optional
        """
        return cls.from_predictions(y, estimator.predict(X), labels=estimator.classes_, ax=ax)

    @classmethod
    def from_predictions(
        cls, target: Any, predicted: Any, *, labels: Any = None, ax: Any = None
    ) -> ConfusionDisplay:
        """Plot for labels.

        Parameters
        ----------
        target, predicted : arrays of labels
        labels : array, optional
        ax : Axes, optional
        """
        known = np.unique(np.concatenate([target, predicted])) if labels is None else labels
        matrix = metrics.confusion_matrix(target, predicted, labels=known)
        return cls(matrix=matrix, labels=[str(label) for label in known]).plot(ax)

    def _draw(self, ax: Any) -> None:
        from matplotlib.colors import PowerNorm

        totals = np.maximum(self.matrix.sum(axis=1, keepdims=True), 1)
        shares = self.matrix / totals
        # The square root keeps the few errors visible next to the many hits.
        ax.imshow(shares, cmap="Blues", norm=PowerNorm(0.5, 0.0, 1.0))
        count = len(self.labels)
        self._draw_numbers(ax, shares)
        wide = max(map(len, self.labels), default=0) > 4
        ax.set_xticks(range(count), self.labels, rotation=45 if wide else 0)
        if wide:
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        ax.set_yticks(range(count), self.labels)
        right = np.trace(self.matrix) / max(self.matrix.sum(), 1)
        ax.set(xlabel="predicted", ylabel="true", title=f"confusion (accuracy {right:.1%})")
        ax.grid(False)
        ax.set_xticks(np.arange(count + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(count + 1) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=1.0)
        ax.tick_params(which="minor", length=0)
        for side in ax.spines.values():
            side.set_visible(False)

    def _draw_numbers(self, ax: Any, shares: np.ndarray) -> None:
        count = len(self.labels)
        if count > 32:  # cells are too small for numbers
            return
        size = 12 if count <= 8 else 10 if count <= 20 else 8
        for (i, j), number in np.ndenumerate(self.matrix):
            if number or i == j:
                colour = "white" if shares[i, j] > 0.3 else "#222222"
                ax.text(j, i, f"{number:,}", ha="center", va="center", color=colour, fontsize=size)


class ResidualDisplay(Display):
    """Residuals (true − predicted) against predictions, and predictions against true values.

    In the left panel a good regression is a band around zero without structure; the dashed line is
    the mean residual of samples with similar predictions.

    Parameters
    ----------
    target, predicted : float arrays
    epsilon : float
        Half the width of the tube; 0 draws none.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.report import ResidualDisplay
    >>> true = np.linspace(0.0, 1.0, 50)
    >>> display = ResidualDisplay.from_predictions(true, 0.9 * true + 0.05, epsilon=0.02)
    >>> [ax.get_ylabel() for ax in display.ax_]
    ['true − predicted', 'predicted']
    """

    panels = (1, 2)
    size = (9.6, 4.4)

    def __init__(self, *, target: np.ndarray, predicted: np.ndarray, epsilon: float = 0.0) -> None:
        self.target, self.predicted, self.epsilon = target, predicted, epsilon
        self.residuals = target - predicted

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> ResidualDisplay:
        """Plot for a fitted regressor.

        Parameters
        ----------
        estimator : regressor
        X, y : samples and targets
        ax : two Axes, optional
        """
        epsilon = float(getattr(estimator, "epsilon_", getattr(estimator, "epsilon", 0.0)))
        return cls.from_predictions(y, estimator.predict(X), epsilon=epsilon, ax=ax)

    @classmethod
    def from_predictions(
        cls, target: Any, predicted: Any, *, epsilon: float = 0.0, ax: Any = None
    ) -> ResidualDisplay:
        """Plot for values.

        Parameters
        ----------
        target, predicted : float arrays
        epsilon : float
        ax : two Axes, optional
        """
        pair = {"target": np.asarray(target, float), "predicted": np.asarray(predicted, float)}
        return cls(**pair, epsilon=epsilon).plot(ax)

    def _draw(self, ax: Any) -> None:
        left, right = np.ravel(ax)
        size = 22 if self.target.size < 400 else 8
        style = {"color": BLUE, "s": size, "alpha": 0.6, "linewidths": 0}
        self._draw_residuals(left, style)
        self._draw_values(right, style)

    def _draw_residuals(self, ax: Any, style: dict[str, Any]) -> None:
        if self.epsilon > 0:
            name = f"tube, ±{self.epsilon:.3g}"
            ax.axhspan(
                -self.epsilon, self.epsilon, color=GREEN, alpha=0.18, linewidth=0, label=name
            )
        ax.axhline(0.0, color=GREY, linestyle=":", linewidth=1.4)
        ax.scatter(self.predicted, self.residuals, **style)
        parts = np.array_split(np.argsort(self.predicted, kind="stable"), 10)
        if self.predicted.size >= 5 * len(parts):
            middle = [self.predicted[part].mean() for part in parts]
            mean = [self.residuals[part].mean() for part in parts]
            ax.plot(middle, mean, color=VERMILLION, linestyle="--", label="mean residual")
        limit = 1.08 * float(np.abs(self.residuals).max(initial=self.epsilon)) or 1.0
        ax.set(xlabel="predicted", ylabel="true − predicted", title="residuals")
        ax.set_ylim(-limit, limit)
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=10)

    def _draw_values(self, ax: Any, style: dict[str, Any]) -> None:
        both = np.concatenate([self.target, self.predicted])
        low, high = float(both.min()), float(both.max())
        pad = 0.04 * (high - low or 1.0)
        line = np.array([low - pad, high + pad])
        ax.plot(line, line, color=GREY, linestyle=":", linewidth=1.4)
        ax.scatter(self.target, self.predicted, **style)
        ax.set(xlabel="true", ylabel="predicted", title="predicted against true")
        ax.set(xlim=line, ylim=line, aspect="equal")
