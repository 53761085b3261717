"""Strategies: what they find, on which budget, and what they say of it."""

import numpy as np
import pytest
from clock import Overrun
from tuning.problems import blobs, board

from maxmargin import SVC
from maxmargin.data import chess_board
from maxmargin.kernels import Gaussian, Linear, MetricGaussian, Polynomial
from maxmargin.tuning import (
    STRATEGIES,
    Outcome,
    Point,
    Task,
    gaussian_start,
    median_gamma,
    tuned,
)
from maxmargin.tuning.start import feature_variance, widened
from maxmargin.tuning.strategies import better

EVERY = pytest.mark.parametrize("strategy", STRATEGIES)
# Enough to arrive on two coordinates, little enough for a test.
EFFORT = {"posterior": 0.1, "likelihood": 0.1, "cv-cma": 0.1}

# C and its score.
TRIED = [(1.0, np.nan), (8.0, 0.5), (2.0, 0.5), (4.0, 0.25)]


def task(X, y, metric="radial", strategy="kta", **options):
    return Task(X, y, gaussian_start(X, y, metric), effort=EFFORT.get(strategy, 1.0), **options)


def test_error(outcome, X, y, new, labels):
    model = SVC(C=outcome.point.C, kernel=outcome.point.kernel, loss=outcome.loss).fit(X, y)
    return np.mean(model.predict(new) != labels)


test_error.__test__ = False


# The radius–margin quotient with a C has its least value here where the ridge drowns the kernel.
@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"radius_margin"}))
def test_chess_board_is_learned(strategy):
    X, y = chess_board(200, random_state=0)
    outcome = tuned(task(X, y, strategy=strategy), strategy)
    assert test_error(outcome, X, y, *chess_board(5000, random_state=1)) < 0.17


@EVERY
@pytest.mark.parametrize("metric", ["radial", "diagonal", "full"])
def test_every_metric_can_be_tuned(strategy, metric):
    X, y = blobs(40)
    chosen = Task(X, y, gaussian_start(X, y, metric), effort=0.01)
    outcome = tuned(chosen, strategy)
    kinds = (type(chosen.kernel), Linear) if strategy == "kernels" else type(chosen.kernel)
    assert isinstance(outcome.point.kernel, kinds)
    assert np.isfinite(outcome.score)


@EVERY
def test_three_classes_can_be_tuned(strategy):
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 15)
    X = random.standard_normal((45, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 15, axis=0)
    chosen = Task(X, y, gaussian_start(X, y, "radial"), effort=0.02)
    outcome = tuned(chosen, strategy)
    model = SVC(C=outcome.point.C, kernel=outcome.point.kernel).fit(X, y)
    assert model.score(X, y) > 0.85


@EVERY
def test_other_kernels_can_be_tuned(strategy):
    X, y = blobs(40)
    kernel = Polynomial(2, 0.5, 1.0)
    outcome = tuned(Task(X, y, kernel, effort=0.02), strategy)
    assert isinstance(outcome.point.kernel, Polynomial)
    assert outcome.point.C > 0


def test_kernel_without_parameters_gets_its_C():
    X, y = blobs(60)
    outcome = tuned(Task(X, y, Linear()), "kta")
    assert outcome.point.kernel == Linear()
    assert outcome.score > 0.7


@EVERY
def test_time_limit_is_kept(strategy):
    X, y = board(150)
    chosen = task(X, y)
    tuned(task(X, y, strategy=strategy, max_seconds=0.05), strategy)  # compiled by now
    with Overrun(0.5) as over:
        tuned(Task(X, y, chosen.kernel, effort=100.0, max_seconds=0.5), strategy)
    assert over.seconds < 0.5


@EVERY
def test_same_seed_gives_the_same_point(strategy):
    X, y = board(60)
    one, two = (
        tuned(Task(X, y, gaussian_start(X, y, "radial"), effort=0.01, random_state=5), strategy)
        for _ in range(2)
    )
    assert one.point == two.point


def test_separable_data_leave_C_inside_its_limits():
    X, y = np.linspace(-1, 1, 40)[:, None], np.repeat([-1, 1], 20)
    for strategy in ("kta", "posterior", "likelihood", "span"):
        outcome = tuned(Task(X, y, Gaussian(1.0), effort=0.05), strategy)
        assert 1e-6 < outcome.point.C < 1e9
        assert np.isfinite(outcome.point.kernel.gamma)


def test_limits_that_were_reached_are_reported():
    """Pure noise in every feature: the alignment sends all of their γ to the edge."""
    random = np.random.default_rng(0)
    X = np.column_stack([np.repeat([-1.0, 1.0], 50), random.standard_normal((100, 2))])
    outcome = tuned(Task(X, np.repeat([-1, 1], 50), Gaussian([1.0] * 3)), "kta")
    assert {"log_gamma[1]", "log_gamma[2]"} <= set(outcome.stages[1].result.at_limits)


@pytest.mark.parametrize("metric", ["radial", "diagonal", "full"])
def test_start_is_the_median_kernel_in_every_metric(metric):
    X, y = blobs(40)
    expected = Gaussian(median_gamma(X, y))(X)
    np.testing.assert_allclose(gaussian_start(X, y, metric)(X), expected, rtol=1e-10)


@pytest.mark.parametrize("metric", ["radial", "diagonal", "full"])
def test_widened_kernel_has_a_multiple_of_its_gamma(metric):
    X, y = blobs(40)
    expected = Gaussian(3.0 * median_gamma(X, y))(X)
    np.testing.assert_allclose(widened(gaussian_start(X, y, metric), 3.0)(X), expected, rtol=1e-9)


def test_kernel_of_fixed_size_is_not_widened():
    assert widened(MetricGaussian(np.eye(2), ["size"]), 2.0) is None
    assert widened(Linear(), 2.0) is None


def test_feature_variance_is_that_of_the_inputs_for_a_linear_kernel():
    X, _ = blobs(40)
    assert feature_variance(Linear(), X) == pytest.approx(X.var(axis=0).sum())


def test_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match=r"strategy must be one of .*'kta'"):
        tuned(Task(*blobs(20), Gaussian(1.0)), "luck")


def test_unknown_metric_is_refused():
    with pytest.raises(ValueError, match=r"metric must be .*'square'"):
        gaussian_start(*blobs(20), "square")


def test_higher_scores_are_better_then_smaller_C_and_unknown_scores_never():
    outcomes = [Outcome(Point(Linear(), C), "hinge", score, []) for C, score in TRIED]
    assert better(*outcomes) is outcomes[2]
    assert better(outcomes[0]) is outcomes[0]
