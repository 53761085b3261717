"""Common parts of all plots: colours for every kind of colour vision, axes, and saving."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

# Okabe and Ito's colours, distinguishable with every kind of colour vision.
BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
PURPLE, SKY, YELLOW, BLACK, GREY = "#CC79A7", "#56B4E9", "#F0E442", "#000000", "#8C8C8C"
COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, YELLOW, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLE: dict[Any, object] = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 150,
}


class Display:
    """A plot, created and drawn by ``from_estimator`` and similar constructors.

    Attributes
    ----------
    ax_ : Axes or array of Axes
    figure_ : Figure
    """

    panels: tuple[int, int] = (1, 1)
    size: tuple[float, float] = (6.4, 4.4)

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        with styled() as pyplot:
            if ax is None:
                self.figure_, ax = pyplot.subplots(
                    *self.panels, figsize=self.size, layout="constrained"
                )
            else:
                self.figure_ = np.ravel(ax)[0].figure
            self.ax_ = ax
            self._draw(ax)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file and close it."""
        with styled() as pyplot:
            self.figure_.savefig(path)
            pyplot.close(self.figure_)

    def image(self, format: str = "png") -> bytes:
        """The figure as a picture; the figure is closed."""
        stream = io.BytesIO()
        with styled() as pyplot:
            self.figure_.savefig(stream, format=format)
            pyplot.close(self.figure_)
        return stream.getvalue()


@contextmanager
def styled() -> Iterator[Any]:
    """pyplot, with the style of this library inside."""
    try:
        import matplotlib
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib, which is not installed: pip install matplotlib"
        ) from error
    with matplotlib.rc_context(STYLE):
        yield pyplot


def colour_of(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def marker_of(place: int) -> str:
    return (
        MARKERS[place // len(COLOURS) % len(MARKERS)] if place >= len(COLOURS) else MARKERS[place]
    )


def thinned(count: int, most: int = 2000) -> np.ndarray:
    """The numbers of the samples to draw: all, or a random choice of `most`."""
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).permutation(count)[:most])


def dense(X: Any) -> np.ndarray:
    """Inputs as a dense array."""
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
