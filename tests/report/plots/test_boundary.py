"""What a picture of a decision boundary shows, for estimators whose decision is known."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.colors import to_hex
from matplotlib.contour import QuadContourSet
from sklearn.base import BaseEstimator

from maxmargin.report import DecisionBoundaryDisplay
from maxmargin.report.plots import boundary
from maxmargin.report.plots.boundary import plane_of
from maxmargin.report.plots.display import colour_of, thinned

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-2.0, 2.0, size=(40, 2))


class Known(BaseEstimator):
    """Classes in stripes of the first feature, or a decision that is that feature."""

    def __init__(self, classes=(), edges=(), support=()):
        self.classes, self.edges, self.support = classes, edges, support
        self.n_features_in_ = 2
        self.support_ = np.array(support, dtype=int)
        if len(classes):
            self.classes_ = np.array(classes)

    def fit(self, *_):
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        first = np.asarray(X)[:, 0]
        if not len(self.classes):
            return np.where(first > 0, 1, -1)
        return self.classes_[np.searchsorted(self.edges, first)]


TWO = Known(["a", "b"], [0.0], support=[3, 5, 8])
THREE = Known(["a", "b", "c"], [-0.5, 0.7], support=[0, 1])


@pytest.fixture
def drawn():
    shown = []

    def draw(*arguments, **options):
        shown.append(DecisionBoundaryDisplay.from_estimator(*arguments, **options))
        return shown[-1]

    yield draw
    for display in shown:
        pyplot.close(display.figure_)


def contours(display):
    sets = [one for one in display.ax_.collections if isinstance(one, QuadContourSet)]
    return [one for one in sets if one.filled], [one for one in sets if not one.filled]


def scatters(display):
    found = [one for one in display.ax_.collections if not isinstance(one, QuadContourSet)]
    return {one.get_label(): one for one in found}


def test_regions_have_the_colours_of_their_classes(drawn):
    display = drawn(THREE, X, THREE.predict(X))
    (filled,), (lines,) = contours(display)
    for place, middle in enumerate([-1.5, 0.1, 1.5]):
        assert to_hex(filled.get_facecolor()[place]).upper() == colour_of(place)
        inside = [path.contains_point((middle, 0.0)) for path in filled.get_paths()]
        assert np.flatnonzero(inside).tolist() == [place]
    borders = np.concatenate([path.vertices for path in lines.get_paths()])[:, 0]
    step = display.horizontal[0, 1] - display.horizontal[0, 0]
    assert np.abs(borders[:, None] - [-0.5, 0.7]).min(axis=1).max() <= step
    assert np.abs(borders[:, None] - [-0.5, 0.7]).min(axis=0).max() <= step
    assert display.ax_.get_title() == "decision regions and support vectors"
    assert display.horizontal.shape == (320, 320)


def test_lines_are_where_the_decision_is_zero_and_one(drawn):
    display = drawn(TWO, X, TWO.predict(X))
    (filled,), lines = contours(display)
    places = {float(one.levels[0]): one.get_paths()[0].vertices[:, 0] for one in lines}
    assert sorted(places) == [-1.0, 0.0, 1.0]
    for level, horizontal in places.items():
        np.testing.assert_allclose(horizontal, level, atol=1e-9)
    widths = {float(one.levels[0]): one.get_linewidth()[0] for one in lines}
    assert widths[0.0] > widths[1.0] == widths[-1.0]
    dashes = {float(one.levels[0]): one.get_linestyle()[0][1] for one in lines}
    assert dashes[0.0] is None
    assert dashes[1.0] is not None
    # White is where the decision is zero, and the ends have the colours of the classes.
    limit = np.abs(display.response).max()
    np.testing.assert_allclose(filled.levels[[0, 12, 24]], [-limit, 0.0, limit], atol=1e-12)
    left, right = (filled.get_facecolor()[k][:3] for k in (0, -1))
    assert left[2] > left[0]  # blue
    assert right[0] > right[2]  # vermillion
    assert display.ax_.get_title() == "decision boundary, margins and support vectors"
    assert display.response.shape == (160, 160)


@pytest.mark.parametrize(("factor", "limit"), [(0.1, 1.2), (100.0, 3.0)])
def test_colours_end_between_the_margins_and_three(drawn, factor, limit):
    class Steep(Known):
        def decision_function(self, X):
            return factor * np.asarray(X)[:, 0]

    display = drawn(Steep(["a", "b"], [0.0]), X)
    (filled,), lines = contours(display)
    assert filled.levels[[0, -1]].tolist() == [-limit, limit]
    assert len(lines) == (1 if factor < 1 else 3)
    assert display.ax_.get_title() == "decision boundary"


def test_points_have_the_places_and_the_classes_of_samples(drawn):
    y = np.array(["b", "a"])[(np.arange(40) % 3 == 0).astype(int)]
    y[7] = "never seen"
    found = scatters(drawn(TWO, X, y))
    assert list(found) == ["a", "b", "support vectors (3)"]
    for label in ("a", "b"):
        np.testing.assert_allclose(found[label].get_offsets(), X[y == label])
    np.testing.assert_allclose(found["support vectors (3)"].get_offsets(), X[[3, 5, 8]])
    assert to_hex(found["b"].get_facecolor()[0]).upper() == colour_of(1)
    assert found["support vectors (3)"].get_facecolor().size == 0
    predicted = scatters(drawn(TWO, X))
    np.testing.assert_allclose(predicted["a"].get_offsets(), X[X[:, 0] <= 0])


def test_rings_are_drawn_for_the_training_samples_only(drawn):
    few = drawn(Known(["a", "b"], [0.0], support=[2, 40]), X)
    assert not few.support.any()
    every = drawn(Known(["a", "b"], [0.0], support=[39]), X)
    assert every.support.tolist() == [False] * 39 + [True]


def test_the_grid_is_a_little_larger_than_the_samples(drawn):
    display = drawn(TWO, X)
    for k, grid in enumerate((display.horizontal, display.vertical)):
        low, high = X[:, k].min(), X[:, k].max()
        pad = 0.06 * (high - low)
        np.testing.assert_allclose([grid.min(), grid.max()], [low - pad, high + pad])
    flat = np.c_[X[:, 0], np.full(40, 2.0)]
    vertical = drawn(TWO, flat).vertical
    np.testing.assert_allclose([vertical.min(), vertical.max()], [1.94, 2.06])


def test_many_samples_are_shown_by_some_of_them(drawn, monkeypatch):
    monkeypatch.setattr(boundary, "thinned", lambda count: thinned(count, 10))
    found = scatters(drawn(TWO, X))
    shown = np.vstack([found[label].get_offsets() for label in ("a", "b")])
    assert len(shown) == 10 == len(np.unique(shown, axis=0))
    # Classes are drawn at any rate with those of them that are among the ten.
    assert {tuple(row) for row in shown} <= {tuple(row) for row in X}


def test_a_novelty_detector_has_an_inside_and_no_margins(drawn):
    display = drawn(Known(support=[1]), X)
    assert display.labels == ["outside", "inside"]
    assert display.codes.tolist() == (X[:, 0] > 0).astype(int).tolist()
    assert len(contours(display)[1]) == 1
    assert display.ax_.get_title() == "decision boundary and support vectors"


def test_names_of_many_classes_are_written_at_their_medians(drawn):
    names = list("abcdefghij")
    model = Known(names, np.linspace(-1.6, 1.6, 9), support=[0, 1])
    display = drawn(model, X)
    places = {text.get_text(): text.get_position() for text in display.ax_.texts}
    known = model.predict(X)
    assert sorted(places) == sorted(set(known))
    for name, place in places.items():
        np.testing.assert_allclose(place, np.median(X[known == name], axis=0))
    assert display.ax_.get_legend() is None
    assert not any("support" in label for label in scatters(display))
    assert display.ax_.get_title() == "decision regions"


@pytest.mark.parametrize(("classes", "columns"), [(3, 4), (4, 5), (5, 3), (8, 5)])
def test_a_legend_has_so_many_rows_that_it_fits(drawn, classes, columns):
    edges = np.linspace(-1.5, 1.5, classes - 1)
    display = drawn(Known(list("abcdefgh"[:classes]), edges, support=[1]), X)
    legend = display.ax_.get_legend()
    assert legend._ncols == columns
    assert [text.get_text() for text in legend.get_texts()][-1] == "support vectors (1)"


def test_axes_have_names(drawn):
    display = drawn(TWO, X)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x1", "x2")
    display = drawn(TWO, X, feature_names=["width", "height"])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("width", "height")
    with pytest.raises(ValueError, match="at least two features to show a plane, got 1"):
        drawn(TWO, X[:, :1])


def test_principal_axes_are_those_of_the_largest_variance():
    stretched = RANDOM.normal(size=(200, 3)) * [1.0, 9.0, 3.0] + 5.0
    plane = plane_of(stretched, None, "abc")
    np.testing.assert_allclose(plane.axes @ plane.axes.T, np.eye(2), atol=1e-12)
    assert np.abs(plane.axes[0]).argmax() == 1
    assert np.abs(plane.axes[1]).argmax() == 2
    np.testing.assert_allclose(plane.origin, stretched.mean(axis=0))
    variance = np.linalg.eigvalsh(np.cov(stretched.T))[::-1]
    shares = variance / variance.sum()
    expected = [f"principal axis {k + 1} ({shares[k]:.0%} of variance)" for k in range(2)]
    assert list(plane.names) == expected
    some = np.array([[0.5, -2.0], [1.0, 3.0]])
    np.testing.assert_allclose(plane.coordinates(plane.points(some)), some, atol=1e-12)


def test_features_may_come_in_any_order():
    some = RANDOM.normal(size=(9, 3))
    plane = plane_of(some, (1, 0), ["a", "b", "c"])
    assert plane.names == ("b", "a")
    np.testing.assert_allclose(plane.coordinates(some), some[:, [1, 0]])
    np.testing.assert_allclose(
        plane.points(np.array([[4.0, 5.0]])), [[5.0, 4.0, some[:, 2].mean()]]
    )


def test_one_sample_has_a_plane():
    plane = plane_of(np.array([[1.0, 2.0, 3.0]]), None, "abc")
    assert plane.names[1] == "principal axis 2 (0% of variance)"
    assert np.isfinite(plane.axes).all()
