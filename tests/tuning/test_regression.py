"""Tuning of regressions: exact gradients, the search, AutoSVR and SVRSearch."""

import os
import pickle
import signal
import warnings
from itertools import product

import numpy as np
import pytest
from clock import Overrun
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks
from tuning.problems import assert_gradient, search_briefly

from maxmargin import SVC, SVR, AutoSVR, SVCSearch, SVRSearch
from maxmargin.kernels import Gaussian, MetricGaussian, Polynomial
from maxmargin.tuning import (
    FixedSplits,
    HeldOutLoss,
    Journal,
    LeaveOneOutLoss,
    RegressionSpanBound,
    RegressionTask,
    SearchInterrupted,
    TubePoint,
    gaussian_start,
    plain_folds,
    tuned_regression,
)
from maxmargin.tuning.machines.tube import tube_fit
from maxmargin.tuning.objectives.regression.held_out import judged
from maxmargin.tuning.regression.strategies import REGRESSION_STRATEGIES
from maxmargin.tuning.start import halves

LOSSES = pytest.mark.parametrize("loss", ["squared", "absolute"])


def waves(n=60, features=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, features))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, -1] + 0.1 * random.standard_normal(n)
    return X, y


@parametrize_with_checks([AutoSVR(), SVRSearch()])
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check, monkeypatch):
    search_briefly(monkeypatch)
    check(estimator)


@pytest.mark.parametrize("largest", [3000, 10])
@pytest.mark.parametrize(("C", "epsilon"), [(0.1, 0.3), (10.0, 0.05), (100.0, 0.001), (0.01, 2.0)])
def test_small_machine_is_the_optimum(largest, C, epsilon, monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.LARGEST_MACHINE", largest)
    X, y = waves()
    kernel = Gaussian(0.5)
    found = tube_fit(kernel(X), y, C, epsilon)
    model = SVR(C=C, epsilon=epsilon, kernel=kernel, tol=1e-8).fit(X, y)
    outputs = kernel(X) @ found.fit.alpha + found.fit.bias
    np.testing.assert_allclose(outputs, model.predict(X), atol=1e-5)
    np.testing.assert_allclose(found.fit.gradient, y - kernel(X) @ found.fit.alpha, atol=1e-9)


@LOSSES
@pytest.mark.parametrize(
    "point",
    [
        TubePoint(Gaussian((0.3, 0.2)), 5.0, 0.1),
        TubePoint(Gaussian(0.3), 0.5, 0.6),
        TubePoint(Gaussian(0.3), 0.02, 1.5),
        TubePoint(Gaussian(3.0), 500.0, 1e-3),
        TubePoint(MetricGaussian(np.array([[0.5, 0.1], [0.1, 0.7]])), 2.0, 0.05),
        TubePoint(Polynomial(2, 0.3, 1.0), 2.0, 0.2),
    ],
)
def test_gradient_in_kernel_C_and_epsilon(point, loss):
    X, y = waves()
    assert_gradient(HeldOutLoss(X, y, FixedSplits(plain_folds(60, 5, 0)), loss), point)


@LOSSES
def test_loss_is_that_of_cross_validation(loss):
    X, y = waves()
    splits = plain_folds(60, 5, 0)
    point = TubePoint(Gaussian(0.4), 3.0, 0.1)
    model = SVR(C=3.0, epsilon=0.1, kernel=Gaussian(0.4), tol=1e-8)
    away = cross_val_predict(model, X, y, cv=[tuple(split) for split in splits]) - y
    expected = np.mean(away**2 if loss == "squared" else np.abs(away))
    value = HeldOutLoss(X, y, FixedSplits(splits), loss).evaluate(point).value
    assert value == pytest.approx(expected, rel=1e-5)


LEFT_OUT_POINTS = pytest.mark.parametrize(
    "point",
    [
        TubePoint(Gaussian((0.3, 0.2)), 5.0, 0.1),
        TubePoint(Gaussian(0.3), 0.5, 0.6),
        TubePoint(Gaussian(0.3), 0.02, 1.2),
        TubePoint(Gaussian(1.0), 0.05, 0.1),
        TubePoint(Polynomial(2, 0.3, 1.0), 2.0, 0.2),
    ],
)


def refitted(X, y, point, n):
    """The machine without sample n, from scratch."""
    others = np.delete(np.arange(y.size), n)
    K = point.kernel(X[others])
    found = tube_fit(K, y[others], point.C, point.epsilon)
    output = point.kernel(X[n : n + 1], X[others]) @ found.fit.alpha + found.fit.bias
    return found, others, y[n] - float(output[0])


@LOSSES
@LEFT_OUT_POINTS
def test_leave_one_out_is_that_of_refits(point, loss):
    X, y = waves(40)
    away = np.array([refitted(X, y, point, n)[2] for n in range(40)])
    expected = np.mean(away**2 if loss == "squared" else np.abs(away))
    assert LeaveOneOutLoss(X, y, loss).value(point) == pytest.approx(expected, rel=1e-7)


@LOSSES
@LEFT_OUT_POINTS
def test_gradient_of_the_leave_one_out_loss(point, loss):
    X, y = waves(30)
    assert_gradient(LeaveOneOutLoss(X, y, loss), point)


@LOSSES
@LEFT_OUT_POINTS
def test_gradient_of_the_span_bound_of_a_regression(point, loss):
    X, y = waves(30)
    assert_gradient(RegressionSpanBound(X, y, loss), point)


def kinds(found):
    """Of each sample: free or at a bound, and on which side, or inside the tube."""
    kind = np.sign(found.fit.alpha)
    kind[found.fit.free] *= 2.0
    return kind


def test_span_is_exact_where_no_sample_changes_its_set(monkeypatch):
    X, y = waves(40)
    told = []

    def listening(away, loss):
        told.append(away.copy())
        return judged(away, loss)

    monkeypatch.setattr("maxmargin.tuning.objectives.regression.left_out.judged", listening)
    compared = 0
    for gamma, C, epsilon in [(0.5, 2.0, 0.15), (0.5, 0.3, 0.3), (0.5, 0.1, 0.1), (1.0, 1e3, 0.2)]:
        point = TubePoint(Gaussian(gamma), C, epsilon)
        whole = tube_fit(point.kernel(X), y, C, epsilon)
        RegressionSpanBound(X, y).evaluate(point)
        for n in range(40):
            found, others, residual = refitted(X, y, point, n)
            if (kinds(found) == kinds(whole)[others]).all():
                compared += whole.fit.alpha[n] != 0
                assert told[-1][n] == pytest.approx(residual, rel=1e-6, abs=1e-8)
    assert compared >= 5


@LOSSES
def test_span_finds_the_point_with_the_smallest_leave_one_out_loss(loss):
    X, y = waves(60)
    grid = product((0.1, 0.5, 2.0), (0.1, 1.0, 10.0, 100.0), (0.05, 0.3))
    points = [TubePoint(Gaussian(gamma), C, epsilon) for gamma, C, epsilon in grid]
    exact = np.array([LeaveOneOutLoss(X, y, loss).value(point) for point in points])
    spans = np.array([RegressionSpanBound(X, y, loss).value(point) for point in points])
    assert exact[np.argmin(spans)] <= 1.02 * exact.min()
    assert spearmanr(exact, spans).statistic > 0.9


@pytest.mark.parametrize("objective", [LeaveOneOutLoss, RegressionSpanBound])
def test_left_out_losses_need_two_samples_and_a_known_loss(objective):
    with pytest.raises(ValueError, match="at least two samples, got 1"):
        objective(np.zeros((1, 1)), [0.0])
    with pytest.raises(ValueError, match="loss must be one of"):
        objective(np.zeros((2, 1)), [0.0, 1.0], "cubic")


@pytest.mark.parametrize("metric", ["radial", "diagonal", "full"])
def test_auto_learns_waves(metric):
    X, y = waves(200)
    model = AutoSVR(metric=metric).fit(X, y)
    new, targets = waves(500, seed=1)
    assert model.score(new, targets) > 0.93
    assert model.certificate_.relative_gap < 1e-4
    assert 0.005 < model.epsilon_ < 0.5
    assert "iRprop+ on the squared error" in str(model.search_)
    assert "epsilon = " in str(model.search_)


def test_units_of_inputs_and_targets_do_not_matter():
    X, y = waves(80)
    one = AutoSVR().fit(X, y)
    two = AutoSVR().fit(X * [1e4, 1e-3] + [5.0, -2.0], 1e6 * y + 1e7)
    assert two.epsilon_ == pytest.approx(1e6 * one.epsilon_, rel=1e-4)
    predicted = (two.predict(X * [1e4, 1e-3] + [5.0, -2.0]) - 1e7) / 1e6
    np.testing.assert_allclose(predicted, one.predict(X), atol=2e-3)


def test_auto_is_better_than_the_default_on_real_data():
    X, y = load_diabetes(return_X_y=True)
    train, test = np.arange(442) % 3 > 0, np.arange(442) % 3 == 0
    auto = AutoSVR().fit(X[train], y[train]).score(X[test], y[test])
    assert auto > SVR().fit(X[train], y[train]).score(X[test], y[test]) + 0.1


@pytest.mark.parametrize("strategy", REGRESSION_STRATEGIES)
def test_search_ends_at_the_best_point_tried(strategy):
    chosen = AutoSVR(strategy=strategy).search(*waves(60))
    values = chosen.history()["value"][chosen.history()["stage"] == chosen.stages[-1].what]
    assert -chosen.score == pytest.approx(values.min())


def test_absolute_error_can_be_minimised():
    chosen = AutoSVR(loss="absolute").search(*waves(60))
    assert chosen.stages[-1].what == "iRprop+ on the absolute error"


def test_many_samples_are_searched_on_a_part(monkeypatch):
    monkeypatch.setattr("maxmargin.tuning.costs.SEARCH_SAMPLES", 50)
    model = AutoSVR().fit(*waves(120))
    assert model.search_.samples == 50
    assert "used 50 of them" in model.search_.reason


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_C_of_a_part_is_corrected_on_all_samples(loss, monkeypatch):
    """The search is made to return a hundredth of its C: the correction has to lead back."""
    monkeypatch.setattr("maxmargin.tuning.costs.SEARCH_SAMPLES", 60)
    found = []

    def too_small(*task, **more):
        outcome = tuned_regression(*task, **more)
        found.append(outcome.point)
        kernel, C, epsilon = found[0].kernel, 0.01 * found[0].C, found[0].epsilon
        return outcome._replace(point=TubePoint(kernel, C, epsilon))

    monkeypatch.setattr("maxmargin.tuning.auto.regressor.tuned_regression", too_small)
    X, y = waves(300)
    model = AutoSVR(loss=loss).fit(X, y)
    stage = model.search_.stages[-1]
    assert stage.what == "path of C on 300 samples"
    assert 0.099 * found[0].C * y.std() <= model.C_
    tried = dict(zip(np.exp(stage.history["log_C"]), stage.history["value"]))
    chosen = min(tried, key=lambda C: abs(np.log(C / model.C_)))
    assert chosen == pytest.approx(model.C_)
    assert tried[chosen] < min(loss for C, loss in tried.items() if 0.99 * chosen > C)
    assert model.svr_.C == model.C_


@pytest.mark.parametrize(
    ("strategy", "objective", "name"),
    [
        ("span", RegressionSpanBound, "span bound"),
        ("leave-one-out", LeaveOneOutLoss, "leave-one-out loss"),
    ],
)
def test_search_by_leaving_out_beats_its_start(strategy, objective, name):
    X, y = waves(60)
    search = SVRSearch(strategy=strategy).fit(X, y)
    found = search.search_.point
    assert search.search_.stages[-1].what == f"iRprop+ on the {name}"
    assert -search.best_score_ == pytest.approx(objective(X, y).value(found), rel=1e-6)
    start = TubePoint(gaussian_start(X, halves(y), "radial"), 1.0, 0.1)
    exact = LeaveOneOutLoss(X, y)
    assert exact.value(found) < 0.9 * exact.value(start)


def test_search_over_huge_kernel_values_steps_around_them_without_a_warning():
    X, y = waves(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = SVRSearch(SVR(kernel=Polynomial(3, 1e101, 1.0)), max_seconds=0.5)
        outcome = search._search(search.estimator, X, y)
    assert outcome.point.C > 0


def test_search_goes_on_to_the_same_point():
    X, y = waves(60)
    task = RegressionTask(X, y, gaussian_start(X, halves(y), "radial"))
    whole, journal = tuned_regression(task), Journal()
    first = tuned_regression(task, journal=journal, callback=lambda now: now.fraction > 0.7)
    assert first.status == "stopped"
    assert tuned_regression(task, journal=journal).point == whole.point


def test_time_limit_is_kept():
    X, y = waves(400)
    AutoSVR(max_seconds=0.5).fit(X, y)
    with Overrun(1.0) as over:
        AutoSVR(max_seconds=1.0).fit(X, y)
    assert over.seconds < 0.5


def test_frames_are_predicted_without_a_warning():
    pandas = pytest.importorskip("pandas")
    X, y = waves(40)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AutoSVR().fit(frame, y).predict(frame)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.arange(20.0)[:, None], np.zeros(20)),
        (np.ones((20, 2)), np.arange(20.0)),
        (np.array([[0.0], [1.0]]), [0.0, 1.0]),
        (np.arange(20.0)[:, None], np.r_[np.zeros(19), 1e9]),
        (1e60 * np.arange(20.0)[:, None], 1e60 * np.arange(20.0)),
    ],
    ids=["constant target", "constant inputs", "two points", "outlier", "huge"],
)
def test_awkward_data_have_finite_predictions(X, y):
    model = AutoSVR(max_seconds=5.0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_sparse_inputs_give_the_model_of_dense_ones():
    X, y = waves(60)
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, thin = AutoSVR().fit(X, y), AutoSVR().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X), atol=1e-4)


def test_models_can_be_pickled():
    X, y = waves(40)
    model = pickle.loads(pickle.dumps(AutoSVR().fit(X, y)))
    assert np.isfinite(model.predict(X)).all()


def test_search_of_a_polynomial_kernel():
    X, y = waves(60)
    search = SVRSearch(SVR(kernel=Polynomial(3, 0.5, 1.0), tol=1e-5)).fit(X, y)
    assert isinstance(search.best_estimator_, SVR)
    assert search.best_estimator_.tol == 1e-5
    assert set(search.best_params_) == {"C", "kernel", "epsilon"}
    assert "param_log_epsilon" in search.cv_results_


@pytest.mark.parametrize("search", [SVRSearch(), SVCSearch(strategy="span")], ids=["SVR", "SVC"])
@pytest.mark.parametrize("coef0", [0.2, -1.0])
def test_polynomial_kernel_stays_positive_semi_definite(search, coef0):
    """The target is a product: without a limit both objectives fall on beyond coef0 = 0.

    From above the walk may turn around before it reaches the limit.
    """
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = X[:, 0] * X[:, 1]
    kernel = Polynomial(2, 0.5, coef0)
    regression = isinstance(search, SVRSearch)
    search.set_params(estimator=SVR(kernel=kernel) if regression else SVC(kernel=kernel))
    search.fit(X, y if regression else y > np.median(y))
    tried = search.cv_results_["param_coef0"]
    assert tried.min() >= 0.0
    if coef0 < 0.0:
        assert tried.min() == 0.0
    assert search.best_params_["kernel"].coef0 >= 0.0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AutoSVR(strategy="luck"), "strategy of AutoSVR must be one of"),
        (AutoSVR(loss="cubic"), "loss of AutoSVR must be one of"),
        (SVRSearch(strategy="kta"), "strategy of SVRSearch must be one of"),
        (SVRSearch(3), "an SVR of maxmargin"),
        (SVRSearch(SVR(kernel="precomputed")), "must evaluate the kernel at inputs"),
    ],
)
def test_bad_parameters_are_named(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(np.eye(20), np.arange(20.0))


def test_interrupted_search_leaves_the_best_so_far():
    def press(_):
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        model = AutoSVR(callback=press)
        with pytest.raises(SearchInterrupted):
            model.fit(*waves(60))
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.search_.status == "interrupted"
    assert model.search_.epsilon > 0


def test_full_metric_of_ten_features_finds_the_two_that_matter():
    random = np.random.default_rng(0)
    X = random.standard_normal((150, 10))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2
    task = RegressionTask(X, y, gaussian_start(X, halves(y), "full"), effort=0.4)
    outcome = tuned_regression(task)
    first, walked = (stage.result.value for stage in outcome.stages)
    assert walked < 0.5 * first
    sizes = np.diagonal(outcome.point.kernel.metric)
    assert sizes[:2].min() > 2.0 * sizes[2:].max()
