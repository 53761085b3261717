"""The support vectors of a machine on images, as images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..plots.display import Display, colour_of, dense


class SupportVectorDisplay(Display):
    """Images of the support vectors with the largest coefficients, framed by class.

    The number below an image is the sum of the absolute values of its coefficients α, its influence
    on the machine. Samples at the bound C are often mislabelled or hard to read.

    Parameters
    ----------
    images : float array of shape (count, height, width)
    weights : float array of shape (count,)
    codes : int array of shape (count,)
        The class of each image.
    labels : list of str
    total : int
        Support vectors of the machine.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from maxmargin import SVC
    >>> from maxmargin.report import SupportVectorDisplay
    >>> X, y = load_digits(n_class=2, return_X_y=True)
    >>> display = SupportVectorDisplay.from_estimator(SVC().fit(X, y), X, y, most=12)
    >>> display.images.shape
    (12, 8, 8)
    """

    def __init__(
        self,
        *,
        images: np.ndarray,
        weights: np.ndarray,
        codes: np.ndarray,
        labels: list[str],
        total: int,
    ) -> None:
        self.images, self.weights, self.codes = images, weights, codes
        self.labels, self.total = labels, total
        across = min(8, max(1, len(images)))
        self.panels = (-(-len(images) // across), across)
        self.size = (1.15 * across, 1.45 * self.panels[0] + 0.7)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        shape: tuple[int, int] | None = None,
        most: int = 24,
        ax: Any = None,
    ) -> SupportVectorDisplay:
        """Plot the support vectors of a fitted machine.

        Parameters
        ----------
        estimator : estimator with `support_` and `dual_coef_`
        X, y : its training samples and their labels
        shape : tuple of two int, optional
            Height and width of an image; a square by default.
        most : int
            Images shown at most.
        ax : array of Axes, optional
        """
        inputs = dense(X)
        width = inputs.shape[1]
        side = math.isqrt(width)
        if shape is None and side * side != width:
            raise ValueError(f"shape must be given: {width} features are not a square image")
        shape = (side, side) if shape is None else shape
        if shape[0] * shape[1] != width:
            raise ValueError(f"shape must have {width} pixels, got {shape[0]} × {shape[1]}")
        weights = np.abs(dense(estimator.dual_coef_)).sum(axis=0)
        order = np.argsort(-weights, kind="stable")[:most]
        classes, codes = np.unique(y, return_inverse=True)
        chosen = np.asarray(estimator.support_)[order]
        return cls(
            images=inputs[chosen].reshape(-1, *shape),
            weights=weights[order],
            codes=codes[chosen],
            labels=[str(label) for label in classes],
            total=len(estimator.support_),
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        axes = np.ravel(ax)
        for panel, image, weight, code in zip(axes, self.images, self.weights, self.codes):
            panel.imshow(image, cmap="gray_r", interpolation="nearest")
            panel.set_title(self.labels[code], pad=2, fontsize=12)
            panel.set_xlabel(f"{weight:.2g}", fontsize=10, labelpad=2)
            for side in panel.spines.values():
                side.set(visible=True, color=colour_of(code), linewidth=2.5)
            panel.set(xticks=[], yticks=[])
            panel.grid(False)
        for panel in axes[len(self.images) :]:
            panel.axis("off")
        shown = f"{len(self.images)} of {self.total:,} support vectors, largest |α| first"
        self.figure_.suptitle(shown, fontsize=13)
