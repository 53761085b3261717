"""The Gram matrix as a heat map, ordered by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots.display import BLACK, Display


class GramDisplay(Display):
    """Kernel values of all pairs of samples, class by class.

    A kernel that suits the labels is bright in the squares along the diagonal and dark elsewhere.
    Inside a class, samples are ordered by their mean similarity to it.

    Parameters
    ----------
    matrix : float array of shape (samples, samples)
        Ordered by class.
    sizes : list of int
        Samples of each class.
    labels : list of str
    alignment : float or None
        Kernel target alignment of the centred matrix.
    name : str
        Of the kernel.

    Examples
    --------
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.kernels import Gaussian
    >>> from maxmargin.report import GramDisplay
    >>> X, y = two_blobs(60, random_state=0)
    >>> GramDisplay.from_kernel(Gaussian(0.5), X, y).matrix.shape
    (60, 60)
    """

    size = (5.8, 4.8)

    def __init__(
        self,
        *,
        matrix: np.ndarray,
        sizes: list[int],
        labels: list[str],
        alignment: float | None = None,
        name: str = "",
    ) -> None:
        self.matrix, self.sizes, self.labels = matrix, sizes, labels
        self.alignment, self.name = alignment, name

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, y: Any, *, ax: Any = None) -> GramDisplay:
        """Plot the Gram matrix of samples; more than 600 are thinned evenly in every class.

        Parameters
        ----------
        kernel : Kernel
        X : inputs of the kernel
        y : array of shape (samples,)
            Labels.
        ax : Axes, optional
        """
        classes, codes = np.unique(y, return_inverse=True)
        stride = -(-codes.size // 600)
        rows = [np.flatnonzero(codes == code)[::stride] for code in range(classes.size)]
        chosen = np.concatenate(rows)
        inputs = X[chosen] if hasattr(X, "shape") else [X[i] for i in chosen]
        matrix, own = np.asarray(kernel(inputs), dtype=np.float64), codes[chosen]
        mean = np.array([matrix[i, own == own[i]].mean() for i in range(own.size)])
        order = np.lexsort((-mean, own))
        return cls(
            matrix=matrix[np.ix_(order, order)],
            sizes=[part.size for part in rows],
            labels=[str(label) for label in classes],
            alignment=_alignment(matrix, own),
            name=type(kernel).__name__,
        ).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> GramDisplay:
        """Plot the Gram matrix of samples under the kernel of a fitted machine.

        Parameters
        ----------
        estimator : estimator with `kernel_`
        X, y : samples and labels
        ax : Axes, optional
        """
        return cls.from_kernel(estimator.kernel_, X, y, ax=ax)

    def _draw(self, ax: Any) -> None:
        shown = ax.imshow(self.matrix, cmap="viridis", interpolation="nearest")
        edges = np.cumsum(self.sizes)
        for edge in edges[:-1] - 0.5:
            ax.axhline(edge, color="white", linewidth=1.4)
            ax.axvline(edge, color="white", linewidth=1.4)
        middle = edges - 0.5 * np.array(self.sizes) - 0.5
        wide = max(map(len, self.labels), default=0) > 4
        ax.set_xticks(middle, self.labels, rotation=45 if wide else 0)
        ax.set_yticks(middle, self.labels)
        ax.set(xlabel="samples, by class", ylabel="samples, by class")
        aligned = f", alignment {self.alignment:.2f}" if self.alignment is not None else ""
        ax.set_title(f"{self.name} kernel{aligned}")
        ax.grid(False)
        bar = ax.figure.colorbar(shown, ax=ax)
        bar.set_label("kernel value", color=BLACK)


def _alignment(matrix: np.ndarray, codes: np.ndarray) -> float | None:
    """Cosine of the angle between the centred matrix and that of equal labels."""
    equal = (codes[:, None] == codes).astype(float)
    centred = [_centred(part) for part in (matrix, equal)]
    size = np.linalg.norm(centred[0]) * np.linalg.norm(centred[1])
    return float(np.sum(centred[0] * centred[1]) / size) if size > 0 else None


def _centred(matrix: np.ndarray) -> np.ndarray:
    mean = matrix.mean(axis=0)
    result: np.ndarray = matrix - mean - mean[:, None] + mean.mean()
    return result
