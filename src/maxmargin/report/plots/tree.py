"""Decision trees: the partition of the plane into cuboids, and the tree itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...estimators.tree import LEAF, Tree, by_level, labels_of, names_of
from .display import BLACK, GREY, Display, colour_of, dense, marker_of, thinned


@dataclass(frozen=True)
class Region:
    """A rectangle of the plane and the leaf that it belongs to."""

    leaf: int
    left: float
    bottom: float
    right: float
    top: float


def regions_of(
    tree: Tree, features: tuple[int, int], point: np.ndarray, low: np.ndarray, high: np.ndarray
) -> list[Region]:
    """The rectangles into which a tree divides low … high, with other features as in `point`."""
    found: list[Region] = []
    waiting = [(0, np.array([*low, *high], dtype=np.float64))]
    while waiting:
        node, box = waiting.pop()
        children = (int(tree.children_left[node]), int(tree.children_right[node]))
        if children[0] == LEAF:
            found.append(Region(node, *box.tolist()))
            continue
        f, threshold = tree.feature[node], tree.threshold[node]
        if f not in features:
            waiting.append((children[0] if point[f] <= threshold else children[1], box))
            continue
        axis = features.index(int(f))
        if box[axis] <= threshold:
            below = box.copy()
            below[2 + axis] = min(box[2 + axis], threshold)
            waiting.append((children[0], below))
        if box[2 + axis] > threshold:
            above = box.copy()
            above[axis] = max(box[axis], threshold)
            waiting.append((children[1], above))
    return found


class PartitionDisplay(Display):
    """The rectangles into which a decision tree divides the plane, and the samples in them.

    Parameters
    ----------
    regions : list of Region
    answers : float array of shape (n_nodes,)
        The class (as a number) or the value of each node.
    points : float array of shape (n_samples, 2)
    targets : float array of shape (n_samples,)
        Classes as numbers, or values.
    labels : list of str
        Names of the classes; empty for regression.
    names : tuple of two str
        Of the features that are shown.

    Examples
    --------
    >>> from maxmargin import DecisionTreeClassifier
    >>> from maxmargin.data import two_blobs
    >>> from maxmargin.report import PartitionDisplay
    >>> X, y = two_blobs(100, random_state=0)
    >>> model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    >>> display = PartitionDisplay.from_estimator(model, X, y)
    >>> len(display.regions) == model.get_n_leaves()
    True
    """

    def __init__(
        self,
        *,
        regions: list[Region],
        answers: np.ndarray,
        points: np.ndarray,
        targets: np.ndarray,
        labels: list[str],
        names: tuple[str, str],
    ) -> None:
        self.regions, self.answers = regions, answers
        self.points, self.targets = points, targets
        self.labels, self.names = labels, names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: tuple[int, int] = (0, 1),
        feature_names: Any = None,
        ax: Any = None,
    ) -> Any:
        """Plot a fitted tree over samples.

        Parameters
        ----------
        estimator : DecisionTreeClassifier or DecisionTreeRegressor
        X : array or sparse matrix of shape (samples, features)
        y : array of shape (samples,)
        features : tuple of two int
            The features to show; others are at their mean.
        feature_names : list of str, optional
        ax : Axes, optional
        """
        check_is_fitted(estimator)
        inputs = dense(X)
        i, j = features
        width = inputs.shape[1]
        if not (0 <= i < width and 0 <= j < width and i != j):
            raise ValueError(
                f"features must be two different numbers below {width}, got {features}"
            )
        names, labels = names_of(estimator, feature_names, None)
        points = inputs[:, [i, j]]
        low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
        pad = 0.05 * np.where(high > low, high - low, 1.0)
        tree = estimator.tree_
        with np.errstate(invalid="ignore"):
            middle = np.nanmean(inputs, axis=0)
        values = tree.value[:, 0]
        targets = np.asarray(y)
        if labels:
            places = {label: place for place, label in enumerate(estimator.classes_.tolist())}
            targets = np.array([places.get(label, -1) for label in targets.tolist()])
        return cls(
            regions=regions_of(tree, (i, j), middle, low - pad, high + pad),
            answers=values.argmax(axis=1) if labels else values[:, 0],
            points=points,
            targets=targets,
            labels=labels,
            names=(names[i], names[j]),
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        from matplotlib import colormaps
        from matplotlib.colors import Normalize
        from matplotlib.patches import Rectangle

        scale = Normalize(self.targets.min(), self.targets.max())
        shades = colormaps["viridis"]
        for region in self.regions:
            answer = self.answers[region.leaf]
            colour = colour_of(int(answer)) if self.labels else shades(scale(answer))
            corner = (region.left, region.bottom)
            size = (region.right - region.left, region.top - region.bottom)
            strength = 0.25 if self.labels else 0.6
            ax.add_patch(Rectangle(corner, *size, facecolor=colour, alpha=strength, linewidth=0))
            ax.add_patch(Rectangle(corner, *size, fill=False, edgecolor=BLACK, linewidth=0.8))
        shown = thinned(len(self.points))
        style = {"edgecolors": "white", "linewidths": 0.4, "s": 28 if shown.size < 300 else 14}
        for code, label in enumerate(self.labels):
            rows = shown[self.targets[shown] == code]
            looks = {"color": colour_of(code), "marker": marker_of(code)}
            ax.scatter(*self.points[rows].T, label=label, **looks, **style)
        if self.labels:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=6, fontsize=10)
        else:
            dots = ax.scatter(
                *self.points[shown].T, c=self.targets[shown], cmap=shades, norm=scale, **style
            )
            self.figure_.colorbar(dots, ax=ax, label="target")
        edges = [(r.left, r.bottom, r.right, r.top) for r in self.regions]
        low, high = np.min(edges, axis=0), np.max(edges, axis=0)
        ax.set_xlim(low[0], high[2])
        ax.set_ylim(low[1], high[3])
        ax.set_xlabel(self.names[0])
        ax.set_ylabel(self.names[1])
        ax.set_title(f"{len({region.leaf for region in self.regions})} leaves in the plane")
        ax.grid(False)


class TreeDisplay(Display):
    """A drawing of a decision tree: rules in the nodes, predictions in the leaves.

    Parameters
    ----------
    tree : Tree
    depth : int
        Deeper nodes are not drawn.
    features, labels : list of str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import DecisionTreeClassifier
    >>> from maxmargin.report import TreeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = TreeDisplay.from_estimator(DecisionTreeClassifier(max_depth=2).fit(X, y))
    >>> display.ax_.get_title()
    'decision tree: 3 leaves, depth 2'
    """

    def __init__(self, *, tree: Tree, depth: int, features: list[str], labels: list[str]) -> None:
        self.tree, self.depth = tree, depth
        self.features, self.labels = features, labels
        self.places = self._places()
        across = max(x for x, _ in self.places.values()) + 1.0
        self.size = (max(6.4, 1.5 * across), max(3.0, 1.25 * (self.shown_depth + 1)))

    @property
    def shown_depth(self) -> int:
        return int(max(level for _, level in self.places.values()))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_depth: int | None = None,
        feature_names: Any = None,
        class_names: Any = None,
        ax: Any = None,
    ) -> Any:
        """Draw a fitted tree.

        Parameters
        ----------
        estimator : DecisionTreeClassifier or DecisionTreeRegressor
        max_depth : int, optional
            Deeper nodes are not drawn; by default the tree is cut where it would have more than
            32 leaves.
        feature_names, class_names : list of str, optional
        ax : Axes, optional
        """
        check_is_fitted(estimator)
        features, labels = names_of(estimator, feature_names, class_names)
        tree = estimator.tree_
        if max_depth is None:
            levels = by_level(tree.children_left, tree.children_right)
            ends = np.cumsum([int((tree.children_left[nodes] == LEAF).sum()) for nodes in levels])
            wide = [ends[k - 1] + len(nodes) if k else 1 for k, nodes in enumerate(levels)]
            max_depth = max(k for k, count in enumerate(wide) if k < 2 or count <= 32)
        return cls(tree=tree, depth=max_depth, features=features, labels=labels).plot(ax)

    def _places(self) -> dict[int, tuple[float, int]]:
        """Positions of nodes: leaves side by side, parents above the middle of their children."""
        tree, places = self.tree, dict[int, tuple[float, int]]()
        levels = by_level(tree.children_left, tree.children_right)[: self.depth + 1]
        across = 0
        stack = [(0, 0)]
        while stack:
            node, level = stack.pop()
            if tree.children_left[node] == LEAF or level == self.depth:
                places[node] = (float(across), level)
                across += 1
            else:
                stack.append((int(tree.children_right[node]), level + 1))
                stack.append((int(tree.children_left[node]), level + 1))
        for level in reversed(range(len(levels))):
            for node in levels[level].tolist():
                if node not in places:
                    children = (int(tree.children_left[node]), int(tree.children_right[node]))
                    middle = (places[children[0]][0] + places[children[1]][0]) / 2.0
                    places[node] = (middle, level)
        return places

    def _draw(self, ax: Any) -> None:
        from matplotlib.colors import to_rgb

        tree = self.tree
        for node, (x, level) in self.places.items():
            for child, word in (
                (tree.children_left[node], "yes"),
                (tree.children_right[node], "no"),
            ):
                if int(child) in self.places:
                    other = self.places[int(child)]
                    ax.plot([x, other[0]], [-level, -other[1]], color=GREY, linewidth=1.2, zorder=1)
                    middle = ((x + other[0]) / 2.0, -(level + other[1]) / 2.0)
                    ax.text(*middle, word, fontsize=7, ha="center", color=GREY)
            lines = labels_of(tree, node, self.features, self.labels)
            leaf = tree.children_left[node] == LEAF
            hidden = not leaf and int(tree.children_left[node]) not in self.places
            colour: tuple[float, ...] = (1.0, 1.0, 1.0)
            if leaf and self.labels:
                own = np.array(to_rgb(colour_of(int(tree.value[node, 0].argmax()))))
                colour = tuple((0.35 * own + 0.65).tolist())
            box = {
                "boxstyle": "round,pad=0.35",
                "facecolor": colour,
                "edgecolor": BLACK,
                "linewidth": 0.8,
            }
            text = "\n".join([*lines[:1], *lines[1].split(", "), *(["…"] if hidden else [])])
            ax.text(x, -level, text, ha="center", va="center", fontsize=8, bbox=box, zorder=2)
        ax.set_xlim(-0.7, max(x for x, _ in self.places.values()) + 0.7)
        ax.set_ylim(-self.shown_depth - 0.6, 0.6)
        ax.set_axis_off()
        ax.set_title(f"decision tree: {tree.n_leaves} leaves, depth {tree.max_depth}")
