"""`fit_intercept=False` of `SVC` and `SVR`."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from maxmargin.estimators.parameters import ParameterError
from maxmargin.models import load, save


def two_classes(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.4, "b", "a")


def primal(model, X, y, C, loss):
    """½‖f‖² + C Σ loss, from public attributes alone."""
    K = model.kernel_(X[model.support_])
    f = model.kernel_(X, X[model.support_]) @ model.dual_coef_[0] + model.intercept_[0]
    return 0.5 * model.dual_coef_[0] @ K @ model.dual_coef_[0] + C * loss(y, f).sum()


def hinge_loss(y, f):
    return np.maximum(0.0, 1.0 - np.where(y == "b", 1.0, -1.0) * f)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_the_certificate_is_that_of_the_function_through_0(loss, C):
    X, y = two_classes()
    model = SVC(C=C, loss=loss, gamma=0.3, fit_intercept=False).fit(X, y)
    assert model.status_ == "converged"
    np.testing.assert_array_equal(model.intercept_, [0.0])
    power = 1 if loss == "hinge" else 2
    value = primal(model, X, y, C, lambda y, f: hinge_loss(y, f) ** power)
    assert model.certificate_.primal == pytest.approx(value, rel=1e-9)
    assert model.certificate_.relative_gap <= 1e-4


def test_a_linear_kernel_gives_the_linear_machine():
    X, y = two_classes()
    X = X + 2.0
    own = SVC(kernel="linear", fit_intercept=False, gap=1e-9, tol=1e-8).fit(X, y)
    other = LinearSVC(fit_intercept=False, loss="hinge", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(own.coef_, other.coef_, atol=1e-6)
    with_one = SVC(kernel="linear").fit(X, y)
    assert np.abs(own.coef_ - with_one.coef_).max() > 1e-2


def test_far_inputs_and_targets_are_not_shifted():
    X, _ = two_classes()
    X[:, 0] += 1e3
    targets = 1e4 + X[:, 1]
    own = SVR(kernel="linear", fit_intercept=False, C=1e-3, gap=1e-8).fit(X, targets)
    other = LinearSVR(fit_intercept=False, epsilon=0.1, C=1e-3, tol=1e-8).fit(X, targets)
    np.testing.assert_array_equal(own.intercept_, [0.0])
    np.testing.assert_allclose(own.coef_.ravel(), other.coef_.ravel(), rtol=1e-3, atol=1e-6)


def test_weights_are_copies():
    X, y = two_classes(n=60)
    weight = np.random.default_rng(1).integers(0, 4, 60)
    copied = np.repeat(np.arange(60), weight)
    for model, targets in (
        (SVC(C=3.0, fit_intercept=False), y),
        (SVR(fit_intercept=False), X[:, 1]),
    ):
        weighted = clone(model).fit(X, targets, sample_weight=weight)
        repeated = clone(model).fit(X[copied], targets[copied])
        function = "decision_function" if isinstance(model, SVC) else "predict"
        np.testing.assert_allclose(
            getattr(weighted, function)(X), getattr(repeated, function)(X), atol=1e-3
        )
        assert weighted.certificate_.dual == pytest.approx(repeated.certificate_.dual, rel=1e-6)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_classes_and_probabilities(multi_class):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 3, 90)
    model = SVC(fit_intercept=False, multi_class=multi_class, probability=True).fit(X, y)
    np.testing.assert_array_equal(model.intercept_, 0.0)
    assert set(model.status_) == {"converged"}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_an_infinite_C_allows_no_error():
    X, y = two_classes()
    y = np.where(X[:, 0] > 0, "b", "a")
    model = SVC(C=np.inf, gamma=2.0, fit_intercept=False).fit(X, y)
    assert model.status_ == "converged"
    assert (hinge_loss(y, model.decision_function(X)) < 1e-3).all()
    tube = SVR(C=np.inf, fit_intercept=False, gamma=2.0).fit(X, X[:, 0])
    assert np.abs(tube.predict(X) - X[:, 0]).max() < 0.1 + 1e-3


def test_where_nothing_separates_an_infinite_C_is_refused():
    X = np.array([[1.0], [2.0]])
    with pytest.raises(ValueError, match="C must be finite"):
        SVC(kernel="linear", C=np.inf, fit_intercept=False).fit(X, [0, 1])
    assert SVC(kernel="linear", C=np.inf).fit(X, [0, 1]).score(X, [0, 1]) == 1.0


def test_many_samples_in_float32():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6000, 5)).astype(np.float32)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0.3).astype(int)
    model = SVC(C=10.0, fit_intercept=False, cache_size=100).fit(X, y)
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap <= 1e-4
    np.testing.assert_array_equal(model.intercept_, [0.0])


def test_a_file_keeps_it(tmp_path):
    X, y = two_classes()
    model = SVC(fit_intercept=False).fit(X, y)
    save(model, tmp_path / "model.mm")
    again = load(tmp_path / "model.mm").estimator
    assert again.fit_intercept is False
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_warm_starts_go_on_without():
    X, y = two_classes()
    model = SVC(fit_intercept=False, warm_start=True).fit(X, y)
    model.set_params(C=1.5).fit(X, y)
    cold = SVC(fit_intercept=False, C=1.5).fit(X, y)
    assert model.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-4)


@pytest.mark.parametrize("model", [SVC, SVR, NuSVC, NuSVR])
def test_other_values_are_refused(model):
    with pytest.raises(ParameterError, match="fit_intercept"):
        model(fit_intercept="no").fit([[0.0], [1.0]], [0, 1])


def test_nu_gives_the_C_of_the_machine_that_it_is():
    X, y = two_classes()
    nu = NuSVC(nu=0.4, gamma=0.3, fit_intercept=False, tol=1e-7, gap=1e-9).fit(X, y)
    assert nu.status_ == "converged"
    np.testing.assert_array_equal(nu.intercept_, [0.0])
    C = np.abs(nu.dual_coef_).max()  # 1/ρ
    plain = SVC(C=C, gamma=0.3, fit_intercept=False, tol=1e-7, gap=1e-9).fit(X, y)
    np.testing.assert_allclose(nu.decision_function(X), plain.decision_function(X), atol=1e-5)


def test_nu_is_not_limited_by_the_smaller_class():
    X, y = two_classes()
    y[:] = "a"
    y[:10] = "b"
    with pytest.raises(ValueError, match="infeasible"):
        NuSVC(nu=0.5).fit(X, y)
    model = NuSVC(nu=0.5, fit_intercept=False).fit(X, y)
    assert model.status_ == "converged"
    rho = 1.0 / np.abs(model.dual_coef_).max()
    assert rho * np.abs(model.dual_coef_).sum() == pytest.approx(0.5 * len(y))


def test_nu_svr_finds_the_tube_of_svr():
    X, _ = two_classes()
    targets = 1.0 + np.sin(X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=len(X))
    model = NuSVR(nu=0.3, C=5.0, gamma=0.3, fit_intercept=False, tol=1e-7, gap=1e-9).fit(X, targets)
    np.testing.assert_array_equal(model.intercept_, [0.0])
    settings = {"gamma": 0.3, "fit_intercept": False, "tol": 1e-7, "gap": 1e-9}
    other = SVR(C=5.0, epsilon=model.epsilon_, **settings).fit(X, targets)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-5)
    assert np.abs(model.dual_coef_).sum() == pytest.approx(0.3 * 5.0 * len(X))


def test_nu_svr_finds_tubes_of_no_width():
    X = np.random.default_rng(3).normal(size=(30, 2))
    model = NuSVR(nu=1.0, C=1e4, gamma=1.0, fit_intercept=False).fit(X, X[:, 0])
    assert model.epsilon_ <= 1e-3
    assert model.certificate_.relative_gap <= 1e-4 or model.status_ == "precision"


def test_weights_of_classes_scale_the_C_that_nu_finds():
    X, y = two_classes()
    model = NuSVC(nu=0.3, fit_intercept=False, class_weight="balanced").fit(X, y)
    assert model.status_ == "converged"
    np.testing.assert_array_equal(model.intercept_, [0.0])
