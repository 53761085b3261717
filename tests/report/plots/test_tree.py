"""Plots of trees: rectangles tile the plane as the tree does, drawings show every node."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot

from maxmargin import DecisionTreeClassifier, DecisionTreeRegressor
from maxmargin.report import PartitionDisplay, TreeDisplay

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(150, 3))
LABELS = np.array(["low", "mid", "high"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)]


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_regions_tile_the_plane_and_have_the_answers_of_the_tree():
    model = DecisionTreeClassifier(max_depth=5).fit(X, LABELS)
    display = PartitionDisplay.from_estimator(model, X, LABELS, features=(1, 2))
    areas = [(r.right - r.left) * (r.top - r.bottom) for r in display.regions]
    low = np.min([(r.left, r.bottom) for r in display.regions], axis=0)
    high = np.max([(r.right, r.top) for r in display.regions], axis=0)
    assert sum(areas) == pytest.approx(np.prod(high - low))
    for region in display.regions:
        middle = X.mean(axis=0)
        middle[1:] = (region.left + region.right) / 2, (region.bottom + region.top) / 2
        assert model.apply(middle[None, :])[0] == region.leaf


def test_partition_of_two_features_shows_every_leaf():
    model = DecisionTreeRegressor(max_leaf_nodes=9).fit(X[:, :2], X[:, 0] * X[:, 1])
    display = PartitionDisplay.from_estimator(model, X[:, :2], X[:, 0] * X[:, 1])
    assert {region.leaf for region in display.regions} == set(model.apply(X[:, :2]))
    assert display.ax_.get_title() == "9 leaves in the plane"


def test_partition_refuses_features_that_do_not_exist():
    model = DecisionTreeClassifier(max_depth=1).fit(X, LABELS)
    with pytest.raises(ValueError, match="two different numbers below 3"):
        PartitionDisplay.from_estimator(model, X, LABELS, features=(1, 1))


def test_drawing_has_a_box_for_each_node_with_its_rule():
    model = DecisionTreeClassifier(max_depth=3).fit(X, LABELS)
    display = TreeDisplay.from_estimator(model, feature_names=["length", "width", "height"])
    assert len(display.places) == model.tree_.node_count
    texts = [text.get_text() for text in display.ax_.texts]
    root = f"length ≤ {model.tree_.threshold[0]:.4g}"
    assert any(text.startswith(root) for text in texts)
    # No two nodes of a level are closer than boxes side by side.
    for level in range(display.shown_depth + 1):
        across = sorted(x for x, depth in display.places.values() if depth == level)
        assert (np.diff(across) >= 1.0 - 1e-12).all()


def test_large_tree_is_drawn_as_deep_as_is_readable():
    model = DecisionTreeRegressor().fit(X, RANDOM.normal(size=150))
    display = TreeDisplay.from_estimator(model)
    assert display.shown_depth < model.get_depth()
    assert "…" in "".join(text.get_text() for text in display.ax_.texts)
    assert TreeDisplay.from_estimator(model, max_depth=1).shown_depth == 1


def test_single_leaf_is_drawn():
    model = DecisionTreeClassifier().fit(X[:2], ["a", "a"])
    assert len(TreeDisplay.from_estimator(model).places) == 1
    assert len(PartitionDisplay.from_estimator(model, X[:2], ["a", "a"]).regions) == 1
