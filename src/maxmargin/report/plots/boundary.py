"""The decision boundary, its margins and the support vectors, in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .display import BLACK, COLOURS, Display, colour_of, dense, marker_of, thinned

# Classes up to which each has a colour of its own; more are written into the picture.
MOST_NAMED = len(COLOURS)


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane origin + a·u + b·v that is drawn, and the names of its axes."""

    origin: np.ndarray
    axes: np.ndarray
    names: tuple[str, str]

    def points(self, coordinates: np.ndarray) -> np.ndarray:
        result: np.ndarray = self.origin + coordinates @ self.axes
        return result

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        result: np.ndarray = (X - self.origin) @ self.axes.T
        return result


def plane_of(X: np.ndarray, features: tuple[int, int] | None, names: Any) -> Plane:
    """Two features with the others at their mean, or the two directions of largest variance."""
    width = X.shape[1]
    mean = X.mean(axis=0)
    if features is None and width == 2:
        features = (0, 1)
    if features is not None:
        i, j = features
        if not (0 <= i < width and 0 <= j < width and i != j):
            raise ValueError(
                f"features must be two different numbers below {width}, got {features}"
            )
        origin = mean.copy()
        origin[[i, j]] = 0.0
        return Plane(origin, np.eye(width)[[i, j]], (str(names[i]), str(names[j])))
    centred = X - mean
    _, values, directions = np.linalg.svd(centred, full_matrices=False)
    shares = values**2 / max((values**2).sum(), np.finfo(float).tiny)
    axes = np.zeros((2, width))
    axes[: len(directions[:2])] = directions[:2]
    shares = np.append(shares, [0.0, 0.0])
    labels = tuple(f"principal axis {k + 1} ({shares[k]:.0%} of variance)" for k in range(2))
    return Plane(mean, axes, (labels[0], labels[1]))


class DecisionBoundaryDisplay(Display):
    """The decision boundary of a classifier or novelty detector.

    For two classes the colours show the decision function, lines its boundary (solid) and margins
    (dashed); for more, the colours show the class. Support vectors have a ring. Inputs with more
    than two features are shown in the plane of their two principal axes, through their mean:
    samples off the plane are projected onto it, so their colour may differ from the background.

    Parameters
    ----------
    plane : Plane
    horizontal, vertical : float arrays of shape (n, n)
        Coordinates of the grid in the plane.
    response : float array of shape (n, n)
        Decision values, or the number of the class for more than two.
    points : float array of shape (samples, 2)
    codes : int array of shape (samples,)
        The class of each point.
    support : bool array of shape (samples,)
    labels : list of str
    margins : bool
        Whether `response` are decision values with margins at ±1.
    exact : bool
        Whether the plane holds all of the inputs.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.report import DecisionBoundaryDisplay
    >>> X, y = two_blobs(100, random_state=0)
    >>> display = DecisionBoundaryDisplay.from_estimator(SVC().fit(X, y), X, y)
    >>> display.ax_.get_title()
    'decision boundary, margins and support vectors'
    """

    def __init__(
        self,
        *,
        plane: Plane,
        horizontal: np.ndarray,
        vertical: np.ndarray,
        response: np.ndarray,
        points: np.ndarray,
        codes: np.ndarray,
        support: np.ndarray,
        labels: list[str],
        margins: bool,
        exact: bool,
    ) -> None:
        self.plane, self.horizontal, self.vertical = plane, horizontal, vertical
        self.response, self.points, self.codes = response, points, codes
        self.support, self.labels = support, labels
        self.margins, self.exact = margins, exact

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: tuple[int, int] | None = None,
        feature_names: Any = None,
        ax: Any = None,
    ) -> DecisionBoundaryDisplay:
        """Plot a fitted estimator over its samples.

        Parameters
        ----------
        estimator : classifier or OneClassSVM
        X : array or sparse matrix of shape (samples, features)
            Its training samples; rings are drawn for those in ``estimator.support_``.
        y : array of shape (samples,), optional
            Labels; by default the predictions of the estimator.
        features : tuple of two int, optional
            Show these, with the others at their mean.
        feature_names : list of str, optional
        ax : Axes, optional
        """
        check_is_fitted(estimator)
        inputs = dense(X)
        width = inputs.shape[1]
        if width < 2:
            raise ValueError(f"X must have at least two features to show a plane, got {width}")
        names = feature_names
        if names is None:
            names = getattr(estimator, "feature_names_in_", [f"x{i + 1}" for i in range(width)])
        plane = plane_of(inputs, features, names)
        points = plane.coordinates(inputs)
        low, high = points.min(axis=0), points.max(axis=0)
        pad = 0.06 * np.where(high > low, high - low, 1.0)
        classes = getattr(estimator, "classes_", np.array([-1, 1]))
        margins = classes.size == 2
        # Margins are contours and interpolated; borders between classes are not.
        count = 160 if margins else 320
        sides = [np.linspace(low[k] - pad[k], high[k] + pad[k], count) for k in range(2)]
        horizontal, vertical = np.meshgrid(*sides)
        ground = plane.points(np.column_stack([horizontal.ravel(), vertical.ravel()]))
        values = estimator.decision_function(ground) if margins else estimator.predict(ground)
        places = {label: place for place, label in enumerate(classes.tolist())}
        if not margins:
            values = np.array([places[label] for label in values.tolist()], dtype=float)
        known = estimator.predict(X) if y is None else np.asarray(y)
        codes = np.array([places.get(label, -1) for label in known.tolist()])
        support = np.zeros(len(points), dtype=bool)
        members = getattr(estimator, "support_", None)
        if members is not None and len(members) and max(members) < len(points):
            support[members] = True
        texts = [str(label) for label in classes]
        if not hasattr(estimator, "classes_"):
            texts = ["outside", "inside"]
            codes = np.where(estimator.predict(X) > 0, 1, 0)
        return cls(
            plane=plane,
            horizontal=horizontal,
            vertical=vertical,
            response=np.asarray(values, dtype=float).reshape(horizontal.shape),
            points=points,
            codes=codes,
            support=support,
            labels=texts,
            margins=margins,
            exact=width == 2,
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        (self._draw_decision if self.margins else self._draw_classes)(ax)
        self._draw_points(ax)
        ax.set_xlabel(self.plane.names[0])
        ax.set_ylabel(self.plane.names[1])
        what = "decision boundary" if len(self.labels) < 3 else "decision regions"
        if self.support.any() and len(self.labels) <= MOST_NAMED:
            what += ", margins" * self._has_margins() + " and support vectors"
        ax.set_title(what if self.exact else f"{what}, in a plane")
        ax.grid(False)

    def _draw_decision(self, ax: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        limit = float(np.abs(self.response).max()) or 1.0
        if self._has_margins():
            limit = float(np.clip(limit, 1.2, 3.0))
        ends = (colour_of(0), "#FFFFFF", colour_of(1))
        colours = LinearSegmentedColormap.from_list("sides", ends)
        ground = (self.horizontal, self.vertical)
        levels = np.linspace(-limit, limit, 25)
        clipped = np.clip(self.response, -limit, limit)
        ax.contourf(*ground, clipped, levels=levels, cmap=colours, alpha=0.55)
        kinds = [(0.0, "-", 2.2)]
        if self._has_margins():
            kinds += [(-1.0, "--", 1.3), (1.0, "--", 1.3)]
        for level, style, width in kinds:
            if self.response.min() < level < self.response.max():
                lines = {"levels": [level], "linestyles": [style], "linewidths": [width]}
                ax.contour(*ground, self.response, colors=BLACK, **lines)

    def _has_margins(self) -> bool:
        """A novelty detector has no unit of its decision function."""
        return self.margins and self.labels != ["outside", "inside"]

    def _draw_classes(self, ax: Any) -> None:
        from matplotlib.colors import ListedColormap

        colours = ListedColormap([colour_of(place) for place in range(len(self.labels))])
        levels = np.arange(len(self.labels) + 1) - 0.5
        ground = (self.horizontal, self.vertical)
        ax.contourf(*ground, self.response, levels=levels, cmap=colours, alpha=0.25)
        ax.contour(*ground, self.response, levels=levels[1:-1], colors=BLACK, linewidths=1.2)

    def _draw_points(self, ax: Any) -> None:
        shown = thinned(len(self.points))
        size = 28 if shown.size < 300 else 14
        for place, label in enumerate(self.labels):
            rows = shown[self.codes[shown] == place]
            style = {"color": colour_of(place), "marker": marker_of(place), "s": size}
            ax.scatter(
                *self.points[rows].T, label=label, edgecolors="white", linewidths=0.4, **style
            )
        rings = shown[self.support[shown]]
        many = len(self.labels) > MOST_NAMED
        if many:
            self._write_names(ax)
        if rings.size and not many:
            name = f"support vectors ({self.support.sum():,})"
            style = {"facecolors": "none", "edgecolors": BLACK, "linewidths": 0.9}
            ax.scatter(*self.points[rings].T, s=2.6 * size, label=name, **style)
        if many:
            return
        rows = 1 if len(self.labels) < 4 else -(-len(self.labels) // 4)
        ax.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.16),
            ncols=-(-(len(self.labels) + 1) // rows),
            fontsize=10,
            handletextpad=0.2,
            columnspacing=1.2,
        )

    def _write_names(self, ax: Any) -> None:
        """The name of each class at the median of its points."""
        from matplotlib.patheffects import withStroke

        halo = [withStroke(linewidth=3.5, foreground="white")]
        for place, label in enumerate(self.labels):
            own = self.points[self.codes == place]
            if own.size:
                style = {"ha": "center", "va": "center", "fontsize": 14, "fontweight": "bold"}
                ax.text(*np.median(own, axis=0), label, path_effects=halo, **style)
