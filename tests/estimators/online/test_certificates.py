"""What an online machine says of itself, recomputed from the attributes that it delivers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from maxmargin import OnlineSVC


def bounds(model, y, weight, K, place):
    """(primal, dual) of a machine at its delivered function, on X and the support vectors."""
    positive = model.classes_[1] if len(model.intercept_) == 1 else model.classes_[place]
    labels = np.where(y == positive, 1.0, -1.0)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[place]
    bound = model.C * weight
    assert (coef * labels >= 0).all()
    assert (np.abs(coef) <= bound * (1 + 1e-12)).all()
    assert abs(coef.sum()) <= 1e-12 * np.abs(coef).sum()
    f, squared = K @ coef, coef @ K @ coef
    z = f + model.intercept_[place]
    primal = 0.5 * squared + bound @ np.maximum(0, 1 - labels * z)
    return primal, labels @ coef - 0.5 * squared, labels - f, labels, coef, bound


def kernel_of(model, X):
    if model.kernel == "linear":
        return X @ X.T
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-model.gamma * distance)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    n, d = draw(st.integers(4, 40)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, d)) * draw(st.sampled_from([1.0, 1e-6, 1e3]))
    y = rng.integers(0, draw(st.integers(2, 3)), n)
    y[:2] = [0, 1]
    weight = rng.integers(1, 4, n).astype(float)
    model = OnlineSVC(
        kernel=draw(st.sampled_from(["linear", "rbf"])),
        gamma=0.5,
        C=draw(st.sampled_from([0.01, 1.0, 100.0])),
        epochs=draw(st.integers(1, 30)),
        budget=draw(st.sampled_from([None, None, 5])),
        tol=draw(st.sampled_from([1e-3, 1e-6])),
    )
    return model, X, y, weight


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=100, deadline=None)
@given(problems())
def test_the_certificate_is_what_the_delivered_function_says(problem):
    model, X, y, weight = problem
    model.fit(X, y, sample_weight=weight)
    statuses = np.atleast_1d(model.status_)
    K = kernel_of(model, X)
    for place, status in enumerate(statuses):
        _, _, gradient, labels, coef, bound = bounds(model, y, weight, K, place)
        if status == "converged":
            rise = np.where(labels > 0, coef < bound, coef < 0)
            fall = np.where(labels > 0, coef > 0, coef > -bound)
            size = np.abs(K).max() * np.abs(coef).sum()
            worst = gradient[rise].max() - gradient[fall].min()
            assert worst <= model.tol * (1 + 1e-5) + 1e-13 * size
    model.finish(X, y, weight)
    proofs = model.certificate_ if len(statuses) > 1 else [model.certificate_]
    for place, proof in enumerate(proofs):
        primal, dual, _, _, coef, bound = bounds(model, y, weight, K, place)
        # Sums of this size are rounded, and outputs cost their bounds.
        size = 1e-14 * (1.0 + np.abs(K).max() * np.abs(coef).sum()) * bound.sum()
        assert proof.primal == pytest.approx(primal, rel=1e-9, abs=size)
        assert proof.dual == pytest.approx(dual, rel=1e-9, abs=size)
        assert proof.gap >= -1e-15 * primal
        assert proof.gap == pytest.approx(primal - dual, rel=1e-9, abs=size)


def test_single_precision_that_is_not_enough_is_not_called_converged():
    """Passes over rows of float32 come to see no violation where there is one."""
    rng = np.random.default_rng(0)
    X = 1e3 * rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 5e2 * rng.normal(size=60) > 0, 1, 0)
    model = OnlineSVC(C=1e6, epochs=2000, precision="single")
    with pytest.warns(ConvergenceWarning, match="no progress with kernel values in float32.*still"):
        model.fit(X, y)
    assert model.status_ == "precision"
    model.set_params(precision="double")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert model.status_ == "converged"


def test_finish_keeps_the_threshold_that_the_data_ask_for():
    """All support vectors at their bounds: the support set alone does not determine b."""
    rng = np.random.default_rng(0)
    X = 1e-100 * rng.normal(size=(60, 3))
    y = np.where(np.arange(60) < 35, "many", "few")
    model = OnlineSVC(kernel="linear", epochs=50).fit(X, y).finish(X, y)
    assert model.certificate_.relative_gap <= 1e-9
    assert (model.predict(X) == "many").all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_inputs_that_overflow_the_kernel_are_refused(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    for kernel in ("linear", "poly", "rbf"):
        model = OnlineSVC(kernel=kernel, gamma=1.0)
        with pytest.raises(ValueError, match="scale the inputs"):
            model.fit(make(1e160 * X), y)
        assert not hasattr(model, "machines_")
    model = OnlineSVC(kernel="linear").fit(make(X), y)
    with pytest.raises(ValueError, match="scale the inputs"):
        model.predict(make(1e308 * np.array([[1.0, 1.0], [1.0, -1.0]])))


def test_bounds_of_copies_that_differ_by_rounding_are_the_same_bound():
    """Where α is at the sum of the bounds of copies, it is at the bound of their one sample."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(1, 3, size=(37, 1)).astype(float), rng.integers(0, 2, 37)
    for C in (0.1, 0.3, 0.7, 0.8214419546986186):
        model = OnlineSVC(
            C=C, kernel="linear", class_weight="balanced", epochs=20, budget=4, random_state=0
        ).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.finish(X, y)
        if model.certificate_.relative_gap < 1e-12:
            assert model.certificate_.violation < 1e-9


@pytest.mark.parametrize("seed", [3, 6, 8, 10])
def test_coefficients_sum_to_zero_after_much_larger_ones_have_left(seed):
    rng = np.random.default_rng(seed)
    X = 100.0 * (rng.random((40, 1)) < 0.4) * (1.0 + 0.005 * rng.normal(size=(40, 1)))
    weight = 10.0 ** rng.uniform(-8, 8, 40)
    model = OnlineSVC(C=1000.0, kernel="linear", epochs=20, budget=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, np.arange(40) % 2, sample_weight=weight)
    assert abs(model.dual_coef_.sum()) <= 2e-13 * np.abs(model.dual_coef_).sum()


@pytest.mark.parametrize("precision", ["auto", "single"])
def test_float32_inputs_beyond_its_squares_are_computed_in_float64(precision):
    X = np.array([[-3e19], [4e19], [-2e19], [5e19]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OnlineSVC(kernel="linear", C=1e-30, precision=precision).fit(X, [0, 1, 0, 1])
    np.testing.assert_array_equal(model.predict(X), [0, 1, 0, 1])
