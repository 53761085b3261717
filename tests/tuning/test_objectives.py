"""Objectives against their naive definitions, and on data that try them."""

import pickle

import naive
import numpy as np
import pytest
from tuning.problems import KERNELS, blobs, board

from maxmargin.data import sparse_coordinate
from maxmargin.dual import enclosing_ball, hard_margin, hinge
from maxmargin.kernels import Gaussian, Linear, MetricGaussian, Polynomial, Sigmoid
from maxmargin.tuning import (
    BootstrapError,
    CrossValidationError,
    ErrorRate,
    Evaluation,
    FixedSplits,
    GaussianPrior,
    HoldOutError,
    KernelPolarisation,
    KernelTargetAlignment,
    LeaveOneOutError,
    LogLikelihood,
    LogPosterior,
    OverPairs,
    Point,
    RadiusMargin,
    RandomSplits,
    SpanBound,
    Split,
    SupportVectorCount,
    folds,
    median_gamma,
)
from maxmargin.tuning.objectives.likelihood import log_likelihood

ALL = {
    "hold-out": HoldOutError,
    "cross-validation": CrossValidationError,
    "bootstrap": lambda X, y: BootstrapError(X, y, random_state=0),
    "leave-one-out": LeaveOneOutError,
    "support vectors": SupportVectorCount,
    "span": SpanBound,
    "span by refitting": lambda X, y: SpanBound(X, y, refit=True),
    "radius-margin": RadiusMargin,
    "alignment": KernelTargetAlignment,
    "polarisation": KernelPolarisation,
    "likelihood": lambda X, y: LogLikelihood(X, y, random_state=0),
    "posterior": lambda X, y: LogPosterior(
        LogLikelihood(X, y, random_state=0), GaussianPrior(Gaussian(0.5))
    ),
}
EVERY = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())
SEEDS = pytest.mark.parametrize("seed", range(4))


def outputs(kernel, X, y, C, new):
    """f of the machine trained on X by the naive solver, at new inputs."""
    problem = hinge(y, C).problem
    K = kernel(X)
    alpha = naive.solve_dual(problem, K).alpha
    bias = problem.bias(alpha, problem.gradient(alpha, K @ alpha))[0]
    return kernel(new, X) @ alpha + bias


def wrong(f, y):
    return np.where(f > 0, 1, -1) != y


def left_out_outputs(kernel, X, y, C):
    return np.array(
        [
            outputs(kernel, np.delete(X, i, 0), np.delete(y, i), C, X[i : i + 1])[0]
            for i in range(len(y))
        ]
    )


@SEEDS
@pytest.mark.parametrize("C", [0.3, 30.0])
def test_leave_one_out_error_is_that_of_n_refits(C, seed):
    X, y = board(40, seed)
    kernel = Gaussian(3.0)
    expected = np.mean(wrong(left_out_outputs(kernel, X, y, C), y))
    assert LeaveOneOutError(X, y).value(Point(kernel, C)) == expected


@SEEDS
@pytest.mark.parametrize("C", [0.3, 30.0])
def test_span_bound_by_refitting_is_its_definition(C, seed):
    X, y = board(40, seed)
    kernel = Gaussian(3.0)
    p, q = y * left_out_outputs(kernel, X, y, C), y * outputs(kernel, X, y, C, X)
    expected = np.mean(1 - np.where(p > 0, p / q, 0.0))
    found = SpanBound(X, y, refit=True).value(Point(kernel, C))
    assert found == pytest.approx(expected, abs=1e-6)


@SEEDS
def test_span_bounds_the_leave_one_out_error(seed):
    X, y = board(40, seed)
    point = Point(Gaussian(3.0), 5.0)
    bound = SpanBound(X, y, refit=True).value(point)
    assert LeaveOneOutError(X, y).value(point) <= bound <= SupportVectorCount(X, y).value(point)


def explicit(X):
    """The feature space of (⟨x, z⟩ + 1)², in which distances can be taken directly."""
    a, b = X.T
    root = np.sqrt(2.0)
    return np.column_stack([a**2, b**2, root * a * b, root * a, root * b, np.ones(len(X))])


def squared_distance_to_hull(point, others):
    """From a point to the affine hull of the rows of `others`."""
    if not len(others):
        return np.nan
    directions = (others[1:] - others[0]).T
    away = point - others[0]
    inside = directions @ np.linalg.lstsq(directions, away, rcond=None)[0] if len(others) > 1 else 0
    return np.sum((away - inside) ** 2)


@SEEDS
@pytest.mark.parametrize("C", [0.2, 2.0])
def test_span_bound_is_made_of_distances_in_feature_space(C, seed):
    X, y = blobs(40, seed)
    features = explicit(X)
    K = features @ features.T
    problem = hinge(y, C).problem
    alpha = naive.solve_dual(problem, K).alpha
    alpha = np.where(np.abs(alpha) < 1e-9, 0.0, alpha)
    alpha = np.where(np.abs(np.abs(alpha) - C) < 1e-9, C * y, alpha)
    free = np.flatnonzero((alpha != 0) & (np.abs(alpha) < C))
    bias = (y - K @ alpha)[free].mean()
    margins = y * (K @ alpha + bias)
    total = 0.0
    for n in np.flatnonzero(alpha):
        others = features[free[free != n]]
        span = squared_distance_to_hull(features[n], others)
        total += min(1.0, max(0.0, abs(alpha[n]) * span / margins[n])) if margins[n] > 0 else 1.0
    found = SpanBound(X, y).value(Point(Polynomial(2, 1.0, 1.0), C))
    assert found == pytest.approx(total / 40, abs=1e-6)


@SEEDS
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_radius_margin_is_that_of_a_general_solver(C, seed):
    X, y = board(40, seed)
    Q = Gaussian(2.0)(X) + np.eye(40) / (2 * C)
    ball = enclosing_ball(np.diagonal(Q)).problem
    weight = 2.0 * naive.solve_dual(hard_margin(y).problem, Q).value
    radius = 2.0 * naive.solve_dual(ball, Q).value
    found = RadiusMargin(X, y).value(Point(Gaussian(2.0), C))
    assert found == pytest.approx(radius * weight, rel=1e-9)


def test_radius_margin_of_classes_that_nothing_separates_is_not_finite():
    X, y = blobs(40)
    evaluation = RadiusMargin(X, y).evaluate(Point(Linear(), np.inf, fixed=True))
    assert not evaluation.finite


@SEEDS
@pytest.mark.parametrize("name", ["linear", "radial", "sum"])
def test_cross_validation_error_is_that_of_k_refits(name, seed):
    X, y = blobs(40, seed)
    kernel = KERNELS[name]
    objective = CrossValidationError(X, y, k=4, random_state=seed)
    errors = sum(
        wrong(outputs(kernel, X[train], y[train], 1.0, X[test]), y[test]).sum()
        for train, test in folds(y.astype(float), 4, seed)
    )
    assert objective.value(Point(kernel, 1.0)) == errors / 40


def test_alignment_is_its_formula():
    X, y = blobs(30)
    K = Gaussian(0.5)(X)
    expected = np.sum(np.outer(y, y) * K) / (30 * np.sqrt(np.sum(K**2)))
    assert KernelTargetAlignment(X, y).value(Point(Gaussian(0.5))) == pytest.approx(expected)
    assert KernelPolarisation(X, y).value(Point(Gaussian(0.5))) == pytest.approx(y @ K @ y)


def test_alignment_does_not_depend_on_the_scale_of_the_kernel():
    X, y = blobs(30)
    objective = KernelTargetAlignment(X, y)
    one, two = objective.value(Point(Gaussian(0.5))), objective.value(Point(7.0 * Gaussian(0.5)))
    assert one == pytest.approx(two, rel=1e-14)


def test_alignment_with_the_ideal_kernel_is_one():
    y = np.array([0, 0, 1, 2, 2, 2])
    simplex = np.array([[1.0, 0.0], [-0.5, np.sqrt(0.75)], [-0.5, -np.sqrt(0.75)]])
    objective = KernelTargetAlignment(simplex[y], y)
    assert objective.value(Point(Linear())) == pytest.approx(1.0, rel=1e-14)


def test_alignment_is_invariant_under_a_linear_map_with_its_metric():
    X, y = blobs(30)
    T = np.array([[2.0, 0.5], [-1.0, 0.7]])
    inverse = np.linalg.inv(T)
    values, vectors = np.linalg.eigh(inverse.T @ inverse)
    mapped = MetricGaussian(vectors * np.sqrt(values) @ vectors.T)
    plain = KernelTargetAlignment(X, y).value(Point(MetricGaussian(np.eye(2))))
    assert KernelTargetAlignment(X @ T.T, y).value(Point(mapped)) == pytest.approx(plain, rel=1e-9)


def test_sigmoid_is_the_best_of_all():
    random = np.random.default_rng(0)
    margins = random.standard_normal(50) + 0.5
    value, r = log_likelihood(margins, np.ones(50), np.empty(50))
    grid = np.linspace(0, 5, 20_001)
    values = [-np.logaddexp(0, -s * margins).sum() for s in grid]
    assert value >= max(values)
    assert abs(r - grid[np.argmax(values)]) < 5e-4


@pytest.mark.parametrize(
    ("margins", "value", "r"),
    [([0.5, 1.0], 0.0, np.inf), ([-0.5, -1.0], -2 * np.log(2), 0.0), ([1.0, -1.0], None, 0.0)],
)
def test_likelihood_of_margins_of_one_sign_has_no_slope(margins, value, r):
    slope = np.empty(2)
    found = log_likelihood(np.array(margins), np.ones(2), slope)
    assert found == (-2 * np.log(2) if value is None else value, r)
    assert not slope.any()


def test_mean_of_the_noisy_likelihood_approaches_the_mean_over_splits():
    X, y = blobs(30)
    point = Point(Gaussian(0.5), 1.0)
    objective = LogLikelihood(X, y, random_state=0)
    values = [objective.value(point) for _ in range(400)]
    random = RandomSplits(y.astype(float), random_state=7)
    fixed = LogLikelihood(X, y, FixedSplits([random.next()[0] for _ in range(400)]))
    assert np.mean(values) == pytest.approx(
        fixed.value(point), abs=4 * np.std(values) * np.sqrt(2 / 400)
    )


def test_posterior_is_likelihood_plus_prior():
    X, y = blobs(30)
    point, prior = Point(Gaussian(0.5), 3.0), GaussianPrior(Gaussian(0.1), width=1.5)
    splits = FixedSplits(folds(y.astype(float), 3, 0))
    likelihood = LogLikelihood(X, y, splits).value(point)
    density = -(np.log(5.0) ** 2) / (2 * 1.5**2)
    found = LogPosterior(LogLikelihood(X, y, splits), prior).value(point)
    assert found == pytest.approx(likelihood + density, rel=1e-9)


def test_plateau_of_hard_margins_is_left_towards_smaller_C():
    X, y = board(60, noise=0.0)
    splits = FixedSplits(folds(y.astype(float), 3, 0)[:1])
    objective = LogPosterior(LogLikelihood(X, y, splits), GaussianPrior(Gaussian(1.0)), nudge=0.1)
    soft, hard = (objective.evaluate(Point(Gaussian(5.0), C)).gradient for C in (0.5, 1e6))
    assert hard[-1] == -0.1
    assert soft[-1] not in (0.0, -0.1)
    assert hard[0] != 0.0


def test_split_that_says_nothing_does_not_move_C():
    X, y = np.linspace(-1, 1, 20)[:, None], np.repeat([-1, 1], 10)
    objective = LogPosterior(LogLikelihood(X, y, random_state=0), GaussianPrior(Gaussian(1.0)))
    assert objective.evaluate(Point(Gaussian(1.0), 1e3)).gradient[-1] == 0.0


def test_prior_of_a_diagonal_metric_is_the_same_in_both_kernels():
    gammas = np.array([0.2, 3.0])
    diagonal = GaussianPrior(Gaussian([0.5, 0.5])).evaluate(Point(Gaussian(gammas)))
    full = GaussianPrior(MetricGaussian.isotropic(0.5, 2)).evaluate(
        Point(MetricGaussian(np.diag(np.sqrt(2 * gammas))))
    )
    assert full.value == pytest.approx(diagonal.value, rel=1e-12)


def test_user_can_pass_a_prior():
    class Loose:
        def evaluate(self, point):
            return Evaluation(5.0, np.zeros(len(point.names)))

    X, y = blobs(30)
    splits, point = FixedSplits(folds(y.astype(float), 3, 0)), Point(Gaussian(0.5), 1.0)
    plain = LogLikelihood(X, y, splits).value(point)
    assert LogPosterior(LogLikelihood(X, y, splits), Loose()).value(point) == pytest.approx(
        plain + 5.0
    )


def test_median_gamma_is_that_of_distances_between_classes():
    X, y = blobs(30)
    distances = [np.linalg.norm(a - b) for a in X[y > 0] for b in X[y < 0]]
    assert median_gamma(X, y) == pytest.approx(0.5 / np.median(distances) ** 2)


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.array([[0.0], [0.0], [0.0], [5.0]])])
def test_median_gamma_of_coinciding_samples_is_positive(X):
    assert 0 < median_gamma(X, [1, -1, 1, -1]) < np.inf


# Data that try them.


@EVERY
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("gamma", [1e-8, 1.0, 1e8])
def test_extreme_points_have_finite_values(make, C, gamma):
    X, y = board(30)
    evaluation = make(X, y).evaluate(Point(Gaussian(gamma), C))
    assert np.isfinite(evaluation.value)
    assert evaluation.gradient is None or np.isfinite(evaluation.gradient).all()


@EVERY
def test_five_points(make):
    X, y = np.array([[0.0, 1], [1, 0], [2, 2], [3, 1], [2, 0]]), [1, 1, -1, -1, 1]
    evaluation = make(X, y).evaluate(Point(Gaussian(0.5), 1.0))
    assert np.isfinite(evaluation.value)


@EVERY
def test_constant_features(make):
    X, y = board(30)
    X = np.column_stack([X, np.full(30, 7.0)])
    evaluation = make(X, y).evaluate(Point(Gaussian(0.5), 1.0))
    assert np.isfinite(evaluation.value)


def test_gradient_along_a_constant_feature_is_zero():
    X, y = board(30)
    X = np.column_stack([X, np.full(30, 7.0)])
    splits = FixedSplits(folds(y.astype(float), 3, 0))
    gradient = LogLikelihood(X, y, splits).evaluate(Point(Gaussian([1.0] * 3), 1.0)).gradient
    assert abs(gradient[2]) < 1e-12 * abs(gradient[0])


@EVERY
def test_separable_classes(make):
    X, y = np.linspace(-1, 1, 20)[:, None], np.repeat([-1, 1], 10)
    evaluation = make(X, y).evaluate(Point(Gaussian(0.5), 1e3))
    assert np.isfinite(evaluation.value)


@EVERY
def test_duplicates_with_both_labels(make):
    X, y = np.repeat(np.arange(10.0)[:, None], 2, axis=0), np.tile([-1, 1], 10)
    evaluation = make(X, y).evaluate(Point(Gaussian(0.5), 1.0))
    assert np.isfinite(evaluation.value)


def test_indefinite_kernel_gives_finite_values():
    X, y = blobs(30)
    splits = FixedSplits(folds(y.astype(float), 3, 0))
    for objective in (LogLikelihood(X, y, splits), SpanBound(X, y)):
        assert objective.evaluate(Point(Sigmoid(0.5, -1.0), 1.0)).finite


def test_span_bound_of_duplicates_is_not_negative():
    X, y = sparse_coordinate(200, random_state=2)
    for C in (0.1, 1.0, 10.0):
        value, gradient = SpanBound(X, y).evaluate(Point(Gaussian((0.1,) * 20), C))
        assert 0 <= value <= 1
        assert np.isfinite(gradient).all()


def test_sum_over_pairs_is_the_sum():
    X, _ = blobs(60)
    y = np.random.default_rng(0).integers(3, size=60)
    point = Point(Gaussian(0.5), 1.0)
    objective = OverPairs(SpanBound, X, y)
    parts = [
        SpanBound(X[y != c], np.where(y[y != c] == max({0, 1, 2} - {c}), 1, -1)) for c in (2, 1, 0)
    ]
    assert objective.value(point) == pytest.approx(sum(part.value(point) for part in parts))
    expected = sum(part.evaluate(point).gradient for part in parts)
    np.testing.assert_allclose(objective.evaluate(point).gradient, expected, rtol=1e-9)


def test_pairs_too_small_to_split_are_left_out():
    y = np.repeat(["a", "b", "c", "d"], [20, 20, 1, 1])
    X = np.arange(42.0)[:, None]
    assert len(OverPairs(SpanBound, X, y).parts) == 5


def test_fold_without_one_class_answers_with_the_other():
    X, y = np.arange(6.0)[:, None], np.array([1, 1, 1, 1, 1, -1])
    split = Split(np.arange(5), np.array([5]))
    point = Point(Gaussian(1.0), 1.0)
    assert ErrorRate(X, y, FixedSplits([split])).value(point) == 1.0
    value, gradient = LogLikelihood(X, y, FixedSplits([split])).evaluate(point)
    assert value == -np.log(2)
    assert not gradient.any()


def test_stratified_splits_leave_out_a_share_that_is_no_whole_number_on_average():
    y = np.where(np.arange(50) < 12, 1.0, -1.0)  # a fifth of the first class is 2.4 samples
    splits = RandomSplits(y, random_state=0, stratified=True)
    left_out = [int((y[splits.next()[0].test] > 0).sum()) for _ in range(400)]
    assert set(left_out) == {2, 3}
    assert np.mean(left_out) == pytest.approx(2.4, abs=0.1)


@pytest.mark.parametrize("stratified", [False, True])
def test_random_splits_hold_both_classes_however_rare_one_is(stratified):
    y = np.where(np.arange(50) == 17, 1.0, -1.0)
    splits = RandomSplits(y, random_state=0, stratified=stratified)
    for _ in range(50):
        train, test = splits.next()[0]
        assert (train.size, test.size) == (40, 10)
        assert 17 in train
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(50))


def test_stratified_splits_keep_the_shares_of_the_classes():
    y = np.where(np.arange(50) < 15, 1.0, -1.0)
    splits = RandomSplits(y, random_state=0, stratified=True)
    for _ in range(50):
        train, test = splits.next()[0]
        assert (y[test] > 0).sum() in (3,)
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(50))


@pytest.mark.parametrize("stratified", [False, True])
def test_random_splits_hold_each_sample_out_equally_often(stratified):
    y = np.where(np.arange(20) < 7, 1.0, -1.0)
    splits = RandomSplits(y, random_state=0, stratified=stratified)
    counts = np.zeros(20)
    for _ in range(2000):
        counts[splits.next()[0].test] += 1
    assert np.abs(counts / 2000 - 0.2).max() < 0.05


def test_folds_hold_each_sample_out_once_and_share_the_classes():
    y = np.where(np.arange(53) < 13, 1.0, -1.0)
    parts = folds(y, 5, 0)
    assert np.array_equal(np.sort(np.concatenate([p.test for p in parts])), np.arange(53))
    assert {int((y[p.test] > 0).sum()) for p in parts} == {2, 3}
    assert {p.test.size for p in parts} == {10, 11}


@pytest.mark.parametrize(
    ("y", "complaint"),
    [([1, 1, 1], "both classes"), ([0, 1, 1], "-1 and"), ([1, -1], "each of the 3 inputs")],
)
def test_unfit_labels_are_refused(y, complaint):
    with pytest.raises(ValueError, match=complaint):
        SpanBound(np.arange(3.0)[:, None], y)


def test_objective_survives_pickling():
    X, y = blobs(30)
    objective = LogLikelihood(X, y, random_state=3)
    point = Point(Gaussian(0.5), 1.0)
    objective.value(point)
    twin = pickle.loads(pickle.dumps(objective))
    assert twin.value(point) == pytest.approx(objective.value(point), rel=1e-12)
