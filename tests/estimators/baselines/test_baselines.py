"""Baselines: by hand, beside scikit-learn, with kernels, weights as copies."""

import numpy as np
import pytest
import sklearn.linear_model
from compiling import examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin.archive import Contents, ModelFileError, read_archive, write_archive
from maxmargin.estimators.baselines import (
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    LinearRegression,
    MeanClassifier,
)
from maxmargin.kernels import Gaussian, Linear, Oligo, Polynomial
from maxmargin.models import load, save

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3))
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
TWO = np.where(X[:, 0] + 0.3 * RANDOM.normal(size=80) > 0, "up", "down")
VALUES = X @ [1.0, -2.0, 0.5] + RANDOM.normal(size=80)
NEW = RANDOM.normal(size=(50, 3))


@parametrize_with_checks(
    [
        MeanClassifier(),
        MeanClassifier(kernel="rbf"),
        MeanClassifier(kernel="precomputed"),
        KernelNeighborsClassifier(),
        KernelNeighborsClassifier(2, kernel="poly"),
        KernelNeighborsRegressor(),
        KernelNeighborsRegressor(kernel="precomputed"),
        LinearRegression(),
        LinearRegression(fit_intercept=False),
    ]
)
def test_scikit_learns_check(estimator, check):
    check(estimator)


# ---- means ----------------------------------------------------------------------------------


def test_nearest_mean_is_that_of_scikit_learn():
    model = MeanClassifier().fit(X, THREE)
    theirs = NearestCentroid().fit(X, THREE)
    np.testing.assert_allclose(model.means_, theirs.centroids_, atol=1e-14)
    np.testing.assert_array_equal(model.predict(NEW), theirs.predict(NEW))


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(0.7), Polynomial(2, 1.0, 1.0)])
def test_distances_are_those_of_the_definition(kernel):
    model = MeanClassifier(kernel=kernel).fit(X, THREE)
    K, to_new = kernel(X), kernel(NEW, X)
    expected = np.empty((50, 3))
    for k in range(3):
        rows = np.flatnonzero(np.equal(THREE, k))
        within = K[np.ix_(rows, rows)].mean()
        expected[:, k] = kernel.diagonal(NEW) - 2 * to_new[:, rows].mean(axis=1) + within
    np.testing.assert_array_equal(model.predict(NEW), expected.argmin(axis=1))
    if not isinstance(kernel, Linear):
        nearness = model.decision_function(NEW)
        np.testing.assert_allclose(kernel.diagonal(NEW)[:, None] - nearness, expected, atol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_decision_is_one_at_the_means(kernel):
    model = MeanClassifier(kernel=kernel).fit(X, TWO)
    # f is affine in feature space, so its mean over a class is its value at the mean.
    values = model.decision_function(X)
    assert values[TWO == "up"].mean() == pytest.approx(1.0)
    assert values[TWO == "down"].mean() == pytest.approx(-1.0)


def test_forms_of_the_same_kernel_agree():
    expected = MeanClassifier().fit(X, TWO).decision_function(NEW)
    thin = MeanClassifier().fit(sparse.csr_array(X), TWO)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(NEW)), expected, atol=1e-12)
    known = MeanClassifier(kernel="precomputed").fit(X @ X.T, TWO)
    np.testing.assert_allclose(known.decision_function(NEW @ X.T), expected, atol=1e-12)


def test_large_offset_does_not_hide_means():
    model = MeanClassifier().fit(X + 1e9, TWO)
    expected = MeanClassifier().fit(X, TWO).decision_function(NEW)
    np.testing.assert_allclose(model.decision_function(NEW + 1e9), expected, atol=1e-5)


def test_equal_means_decide_for_the_first_class():
    model = MeanClassifier().fit([[-1.0], [1.0], [-2.0], [2.0]], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict([[0.3], [-7.0]]), [0, 0])


def test_means_of_other_kernels_have_no_coordinates():
    with pytest.raises(AttributeError, match="linear kernel of dense inputs only"):
        _ = MeanClassifier(kernel="rbf").fit(X, TWO).means_


# ---- neighbours -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 4, 80, 200])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_neighbours_are_those_of_scikit_learn(k, kernel):
    ours = KernelNeighborsClassifier(k, kernel=kernel).fit(X, THREE)
    theirs = KNeighborsClassifier(min(k, 80)).fit(X, THREE)
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-14)
    ours = KernelNeighborsRegressor(k, kernel=kernel).fit(X, VALUES)
    theirs = KNeighborsRegressor(min(k, 80)).fit(X, VALUES)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), atol=1e-13)


def test_order_of_neighbours_is_that_in_feature_space():
    kernel = Polynomial(3, 1.0, 1.0)
    model = KernelNeighborsRegressor(3, kernel=kernel).fit(X, VALUES)
    distance = kernel.diagonal(NEW)[:, None] - 2 * kernel(NEW, X) + kernel.diagonal(X)
    nearest = np.argsort(distance, axis=1)[:, :3]
    np.testing.assert_allclose(model.predict(NEW), VALUES[nearest].mean(axis=1), atol=1e-13)
    euclidean = KernelNeighborsRegressor(3).fit(X, VALUES).predict(NEW)
    assert not np.allclose(model.predict(NEW), euclidean)


@examples(40)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 7))
def test_weight_three_equals_three_copies(seed, k):
    random = np.random.default_rng(seed)
    inputs = random.integers(0, 4, size=(15, 2)).astype(float)
    weight = random.integers(0, 4, size=15)
    weight[:2] = 1
    rows = np.repeat(np.arange(15), weight)
    new = random.normal(size=(20, 2))
    codes, values = random.integers(0, 3, size=15), random.normal(size=15)
    codes[:2] = 0, 1
    models = (
        (MeanClassifier(), codes),
        (MeanClassifier(kernel=Gaussian(0.3)), codes),
        (KernelNeighborsClassifier(k), codes),
        (KernelNeighborsRegressor(k), values),
        (LinearRegression(), values),
    )
    for model, target in models:
        weighted = model.fit(inputs, target, sample_weight=weight)
        name = next(
            m for m in ("predict_proba", "decision_function", "predict") if hasattr(model, m)
        )
        told = getattr(weighted, name)(new)
        copied = getattr(model.fit(inputs[rows], target[rows]), name)(new)
        np.testing.assert_allclose(told, copied, rtol=1e-8, atol=1e-8)


def test_neighbours_of_sequences():
    texts = ["AAAAAAAA", "AAAATAAA", "GGGGGGGG", "GGGGCGGG"]
    model = KernelNeighborsClassifier(1, kernel=Oligo(2, 1.0)).fit(texts, [0, 0, 1, 1])
    assert model.predict(["AAAAAATA", "GGCGGGGG"]).tolist() == [0, 1]


# ---- least squares --------------------------------------------------------------------------


def test_regression_is_that_of_scikit_learn():
    weight = RANDOM.uniform(0.2, 2.0, size=80)
    for target in (VALUES, np.column_stack([VALUES, X[:, 0] ** 2])):
        for intercept in (True, False):
            ours = LinearRegression(fit_intercept=intercept).fit(X, target, weight)
            theirs = sklearn.linear_model.LinearRegression(fit_intercept=intercept)
            theirs.fit(X, target, weight)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)
            np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=1e-10)


def test_regression_is_the_formula_with_the_generalised_inverse():
    inputs = np.column_stack([X, X[:, 0] + X[:, 1]])  # of rank 3
    centred = inputs - inputs.mean(axis=0)
    M = (VALUES - VALUES.mean()) @ inputs @ np.linalg.pinv(centred.T @ inputs, rcond=1e-10)
    model = LinearRegression().fit(inputs, VALUES)
    assert model.rank_ == 3
    np.testing.assert_allclose(model.coef_, M, atol=1e-10)
    np.testing.assert_allclose(
        model.intercept_, VALUES.mean() - M @ inputs.mean(axis=0), atol=1e-10
    )


# ---- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (MeanClassifier(), TWO),
        (MeanClassifier(kernel=Gaussian(0.5)), THREE),
        (KernelNeighborsClassifier(3, kernel="rbf"), TWO),
        (KernelNeighborsRegressor(3), VALUES),
        (LinearRegression(), VALUES),
        (LinearRegression(), np.column_stack([VALUES, X[:, 0]])),
    ],
    ids=["mean", "kernel mean", "neighbours", "values", "line", "lines"],
)
def test_file_keeps_everything(model, target, tmp_path):
    save(model.fit(X, target), tmp_path / "model.mm")
    read = load(tmp_path / "model.mm").estimator
    np.testing.assert_array_equal(read.predict(NEW), model.predict(NEW))


def test_file_of_other_inputs_is_read(tmp_path):
    texts = ["AAAAAAAA", "AAAATAAA", "GGGGGGGG", "GGGGCGGG"]
    model = MeanClassifier(kernel=Oligo(2, 1.0)).fit(texts, [0, 0, 1, 1])
    save(model, tmp_path / "model.mm")
    assert load(tmp_path / "model.mm").estimator.predict(["AAAAAATA"]).tolist() == [0]
    model = KernelNeighborsClassifier(1, kernel="precomputed").fit(X @ X.T, TWO)
    save(model, tmp_path / "model.mm")
    read = load(tmp_path / "model.mm").estimator
    np.testing.assert_array_equal(read.predict(NEW @ X.T), model.predict(NEW @ X.T))


def forged(path, change):
    values, arrays = read_archive(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays)
    write_archive(path, Contents(values, arrays))
    return path


def test_forged_neighbours_are_refused(tmp_path):
    path = tmp_path / "model.mm"

    def wrong_class(arrays):
        arrays["attributes.y_fit_"][0] = 9

    def no_weight(arrays):
        arrays["attributes.sample_weight_"][0] = 0.0

    def short(arrays):
        arrays["attributes.X_fit_"] = arrays["attributes.X_fit_"][1:].copy()

    for change, message in (
        (wrong_class, "y_fit_ is out of range"),
        (no_weight, "sample_weight_ must be positive"),
        (short, "vectors"),
    ):
        save(KernelNeighborsClassifier().fit(X, TWO), path)
        with pytest.raises(ModelFileError, match=message):
            load(forged(path, change))


# ---- errors ---------------------------------------------------------------------------------


def test_bad_parameters_are_refused_by_name():
    with pytest.raises(ValueError, match="n_neighbors of KernelNeighborsClassifier must be"):
        KernelNeighborsClassifier(0).fit(X, THREE)
    with pytest.raises(ValueError, match="kernel of MeanClassifier must be a name or a kernel"):
        MeanClassifier(kernel=lambda a, b: a @ b.T).fit(X, TWO)
    with pytest.raises(ValueError, match="fit_intercept of LinearRegression must be one of"):
        LinearRegression(fit_intercept=2).fit(X, VALUES)
