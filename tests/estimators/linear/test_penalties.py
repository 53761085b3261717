"""Penalties and losses: Lasso, ‖w‖₁ with kinks, softmax, and no penalty at all."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.linear_model import Lasso as OtherLasso
from sklearn.linear_model import LogisticRegression as OtherLogistic

from maxmargin import (
    SVC,
    Lasso,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    RidgeRegression,
    SoftmaxRegression,
)
from maxmargin.models import load, save
from maxmargin.solvers.linear.primal.unpenalised import is_separable


def classes(n=150, features=5, seed=0, apart=0.5):
    return make_classification(
        n, features, n_informative=3, n_redundant=0, class_sep=apart, random_state=seed, flip_y=0.1
    )


def regression(n=80, features=10, seed=0):
    X, y = make_regression(n, features, n_informative=4, noise=3.0, random_state=seed)
    return X, y / 20.0


# ---- Lasso -------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_lasso_is_scikit_learns(alpha, fit_intercept):
    X, y = regression()
    weight = np.random.default_rng(1).uniform(0.2, 2.0, len(y))
    ours = Lasso(alpha, fit_intercept=fit_intercept, tol=1e-10).fit(X, y, weight)
    other = OtherLasso(alpha, fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000)
    other.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, other.coef_, atol=1e-5)
    assert (ours.coef_ == 0).sum() >= (other.coef_ == 0).sum()
    residual = y - ours.predict(X)
    value = weight @ residual**2 / (2 * weight.sum()) + alpha * np.abs(ours.coef_).sum()
    assert ours.certificate_.primal * alpha == pytest.approx(value, rel=1e-9)
    assert ours.certificate_.relative_gap <= 1e-10


def test_lasso_weight_three_equals_three_copies():
    X, y = regression(30)
    weight = np.arange(30) % 4
    ours = Lasso(0.1, tol=1e-12).fit(X, y, weight)
    copies = Lasso(0.1, tol=1e-12).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(ours.coef_, copies.coef_, atol=1e-9)


# ---- ‖w‖₁ with kinks ---------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.01, 0.1, 10.0])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"intercept_scaling": 2.0}])
def test_hinge_with_l1_has_primal_and_dual_of_one_value(C, options):
    X, y = classes()
    model = LinearSVC(penalty="l1", loss="hinge", C=C, **options).fit(X, y)
    s = np.where(y == model.classes_[1], 1.0, -1.0)
    w, b, beta = model.coef_[0], model.intercept_[0], model.solution_.beta
    scaling = options.get("intercept_scaling")
    penalty = np.abs(w).sum() + (abs(b) / scaling if scaling else 0.0)
    primal = penalty + C * np.maximum(0, 1 - s * (X @ w + b)).sum()
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    # The dual: Σ yβ with 0 ≤ yβ ≤ C, |Σ β x| ≤ 1, and what the intercept demands.
    assert (s * beta >= -1e-12).all()
    assert (s * beta <= C * (1 + 1e-12)).all()
    assert np.abs(beta @ X).max() <= 1 + 1e-9
    if options.get("fit_intercept", True):
        assert abs(beta.sum()) <= (1 / scaling if scaling else 0.0) + 1e-9
    assert (s * beta).sum() == pytest.approx(primal, rel=1e-6)
    assert model.status_ == "converged"


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("thin", [False, True])
def test_regression_with_l1_and_a_tube_has_primal_and_dual_of_one_value(epsilon, thin):
    X, y = regression()
    model = LinearSVR(penalty="l1", epsilon=epsilon, C=0.5)
    model.fit(sparse.csr_array(X) if thin else X, y)
    w, b, beta = model.coef_, model.intercept_[0], model.solution_.beta
    loss = np.maximum(0, np.abs(y - X @ w - b) - epsilon)
    primal = np.abs(w).sum() + 0.5 * loss.sum()
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert np.abs(beta).max() <= 0.5 * (1 + 1e-12)
    assert np.abs(beta @ X).max() <= 1 + 1e-9
    assert y @ beta - epsilon * np.abs(beta).sum() == pytest.approx(primal, rel=1e-6)
    assert model.status_ == "converged"


def test_smooth_regression_with_l1_is_certified():
    X, y = regression()
    model = LinearSVR(penalty="l1", loss="squared_epsilon_insensitive", epsilon=0.1).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.status_ == "converged"


# ---- softmax -----------------------------------------------------------------------------------


def softmax_objective(model, X, y, C, weight):
    z = X @ model.coef_.T + model.intercept_
    codes = np.searchsorted(model.classes_, y)
    losses = logsumexp(z, axis=1) - z[np.arange(len(z)), codes]
    return 0.5 * (model.coef_**2).sum() + C * weight @ losses


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_softmax_reaches_scikit_learns_objective(C, fit_intercept):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    ours = SoftmaxRegression(C=C, fit_intercept=fit_intercept, tol=1e-9).fit(X, y, weight)
    other = OtherLogistic(C=C, fit_intercept=fit_intercept, tol=1e-10, max_iter=100_000)
    other.fit(X, y, sample_weight=weight)
    assert ours.status_ == "converged"
    value = softmax_objective(ours, X, y, C, weight)
    assert ours.certificate_.primal == pytest.approx(value, rel=1e-10)
    assert value <= softmax_objective(other, X, y, C, weight) * (1 + 1e-9)
    assert ours.certificate_.dual <= softmax_objective(other, X, y, C, weight)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"intercept_scaling": 3.0}])
def test_dual_value_of_softmax_is_that_of_its_dual_point(options):
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression(C=2.0, **options).fit(X, y)
    beta = model.solution_.beta
    p = -beta / 2.0
    p[np.arange(150), y] += 1.0
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    entropy = -np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0).sum()
    dual = 2.0 * entropy - 0.5 * ((beta.T @ X) ** 2).sum()
    if "intercept_scaling" in options:
        dual -= 0.5 * 9.0 * (beta.sum(axis=0) ** 2).sum()
    elif not options:
        assert np.abs(beta.sum(axis=0)).max() < 1e-9
    assert model.certificate_.dual == pytest.approx(dual, rel=1e-7)
    assert model.certificate_.relative_gap <= 1e-6


def test_softmax_of_two_classes_is_logistic_regression_with_twice_the_C():
    X, y = classes()
    softmax = SoftmaxRegression(C=0.5, tol=1e-10).fit(X, y)
    logistic = LogisticRegression(C=1.0, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(softmax.coef_, logistic.coef_, atol=1e-6)
    np.testing.assert_allclose(softmax.predict_proba(X), logistic.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(
        softmax.predict_log_proba(X), np.log(softmax.predict_proba(X)), atol=1e-10
    )


def test_softmax_with_many_weights_is_solved_by_conjugate_gradients():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(120, 700)), np.arange(120) % 3
    model = SoftmaxRegression(C=0.1).fit(X, y)
    thin = SoftmaxRegression(C=0.1).fit(sparse.csr_array(X), y)
    assert model.status_ == thin.status_ == "converged"
    np.testing.assert_allclose(model.coef_, thin.coef_, atol=1e-3)


def test_softmax_begins_where_it_ended_and_is_kept_in_a_file(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = SoftmaxRegression(warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ <= 1
    save(model, tmp_path / "softmax.mm")
    again = load(tmp_path / "softmax.mm").estimator
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


# ---- no penalty --------------------------------------------------------------------------------


def test_ridge_without_penalty_is_least_squares():
    X, y = regression()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = RidgeRegression(alpha=0.0).fit(X, y, weight)
    A = np.column_stack([X, np.ones(len(X))]) * np.sqrt(weight)[:, None]
    expected = np.linalg.lstsq(A, np.sqrt(weight) * y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_, expected[:-1], atol=1e-10)
    residual = y - model.predict(X)
    assert model.certificate_.primal == pytest.approx(0.5 * weight @ residual**2)
    assert model.status_ == "converged"


def test_ridge_without_penalty_and_with_many_features_is_the_shortest_interpolation():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(10, 30)), random.normal(size=10)
    model = RidgeRegression(alpha=0.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(X) @ y, atol=1e-10)
    assert model.status_ == "converged"


def test_logistic_regression_without_penalty_is_maximum_likelihood():
    X, y = classes(apart=0.2)
    assert not is_separable(X, np.where(y == 1, 1, -1))
    model = LogisticRegression(C=np.inf, tol=1e-9).fit(X, y)
    other = OtherLogistic(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-4)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(X.T @ (y - p), 0.0, atol=1e-6)
    assert model.status_ == "converged"
    assert model.certificate_.relative_gap <= 1e-9
    beta = model.solution_.beta
    assert np.abs(beta @ X).max() < 1e-8
    assert abs(beta.sum()) < 1e-8


@pytest.mark.parametrize(
    "X", [[[0.0], [1.0], [2.0], [3.0]], [[0.0], [1.0], [1.0], [3.0]]], ids=["apart", "touching"]
)
def test_separable_classes_without_penalty_have_no_solution(X):
    with pytest.raises(ValueError, match="a plane separates the classes"):
        LogisticRegression(C=np.inf).fit(X, [0, 0, 1, 1])


def test_hinge_without_penalty_is_the_hard_margin_of_separable_classes():
    X, y = classes(apart=0.5)
    X = X + 4.0 * np.where(y == 1, 1.0, -1.0)[:, None]
    model = LinearSVC(loss="hinge", C=np.inf).fit(X, y)
    hard = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, hard.coef_, rtol=1e-4, atol=1e-6)
    margins = np.where(y == 1, 1.0, -1.0) * model.decision_function(X)
    assert margins.min() >= 1 - 1e-6
    assert model.certificate_.primal == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_squared_hinge_without_penalty_has_the_least_loss(fit_intercept, seed):
    X, y = classes(apart=0.2, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, len(y))
    model = LinearSVC(C=np.inf, fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    A = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * A

    def loss(v):
        slack = np.maximum(0.0, 1.0 - signed @ v)
        return weight @ slack**2, -2.0 * signed.T @ (weight * slack)

    best = minimize(loss, np.zeros(A.shape[1]), jac=True, options={"gtol": 1e-10}).fun
    assert model.status_ == "converged"
    assert model.certificate_.primal == pytest.approx(best, rel=1e-9)
    assert model.certificate_.relative_gap <= 1e-10
    assert model.certificate_.violation <= 1e-8


def test_squared_hinge_without_penalty_is_the_hard_margin_of_separable_classes():
    X, y = classes(apart=0.5)
    X = X + 4.0 * np.where(y == 1, 1.0, -1.0)[:, None]
    model = LinearSVC(C=np.inf).fit(X, y)
    hard = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, hard.coef_, rtol=1e-4, atol=1e-6)


def test_hinge_without_penalty_has_the_least_loss_of_others():
    X, y = classes(apart=0.2)
    model = LinearSVC(loss="hinge", C=np.inf).fit(X, y)
    s = np.where(y == 1, 1.0, -1.0)
    value = np.maximum(0, 1 - s * model.decision_function(X)).sum()
    assert model.certificate_.primal == pytest.approx(value)
    assert model.certificate_.relative_gap <= 1e-6
    large = LinearSVC(loss="hinge", C=1e5).fit(X, y)
    assert value <= np.maximum(0, 1 - s * large.decision_function(X)).sum() * (1 + 1e-6)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(C=np.inf, penalty="l1"), "C of LinearSVC must be finite, got inf: it needs"),
        (SoftmaxRegression(C=np.inf), "C of SoftmaxRegression must be finite"),
        (LogisticRegression(C=np.inf, intercept_scaling=1.0), "intercept_scaling must be None"),
        (Lasso(alpha=0.0), "alpha of Lasso must be a number in"),
        (RidgeRegression(alpha=-1.0), "alpha of RidgeRegression"),
        (LinearSVR(penalty="l3"), "penalty of LinearSVR must be one of"),
    ],
)
def test_bad_parameters_are_named(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*classes())
