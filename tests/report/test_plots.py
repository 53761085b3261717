"""Plots: each is drawn, says what it shows, and fits into its figure."""

import io

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.image import imread

from maxmargin import SVC, SVR, AutoSVC, LinearSVC, OneClassSVM, OnlineSVC, SVCSearch
from maxmargin.data import chess_board, stretched_chess_board, two_blobs
from maxmargin.dual import hinge
from maxmargin.kernels import Gaussian, Linear
from maxmargin.report import (
    CalibrationDisplay,
    CertificateDisplay,
    ConfusionDisplay,
    ConvergenceDisplay,
    DecisionBoundaryDisplay,
    GramDisplay,
    LabelCurveDisplay,
    MetricDisplay,
    PairPathDisplay,
    PlanningDisplay,
    PrecisionRecallDisplay,
    ResidualDisplay,
    RocDisplay,
    ShrinkingDisplay,
    SupportVectorDisplay,
    TuningDisplay,
)
from maxmargin.report.plots.display import COLOURS
from maxmargin.report.plots.solver import epochs_that_differ
from maxmargin.solvers import solve

X, Y = two_blobs(120, random_state=0)
CODES = (X[:, 0] > X[:, 0].mean()).astype(int) + (X[:, 1] > X[:, 1].mean())
THREE = np.array(["one", "two", "three"])[CODES]
MODEL = SVC(probability=True).fit(X[:60], Y[:60])
BOARD = chess_board(150, random_state=0)


def searched(**options):
    return SVCSearch(**options).fit(*BOARD)


def planned():
    inputs, labels = chess_board(200, random_state=0)
    return PlanningDisplay.from_problem(
        hinge(labels.astype(float), 1e3).problem, Gaussian(0.5).bind(inputs)
    )


def stretched():
    inputs, labels = stretched_chess_board(150, random_state=0)
    model = AutoSVC(metric="full", strategy="kta").fit(inputs, labels)
    return MetricDisplay.from_estimator(model, inputs, labels)


N = np.arange(1, 20)
NAMES = np.repeat(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 8)
LETTERS = (
    np.random.default_rng(0).normal(size=(NAMES.size, 2))
    + 8.0 * np.c_[np.repeat(np.arange(26) % 6, 8), np.repeat(np.arange(26) // 6, 8)]
)
IMAGES = np.c_[X, X[:, ::-1]]
THREE_POINTS = hinge(np.array([1.0, 1.0, -1.0]), 2.0).problem
GRAM_OF_THREE = np.array([[1.0, 0.2, 0.6], [0.2, 1.0, 0.5], [0.6, 0.5, 1.0]])
PLOTS = {
    "boundary of two classes": lambda: DecisionBoundaryDisplay.from_estimator(
        SVC().fit(X, Y), X, Y
    ),
    "boundary of three classes": lambda: DecisionBoundaryDisplay.from_estimator(
        SVC().fit(X, THREE), X, THREE
    ),
    "boundary of a novelty detector": lambda: DecisionBoundaryDisplay.from_estimator(
        OneClassSVM(nu=0.2).fit(X), X
    ),
    "boundary in a plane": lambda: DecisionBoundaryDisplay.from_estimator(
        LinearSVC().fit(np.c_[X, X**2], Y), np.c_[X, X**2], Y
    ),
    "convergence": lambda: ConvergenceDisplay.from_estimator(SVC(C=1e4, gamma=2.0), *BOARD),
    "shrinking": lambda: ShrinkingDisplay.from_samples(X, Y),
    "shrinking in four dimensions": lambda: ShrinkingDisplay.from_samples(np.c_[X, X], Y),
    "planning": planned,
    "landscape": lambda: TuningDisplay.from_estimator(searched(strategy="grid")),
    "landscape and path": lambda: TuningDisplay.from_estimator(
        searched(strategy="likelihood", effort=0.02)
    ),
    "curves of C and gamma": lambda: TuningDisplay.from_estimator(searched()),
    "ROC": lambda: RocDisplay.from_estimator(MODEL, X[60:], Y[60:]),
    "precision and recall": lambda: PrecisionRecallDisplay.from_estimator(MODEL, X[60:], Y[60:]),
    "calibration": lambda: CalibrationDisplay.from_estimator(MODEL, X[60:], Y[60:]),
    "confusion": lambda: ConfusionDisplay.from_estimator(SVC().fit(X, THREE), X, THREE),
    "confusion of many": lambda: ConfusionDisplay.from_predictions(N, N[::-1]),
    "residuals": lambda: ResidualDisplay.from_estimator(SVR().fit(X, X[:, 0]), X, X[:, 0]),
    "label curve": lambda: LabelCurveDisplay.from_curves(
        {"margin": (N, 1 - 0.5 / N), "random": (N, 1 - 0.7 / N)}
    ),
    "metric": stretched,
    "boundary of 26 classes": lambda: DecisionBoundaryDisplay.from_estimator(
        SVC().fit(LETTERS, NAMES), LETTERS, NAMES
    ),
    "ROC of 26 classes": lambda: RocDisplay.from_estimator(
        SVC().fit(LETTERS, NAMES), LETTERS, NAMES
    ),
    "confusion of 26": lambda: ConfusionDisplay.from_predictions(NAMES, np.roll(NAMES, 3)),
    "convergence against steps": lambda: ConvergenceDisplay.from_estimator(
        SVC(C=1e4, gamma=2.0), *BOARD, against="steps"
    ),
    "certificate": lambda: CertificateDisplay.from_estimator(SVC(C=100.0, gamma=2.0), *BOARD),
    "Gram matrix": lambda: GramDisplay.from_kernel(Gaussian(0.5), X, Y),
    "path of pairs": lambda: PairPathDisplay.from_problem(THREE_POINTS, GRAM_OF_THREE),
}


@pytest.fixture(scope="module", params=PLOTS, ids=str)
def display(request):
    drawn = PLOTS[request.param]()
    yield drawn
    pyplot.close(drawn.figure_)


def axes_of(display):
    return np.ravel(display.ax_)


def test_axes_say_what_they_show(display):
    first, last = axes_of(display)[0], axes_of(display)[-1]
    assert all(axes.get_title() for axes in axes_of(display))
    assert last.get_xlabel()
    assert last.get_ylabel()
    assert first.get_title() == first.get_title().strip()


def test_everything_written_is_inside_the_figure(display):
    figure = display.figure_
    figure.canvas.draw()
    renderer, whole = figure.canvas.get_renderer(), figure.bbox
    for axes in axes_of(display):
        box = axes.get_tightbbox(renderer)
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= whole.x1 + 1
        assert box.y1 <= whole.y1 + 1


def test_letters_are_large_enough_for_a_slide(display):
    for axes in axes_of(display):
        assert axes.xaxis.label.get_fontsize() >= 10
        assert axes.title.get_fontsize() >= 12
        legend = axes.get_legend()
        assert legend is None or all(text.get_fontsize() >= 9 for text in legend.get_texts())


def test_picture_is_not_blank(display):
    stream = io.BytesIO()
    display.figure_.savefig(stream, format="png", dpi=60)
    stream.seek(0)
    pixels = (imread(stream)[..., :3] * 255).astype(int).reshape(-1, 3)
    colours = pixels @ [1 << 16, 1 << 8, 1]
    assert 0.05 < (colours == 0xFFFFFF).mean() < 0.97
    assert len(np.unique(colours)) > 30


def test_colours_differ_for_those_who_see_fewer():
    """Deuteranopia and protanopia, simulated (Viénot, 1999): the first four stay apart."""
    matrices = (
        [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
        [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
    )
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS[:4]]) ** 2.2
    for matrix in matrices:
        seen = np.clip(rgb @ np.array(matrix).T, 0, 1) ** (1 / 2.2)
        for i in range(4):
            for j in range(i):
                assert np.linalg.norm(seen[i] - seen[j]) > 0.12


def test_margins_are_where_the_decision_is_one():
    model = SVC(kernel="linear", C=10.0).fit(X, Y)
    display = DecisionBoundaryDisplay.from_estimator(model, X, Y)
    expected = model.decision_function(np.c_[display.horizontal.ravel(), display.vertical.ravel()])
    np.testing.assert_allclose(display.response.ravel(), expected)
    assert display.support.sum() == model.support_.size
    pyplot.close(display.figure_)


def test_plane_of_two_features_keeps_the_others_at_their_mean():
    inputs = np.c_[X, X[:, 0] + 5.0]
    model = SVC().fit(inputs, Y)
    display = DecisionBoundaryDisplay.from_estimator(model, inputs, Y, features=(2, 0))
    ground = display.plane.points(np.array([[6.0, 0.5]]))
    np.testing.assert_allclose(ground, [[0.5, inputs[:, 1].mean(), 6.0]])
    pyplot.close(display.figure_)


@pytest.mark.parametrize("features", [(0, 0), (0, 2), (-1, 0)])
def test_features_that_are_none_are_refused(features):
    with pytest.raises(ValueError, match="features must be two different numbers below 2"):
        DecisionBoundaryDisplay.from_estimator(MODEL, X, Y, features=features)


def test_convergence_ends_at_the_certified_objective():
    display = ConvergenceDisplay.from_estimator(SVC(C=1e4, gamma=2.0), *BOARD)
    certificate = SVC(C=1e4, gamma=2.0).fit(*BOARD).certificate_
    assert display.curve.primal[-1] == pytest.approx(certificate.primal, rel=1e-6)
    assert display.curve.dual[-1] == pytest.approx(certificate.dual, rel=1e-6)
    pyplot.close(display.figure_)


def test_plot_goes_where_it_is_told():
    figure, axes = pyplot.subplots()
    display = RocDisplay.from_estimator(MODEL, X, Y, ax=axes)
    assert display.ax_ is axes
    assert display.figure_ is figure
    pyplot.close(figure)


def test_area_is_that_of_scikit_learn():
    from sklearn.metrics import roc_auc_score

    display = RocDisplay.from_estimator(MODEL, X, Y)
    assert display.area == pytest.approx(roc_auc_score(Y, MODEL.decision_function(X)))
    pyplot.close(display.figure_)


def test_label_curve_is_that_of_active_learning():
    model = OnlineSVC()
    with pytest.raises(ValueError, match="call fit_active first"):
        LabelCurveDisplay.from_estimator(model)
    model.fit_active(X, lambda asked: Y[asked], max_labels=20)
    display = LabelCurveDisplay.from_estimator(model)
    ((labels, accuracy),) = display.curves.values()
    assert labels[-1] == 20
    assert accuracy.size == labels.size
    pyplot.close(display.figure_)


def test_planning_needs_a_trace():
    solution = solve(hinge(Y.astype(float), 1.0).problem, Linear().bind(X))
    with pytest.raises(ValueError, match="solution has no trace: call solve with trace=True"):
        PlanningDisplay.from_solution(solution)


def test_metric_needs_a_gaussian_kernel():
    model = SVC(kernel="linear").fit(X, Y)
    with pytest.raises(ValueError, match="must have a Gaussian kernel to show its metric"):
        MetricDisplay.from_estimator(model, X, Y)


def test_roc_of_three_classes_is_that_of_each_against_the_rest():
    from sklearn.metrics import roc_auc_score

    model = SVC().fit(X, THREE)
    display = RocDisplay.from_estimator(model, X, THREE)
    decision = model.decision_function(X)
    for column, label in enumerate(model.classes_):
        expected = roc_auc_score(label == THREE, decision[:, column])
        assert display.areas[label] == pytest.approx(expected)
    assert display.area == pytest.approx(np.mean(list(display.areas.values())))
    pyplot.close(display.figure_)


def test_roc_of_pairs_is_refused_with_a_remedy():
    model = SVC(decision_function_shape="ovo").fit(LETTERS, NAMES)
    with pytest.raises(ValueError, match='use decision_function_shape="ovr"'):
        RocDisplay.from_estimator(model, LETTERS, NAMES)


def test_residuals_are_true_minus_predicted():
    display = ResidualDisplay.from_predictions(np.array([1.0, 2.0]), np.array([0.5, 2.5]))
    np.testing.assert_array_equal(display.residuals, [0.5, -0.5])
    points = display.ax_[0].collections[0].get_offsets()
    np.testing.assert_array_equal(points, [[0.5, 0.5], [2.5, -0.5]])
    pyplot.close(display.figure_)


def test_shrinking_shows_different_numbers_of_active_samples():
    display = ShrinkingDisplay.from_samples(X, Y)
    counts = [display.trace.members[epoch].size for epoch in display.epochs]
    assert len(counts) > 2
    assert counts == sorted(set(counts), reverse=True)
    pyplot.close(display.figure_)


def test_pictures_of_shrinking_are_four_at_equal_distances():
    members = [np.arange(count) for count in (100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 100)]
    assert epochs_that_differ(members).tolist() == [0, 3, 6, 9]
    assert epochs_that_differ(members[:2]).tolist() == [0, 1]


def test_certificates_of_stopped_fits_enclose_the_optimum():
    display = CertificateDisplay.from_estimator(SVC(C=100.0, gamma=2.0), *BOARD)
    optimum = SVC(C=100.0, gamma=2.0, gap=1e-12).fit(*BOARD).certificate_.dual
    assert (display.dual <= optimum * (1 + 1e-9)).all()
    assert (display.primal >= optimum * (1 - 1e-9)).all()
    assert display.relative[-1] <= 1e-4
    assert (np.diff(display.dual) >= -1e-9 * optimum).all()
    pyplot.close(display.figure_)


@pytest.mark.parametrize(
    ("primal", "highest"), [((12.0, 11.0, 10.0), 12.0), ((900.0, 50.0, 10.0), 16.0)]
)
def test_the_axis_of_values_ends_little_above_the_last_value(primal, highest):
    certificate = SVC().fit(*BOARD).certificate_
    display = CertificateDisplay(
        steps=np.array([1, 2, 4]),
        primal=np.array(primal),
        dual=np.array([6.0, 8.0, 9.0]),
        certificate=certificate,
    ).plot()
    low, top = display.ax_[0].get_ylim()
    pad = 0.05 * (highest - 6.0)
    assert (low, top) == pytest.approx((6.0 - pad, highest + pad))
    pyplot.close(display.figure_)


def test_path_of_pairs_is_feasible_and_climbs():
    display = PairPathDisplay.from_problem(THREE_POINTS, GRAM_OF_THREE)
    assert (display.path >= display.lower - 1e-12).all()
    assert (display.path <= display.upper + 1e-12).all()
    alpha = np.column_stack([display.path, -display.path.sum(axis=1)])
    values = alpha @ THREE_POINTS.linear - 0.5 * np.einsum(
        "ia,ab,ib->i", alpha, GRAM_OF_THREE, alpha
    )
    assert (np.diff(values) > 0).all()
    assert values[-1] == pytest.approx(solve(THREE_POINTS, GRAM_OF_THREE).dual, rel=1e-3)
    landscape, slack = display.landscape
    assert landscape[slack >= 0].max() <= values[-1] * (1 + 1e-3)
    pyplot.close(display.figure_)


def test_gram_is_ordered_by_class():
    shuffled = np.random.default_rng(0).permutation(len(X))
    display = GramDisplay.from_kernel(Gaussian(0.5), X[shuffled], Y[shuffled])
    K = Gaussian(0.5)(X)
    count = int((Y == -1).sum())
    assert display.sizes == [count, len(X) - count]
    block = display.matrix[:count, :count]
    assert block.sum() == pytest.approx(K[np.ix_(Y == -1, Y == -1)].sum())
    pyplot.close(display.figure_)


@pytest.mark.parametrize(("labels", "angle"), [(("a", "b"), 0), (("a", "a long name"), 45)])
def test_labels_of_classes_are_turned_where_one_is_long(labels, angle):
    display = GramDisplay.from_kernel(Gaussian(0.5), X, np.where(Y > 0, *labels))
    turned = {tick.get_rotation() for tick in display.ax_.get_xticklabels()}
    assert turned == {angle}
    pyplot.close(display.figure_)


def test_support_vectors_are_shown_largest_first():
    model = SVC().fit(IMAGES, Y)
    display = SupportVectorDisplay.from_estimator(model, IMAGES, Y, most=5)
    assert (np.diff(display.weights) <= 0).all()
    assert display.weights[0] == np.abs(model.dual_coef_).max()
    test_everything_written_is_inside_the_figure(display)
    with pytest.raises(ValueError, match="shape must have 4 pixels, got 3 × 2"):
        SupportVectorDisplay.from_estimator(model, IMAGES, Y, shape=(3, 2))
    with pytest.raises(ValueError, match="2 features are not a square image"):
        SupportVectorDisplay.from_estimator(MODEL, X, Y)
    pyplot.close(display.figure_)


def test_metric_needs_no_samples_and_takes_the_features_that_count():
    inputs = np.c_[X[:, 0], np.zeros(len(X)), X[:, 1]]
    model = SVC(kernel=Gaussian((1.0, 5.0, 1.0))).fit(inputs, Y)
    display = MetricDisplay.from_estimator(model)
    assert display.names == ("x1", "x3")
    pyplot.close(display.figure_)


def test_convergence_against_steps_has_every_step_of_a_trace():
    problem, gram = hinge(Y.astype(float), 10.0).problem, Gaussian(0.5).bind(X)
    solution = solve(problem, gram, trace=True)
    display = ConvergenceDisplay.from_solution(solution)
    assert display.steps[-1] == solution.trace.dual.size
    assert display.ax_[0].get_xlabel() == "steps"
    pyplot.close(display.figure_)


def test_horizontal_axis_of_convergence_is_seconds_or_steps():
    with pytest.raises(
        ValueError,
        match=r"against must be .* got 'hours'",
    ):
        ConvergenceDisplay.from_estimator(SVC(), X, Y, against="hours")


def test_colour_bar_of_a_landscape_has_a_label_and_numbers():
    display = TuningDisplay.from_estimator(searched(strategy="grid"))
    bar = display.figure_.axes[-1]
    assert bar.get_ylabel() == "cross-validation error (lower is better)"
    assert len(bar.get_yticklabels()) > 2
    pyplot.close(display.figure_)


def test_style_of_others_is_left_alone():
    before = dict(matplotlib.rcParams)
    display = RocDisplay.from_estimator(MODEL, X, Y)
    display.image()
    assert dict(matplotlib.rcParams) == before
