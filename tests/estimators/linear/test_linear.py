"""Linear estimators: budgets, weights, warm starts, intercepts, inputs."""

import signal
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from clock import Stopwatch
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LinearSVC, LinearSVR, LogisticRegression, RidgeRegression

CLASSIFIERS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="crammer_singer"),
    LogisticRegression(),
    LogisticRegression(penalty="l1"),
]
REGRESSORS = [
    LinearSVR(epsilon=0.1),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1),
    RidgeRegression(),
]


def named(model):
    return str(model)


def three_classes(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.standard_normal((n, 4)) + 0.8 * np.eye(3, 4)[y], np.array(["a", "b", "c"])[y]


def hard(n=20_000, d=30, seed=0):
    """Enough work for a budget to run out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 2.0 * rng.standard_normal(n) > 0, 1, -1)


def fitted(model, X, y, **fit):
    return type(model)(**{**model.get_params(), **fit.pop("parameters", {})}).fit(X, y, **fit)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_weight_three_equals_three_copies_and_none_absence(model):
    X, y = three_classes()
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = fitted(model, X, y, sample_weight=weight)
    copied = fitted(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, copied.intercept_, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("model", REGRESSORS, ids=named)
def test_weight_three_equals_three_copies_in_regression(model):
    X, _ = three_classes()
    y = X @ [1.0, -2.0, 0.5, 0.0] + np.sin(np.arange(90))
    weight = np.random.default_rng(1).integers(0, 4, 90)
    weighted = fitted(model, X, y, sample_weight=weight)
    copied = fitted(model, np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_class_weight_equals_sample_weight(model):
    X, y = three_classes()
    by_class = fitted(model, X, y, parameters={"class_weight": {"a": 3.0, "b": 0.5}})
    by_sample = fitted(model, X, y, sample_weight=np.select([y == "a", y == "b"], [3.0, 0.5], 1.0))
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=named)
def test_every_fit_has_a_certificate_within_tol(model):
    X, y = three_classes()
    found = fitted(model, X, X[:, 0] if model in REGRESSORS else y)
    assert np.max(found.certificate_.relative_gap) <= 1e-6
    assert set(np.atleast_1d(found.status_)) == {"converged"}


@pytest.mark.parametrize("model", [LinearSVC(loss="hinge"), LinearSVC(), RidgeRegression()])
def test_shifted_inputs_change_only_a_free_intercept(model):
    X, _ = three_classes()
    y = np.where(X[:, 0] > 0.3, 1, -1)
    here, there = fitted(model, X, y), fitted(model, X + 10.0, y)
    np.testing.assert_allclose(here.coef_, there.coef_, rtol=1e-6, atol=1e-8)


def test_large_intercept_scaling_approaches_the_free_intercept():
    X, y = three_classes()
    free = LinearSVC().fit(X + 3.0, y)
    nearly = LinearSVC(intercept_scaling=1e4).fit(X + 3.0, y)
    penalised = LinearSVC(intercept_scaling=1.0).fit(X + 3.0, y)
    np.testing.assert_allclose(nearly.coef_, free.coef_, atol=1e-6)
    assert np.abs(penalised.coef_ - free.coef_).max() > 1e-3


def test_penalised_intercept_is_a_constant_feature():
    X, y = three_classes()
    ours = LinearSVC(intercept_scaling=2.0, loss="hinge").fit(X, y)
    explicit = LinearSVC(fit_intercept=False, loss="hinge").fit(
        np.hstack([X, np.full((len(X), 1), 2.0)]), y
    )
    np.testing.assert_allclose(ours.coef_, explicit.coef_[:, :-1], atol=1e-7)
    np.testing.assert_allclose(ours.intercept_, 2.0 * explicit.coef_[:, -1], atol=1e-7)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_warm_start_after_a_change_of_C_ends_at_the_optimum_of_a_cold_fit(model):
    X, y = three_classes()
    warm = fitted(model, X, y, parameters={"warm_start": True, "C": 0.3})
    warm.set_params(C=0.5).fit(X, y)
    cold = fitted(model, X, y, parameters={"C": 0.5})
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "model", [LinearSVC(loss="hinge"), LinearSVC(), LinearSVC(multi_class="crammer_singer")]
)
def test_warm_start_at_the_optimum_takes_fewer_steps(model):
    X, y = hard(5_000)
    model = fitted(model, X, y, parameters={"warm_start": True})
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < 0.7 * cold


def test_warm_start_goes_on_after_a_step_limit():
    X, y = hard(5_000)
    model = LinearSVC(loss="hinge", warm_start=True, max_iter=5)
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        model.fit(X, y)
    assert model.status_ == "step_limit"
    first = model.certificate_.gap
    model.set_params(max_iter=1000).fit(X, y)
    assert model.status_ == "converged"
    assert model.certificate_.gap < first


@pytest.mark.parametrize("model", [LinearSVC(loss="hinge"), LogisticRegression()], ids=named)
def test_time_limit_ends_the_fit_and_the_warning_states_the_gap(model):
    X, y = hard()
    model = fitted_with_warning(model, X, y, max_seconds=1e-3)
    assert model.status_ == "time_limit"
    assert model.coef_.shape == (1, 30)


def fitted_with_warning(model, X, y, **parameters):
    model = type(model)(**{**model.get_params(), **parameters})
    with pytest.warns(ConvergenceWarning, match="gap is still"):
        return model.fit(X, y)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_callback_sees_every_step_and_can_stop(model):
    X, y = three_classes()
    seen = []
    model = fitted_with_warning(
        model, X, y, callback=lambda progress: seen.append(progress) or len(seen) == 2
    )
    assert "stopped" in np.atleast_1d(model.status_)
    assert len(seen) >= 2
    assert all(progress.gap >= 0 for progress in seen)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_ctrl_c_keeps_the_model_so_far(model):
    X, y = three_classes()
    model = type(model)(**{**model.get_params(), "callback": press_ctrl_c})
    with pytest.raises(KeyboardInterrupt, match="model so far is kept"):
        model.fit(X, y)
    assert "interrupted" in np.atleast_1d(model.status_)
    assert model.predict(X).shape == (90,)


def press_ctrl_c(progress):
    del progress
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_ctrl_c_is_answered_within_half_a_second(loss):
    X, y = hard(60_000, 200)
    LinearSVC(loss=loss).fit(X[:300], y[:300])
    pressed = []

    def press(progress):
        if progress.steps >= 3 and not pressed:
            pressed.append(Stopwatch())
            press_ctrl_c(progress)

    with pytest.raises(KeyboardInterrupt):
        LinearSVC(loss=loss, C=100.0, callback=press).fit(X, y)
    assert pressed[0].seconds < 0.5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("zeros", [0, 60])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_what_is_not_finite_is_refused_among_zeros_too(bad, zeros, wrap):
    X, y = hard(2_000)
    X = np.hstack([X, np.zeros((2_000, zeros))])
    X[:, 2:] = 0.0
    X[7, 5] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        LinearSVC().fit(wrap(X), y)


@pytest.mark.parametrize(
    "labels",
    [np.array([-128, 127], np.int8), [5, -3], [2**40, 0], ["x", "y"], [True, False], [1.0, 0.0]],
)
def test_labels_of_every_kind_come_back(labels):
    X, y = hard(200)
    labels = np.array(labels)[(y > 0).astype(int)]
    model = LinearSVC().fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels) > 0.6


def test_float32_and_integer_inputs_give_the_model_of_float64():
    X, y = load_iris(return_X_y=True)
    whole = np.round(10 * X)
    models = [LinearSVC().fit(whole.astype(kind), y) for kind in (float, np.float32, int)]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, rtol=1e-6, atol=1e-9)


def test_targets_that_are_fitted_exactly_count_as_solved():
    X, _ = three_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (LinearSVR(), RidgeRegression()):
            model.fit(X, np.full(90, 3.0))
            np.testing.assert_allclose(model.coef_, 0.0, atol=1e-9)
            np.testing.assert_allclose(model.intercept_, 3.0, rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": -1.0}, "C of LinearSVC must be"),
        ({"tol": 0.0}, "tol of LinearSVC must be"),
        ({"loss": "log"}, "loss of LinearSVC must be"),
        ({"penalty": "l3"}, "penalty of LinearSVC must be"),
        ({"penalty": "l1", "loss": "hinge", "dual": False}, "Unsupported set of arguments"),
        ({"intercept_scaling": -1.0}, "intercept_scaling of LinearSVC must be"),
        ({"max_seconds": 0.0}, "max_seconds of LinearSVC must be"),
        ({"solver": "liblinear"}, "solver of LinearSVC must be"),
        ({"callback": 3}, "callback of LinearSVC must be"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, message):
    X, y = three_classes()
    with pytest.raises(ValueError, match=message):
        LinearSVC(**parameters).fit(X, y)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=named)
def test_path_holds_the_models_of_single_fits_in_the_order_given(model):
    X, y = three_classes()
    y = X[:, 0] if model in REGRESSORS else y
    strength = "alpha" if isinstance(model, RidgeRegression) else "C"
    values = [1.0, 0.1, 0.3]
    for value, found in zip(values, model.path(X, y, values)):
        alone = fitted(model, X, y, parameters={strength: value})
        assert getattr(found, strength) == value
        np.testing.assert_allclose(found.coef_, alone.coef_, rtol=1e-5, atol=1e-6)


def test_path_takes_fewer_steps_than_its_fits():
    X, y = hard(5_000)
    values = np.geomspace(0.01, 1.0, 8)
    model = LinearSVC(loss="hinge")
    alone = [fitted(model, X, y, parameters={"C": C}).n_iter_ for C in values]
    assert sum(found.n_iter_ for found in model.path(X, y, values)) < sum(alone)


def test_path_refuses_a_bad_value_before_any_work():
    X, y = three_classes()
    with pytest.raises(ValueError, match="C of LinearSVC must be"):
        LinearSVC(callback=press_ctrl_c).path(X, y, [1.0, -1.0])
