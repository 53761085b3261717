"""`KernelRidge` and `LeastSquaresSVC`: optimum, weights, copies, files, budgets, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge as OtherRidge

from maxmargin import KernelRidge, LeastSquaresSVC
from maxmargin.dual import Certificate
from maxmargin.kernels import Gaussian, Linear, Oligo, Polynomial
from maxmargin.models import load, save


def regression(n=80, features=4, seed=0):
    X, y = make_regression(n, features, noise=5.0, random_state=seed)
    return X, y / 50.0


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.2), Linear(), Polynomial(3, 0.5, 1.0), Gaussian(0.1) + Linear()]
)
def test_without_intercept_it_is_scikit_learns(kernel):
    X, y = regression()
    Y = np.column_stack([y, y * y])
    weight = np.random.default_rng(1).uniform(0.1, 2.0, 80)
    ours = KernelRidge(alpha=0.7, kernel=kernel, fit_intercept=False).fit(X, Y, weight)
    other = OtherRidge(alpha=0.7, kernel="precomputed").fit(kernel(X), Y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), other.predict(kernel(X)), atol=1e-6)
    assert ours.predict(X).shape == (80, 2)


def test_objective_of_the_certificate_is_the_one_stated():
    X, y = regression()
    model = KernelRidge(alpha=0.3, kernel=Gaussian(0.2)).fit(X, y)
    beta = np.zeros(80)
    beta[model.support_] = model.dual_coef_[0]
    K = Gaussian(0.2)(X)
    residual = y - K @ beta - model.intercept_[0]
    value = 0.5 * residual @ residual + 0.15 * beta @ K @ beta
    assert model.certificate_.primal == pytest.approx(value)
    assert isinstance(model.certificate_, Certificate)
    assert model.status_ == "converged"
    moved = 0.5 * (residual - 0.01) @ (residual - 0.01) + 0.15 * beta @ K @ beta
    assert value < moved
    assert model.certificate_.dual <= value * (1.0 + 1e-14)


def test_several_targets_are_as_many_machines():
    X, y = regression()
    Y = np.column_stack([y, np.sin(y), y - 3.0])
    together = KernelRidge().fit(X, Y)
    assert len(together.certificate_) == 3
    for k in range(3):
        alone = KernelRidge().fit(X, Y[:, k])
        np.testing.assert_allclose(together.predict(X)[:, k], alone.predict(X), atol=1e-8)


def test_weight_three_equals_three_copies_and_weight_zero_absence():
    X, y = regression(40)
    weight = np.arange(40) % 4
    weighted = KernelRidge(gamma=0.3).fit(X, y, weight)
    copies = KernelRidge(gamma=0.3).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), copies.predict(X), rtol=1e-12, atol=1e-12)
    assert weighted.certificate_.primal == pytest.approx(copies.certificate_.primal, rel=1e-12)
    assert not np.isin(np.flatnonzero(weight == 0), weighted.support_).any()


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_leave_one_out_residuals_are_those_of_refits(fit_intercept):
    X, y = regression(20)
    X[3], y[3] = X[4], y[4]  # a copy
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 20)
    weight[7] = 0.0
    options = {"alpha": 0.2, "gamma": 0.2, "fit_intercept": fit_intercept}
    model = KernelRidge(leave_one_out=True, **options).fit(X, y, weight)
    assert np.isnan(model.loo_residuals_[7])
    for i in (0, 3, 4, 12):
        rest = np.arange(20) != i
        other = KernelRidge(**options).fit(X[rest], y[rest], weight[rest])
        expected = y[i] - other.predict(X[[i]])[0]
        assert model.loo_residuals_[i] == pytest.approx(expected, rel=1e-7)


def test_no_penalty_interpolates_or_fits_least_squares():
    X, y = regression(30)
    smooth = KernelRidge(alpha=0.0, kernel=Gaussian(1.0)).fit(X, y)
    np.testing.assert_allclose(smooth.predict(X), y, atol=1e-8)
    assert (smooth.status_, smooth.method_) == ("converged", "spectrum")
    flat = KernelRidge(alpha=0.0, kernel="linear").fit(X, y)
    expected = np.linalg.lstsq(np.column_stack([X, np.ones(30)]), y, rcond=None)[0]
    np.testing.assert_allclose(flat.coef_[0], expected[:-1], atol=1e-9)
    assert flat.status_ == "converged"


def test_far_targets_and_far_inputs_lose_no_digits():
    X, y = regression()
    near = KernelRidge(kernel="linear").fit(X, y)
    far = KernelRidge(kernel="linear").fit(X + 1e6, y + 1e7)
    np.testing.assert_allclose(far.predict(X + 1e6) - 1e7, near.predict(X), atol=1e-5)
    assert far.status_ == "converged"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_inputs_give_one_function(dtype):
    X, y = regression()
    X = np.where(np.abs(X) > 1, X, 0.0).astype(dtype)
    dense = KernelRidge(gamma=0.2).fit(X, y)
    thin = KernelRidge(gamma=0.2).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(dense.predict(X), thin.predict(sparse.csr_array(X)), atol=1e-5)


def test_sequences_and_functions_are_inputs_too():
    sequences, y = ["ACGT", "ACGA", "TTTT", "TTTA"], np.array([0.0, 0.1, 1.0, 0.9])
    model = KernelRidge(alpha=1e-3, kernel=Oligo(2, 1.0)).fit(sequences, y)
    np.testing.assert_allclose(model.predict(sequences), y, atol=0.05)
    X, t = regression()
    plain = KernelRidge(kernel="linear").fit(X, t)
    function = KernelRidge(kernel=lambda A, B: A @ B.T).fit(X, t)
    np.testing.assert_allclose(function.predict(X), plain.predict(X), atol=1e-6)


def test_large_fit_is_certified_without_a_matrix_in_memory():
    X, y = regression(2500, 3)
    model = KernelRidge(alpha=1e-2, gamma=0.1, cache_size=1.0, gap=1e-8).fit(X, y)
    assert (model.method_, model.status_) == ("iterative", "converged")
    assert model.certificate_.relative_gap <= 1e-8
    direct = KernelRidge(alpha=1e-2, gamma=0.1, gap=1e-8).fit(X, y)
    assert direct.method_ == "mixed"
    assert direct.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-7)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_files_keep_everything(tmp_path, leave_one_out):
    X, y = regression()
    models = [
        KernelRidge(leave_one_out=leave_one_out).fit(X, np.column_stack([y, -y])),
        KernelRidge(kernel="linear").fit(sparse.csr_array(X), y),
        LeastSquaresSVC(leave_one_out=leave_one_out).fit(*load_iris(return_X_y=True)),
    ]
    for model in models:
        save(model, tmp_path / "model.mm")
        again = load(tmp_path / "model.mm").estimator
        A = load_iris().data if isinstance(model, LeastSquaresSVC) else X
        A = sparse.csr_array(A) if sparse.issparse(model.support_vectors_) else A
        assert (again.predict(A) == model.predict(A)).all()
        assert hasattr(again, "loo_residuals_") == hasattr(model, "loo_residuals_")


def test_time_limit_is_told():
    X, y = regression(300)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model = KernelRidge(max_seconds=1e-9).fit(X, y)
    assert model.status_ == "time_limit"


def test_callback_sees_the_gap_and_may_stop():
    X, y = regression()
    told = []
    model = KernelRidge(callback=lambda progress: told.append(progress) or True).fit(X, y)
    assert model.status_ == "stopped"
    assert np.isfinite(told[0].gap)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1.0}, "alpha of KernelRidge must be a number in"),
        ({"gap": 0.0}, "gap of KernelRidge"),
        ({"fit_intercept": 3}, "fit_intercept of KernelRidge"),
        ({"alpha": 0.0, "leave_one_out": True}, "leave_one_out must be False"),
        ({"kernel": "rfb"}, "kernel of KernelRidge must be one of"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        KernelRidge(**options).fit(*regression())


def test_indefinite_kernels_are_told():
    X, y = regression()
    model = KernelRidge(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert model.status_ == "stationary"


# ---- LeastSquaresSVC ---------------------------------------------------------------------------


def test_classifier_is_ridge_regression_of_the_labels():
    X, y = load_iris(return_X_y=True)
    two = y != 2
    model = LeastSquaresSVC(C=5.0).fit(X[two], y[two])
    ridge = KernelRidge(alpha=0.1).fit(X[two], np.where(y[two] == 1, 1.0, -1.0))
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X), atol=1e-9)
    assert model.certificate_.primal == pytest.approx(ridge.certificate_.primal)


def test_several_classes_are_one_against_the_rest():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LeastSquaresSVC(C=10.0).fit(X, names)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, names) > 0.95
    alone = LeastSquaresSVC(C=10.0).fit(X, y == 1)
    np.testing.assert_allclose(
        model.decision_function(X)[:, 1], alone.decision_function(X), atol=1e-8
    )


def test_class_weights_are_sample_weights():
    X, y = load_iris(return_X_y=True)
    by_class = LeastSquaresSVC(class_weight={1: 3.0}).fit(X, y)
    by_sample = LeastSquaresSVC(gamma=by_class.kernel_.gamma).fit(X, y, np.where(y == 1, 3.0, 1.0))
    np.testing.assert_allclose(
        by_class.decision_function(X), by_sample.decision_function(X), atol=1e-9
    )


def test_squared_hinge_with_all_samples_inside_the_margin_is_the_same_machine():
    """Where no sample lies beyond its margin, ξ ≥ 0 holds by itself."""
    from maxmargin import SVC

    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    least = LeastSquaresSVC(C=0.5, kernel="linear").fit(X, y)
    hinge = SVC(C=0.5, kernel="linear", loss="squared_hinge", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(least.decision_function(X), hinge.decision_function(X), atol=1e-8)
