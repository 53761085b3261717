"""Inputs of every kind, and what is refused."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.estimators.inputs import is_structured, refuse_overflow
from maxmargin.estimators.kernel.training import problems as fitting
from maxmargin.kernels import FromFunction, Gaussian, Linear, Oligo, Precomputed
from maxmargin.solvers import costs, plan

ALL = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("make", ALL)
def test_sparse_and_dense_inputs_give_the_same_function(make, iris):
    X, y = iris
    X = X * (X > 1.0)
    dense, csr = make().fit(X, y), make().fit(sparse.csr_array(X), y)
    assert np.abs(values(dense, X) - values(csr, sparse.csr_array(X))).max() < 1e-8
    assert np.abs(values(dense, X) - values(csr, X)).max() < 1e-8


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_wide_indices_of_sparse_matrices_are_taken(kernel, iris):
    X, y = iris
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    narrow = SVC(kernel=kernel).fit(sparse.csr_array(X), y)
    model = SVC(kernel=kernel).fit(wide, y)
    np.testing.assert_array_equal(model.decision_function(wide), narrow.decision_function(X))


def test_columns_and_rows_of_a_sparse_matrix_may_be_unsorted(iris):
    X, y = iris
    csr = sparse.csr_matrix(X)
    unsorted = csr[:, ::-1]
    unsorted.has_sorted_indices = False
    expected = SVC().fit(X[:, ::-1], y).decision_function(X[:, ::-1])
    assert np.abs(SVC().fit(unsorted, y).decision_function(unsorted) - expected).max() < 1e-9


@pytest.mark.parametrize("make", ALL)
def test_read_only_memory_maps_are_taken(make, iris, tmp_path):
    X, y = iris
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        values(make().fit(mapped, y), mapped), values(make().fit(X, y), X)
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("make", ALL)
def test_data_frames_give_names_to_features(make, frame, iris):
    X, y = iris
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    table = frame(dict(zip(names, X.T)))
    model = make().fit(table, y)
    np.testing.assert_array_equal(model.feature_names_in_, names)
    np.testing.assert_array_equal(values(model, table), values(make().fit(X, y), X))
    with pytest.raises(ValueError, match="feature names"):
        values(model, frame(dict(zip(names[::-1], X.T))))


@pytest.mark.parametrize("make", ALL)
def test_a_fit_on_an_array_forgets_the_names_of_a_frame(make, iris):
    X, y = iris
    model = make().fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    model.fit(X[:, :3].copy(), y)
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("make", ALL)
def test_arrays_of_another_width_are_refused(make, iris):
    X, y = iris
    model = make().fit(X, y)
    with pytest.raises(ValueError, match=r"X has 3 features, but .* is expecting 4 features"):
        model.predict(X[:, :3].copy())


def test_another_number_of_targets_is_refused(iris):
    X, y = iris
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVC().fit(X, y[:-1])


@pytest.mark.parametrize("value", [np.True_, np.False_])
def test_options_may_be_booleans_of_numpy(value, iris):
    assert SVC(shrinking=value).fit(*iris).fit_status_ == 0


@pytest.mark.parametrize("value", [1, 0.0, None, "True", np.array([True])])
def test_what_only_equals_a_boolean_is_no_option(value, iris):
    with pytest.raises(ValueError, match="shrinking of SVC must be one of False, True"):
        SVC(shrinking=value).fit(*iris)


def test_targets_may_be_series(iris):
    X, y = iris
    expected = SVC().fit(X, y).decision_function(X)
    for series in (pd.Series(y), pl.Series(y), y.tolist()):
        np.testing.assert_array_equal(SVC().fit(X, series).decision_function(X), expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 6])
def test_predictions_of_float32_survive_large_coefficients(classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5)).astype(np.float32)
    y = rng.integers(classes, size=3000)
    model = SVC(C=1e4, gamma=0.02, max_iter=8000, decision_function_shape="ovo").fit(X, y)
    values = model.decision_function(X[:500])
    exact = model.set_params(precision="double").decision_function(X[:500])
    size = np.abs(model.dual_coef_).sum()
    assert size > 1e6
    assert np.abs(values - exact).max() < 2e-8 * size


def test_single_precision_inputs_stay_in_single_precision(iris):
    X, y = iris
    model = SVC().fit(X.astype(np.float32), y)
    assert model.support_vectors_.dtype == np.float32
    assert model.decision_function(X.astype(np.float32)).dtype == np.float64
    assert np.abs(model.decision_function(X) - SVC().fit(X, y).decision_function(X)).max() < 1e-5


def large_single(samples=2500, features=400):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, samples)
    X = random.normal(size=(samples, features)).astype(np.float32)
    X += 0.3 * y[:, None].astype(np.float32)
    return X, y


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_large_single_precision_inputs_are_not_copied_to_double():
    X, y = large_single(2100, 8000)
    SVC(gamma=1e-4, max_iter=10).fit(X[:, :50], y)  # compiles what has to be compiled
    tracemalloc.start()
    SVC(gamma=1e-4, max_iter=10).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    gram_matrix, embedded, copy = 4 * len(X) ** 2, X.nbytes, 2 * X.nbytes
    assert peak < gram_matrix + embedded + 0.75 * copy


@pytest.mark.parametrize("precision", ["auto", "single", "double"])
def test_precision_of_large_problems_is_proven_in_double(precision):
    X, y = large_single()
    model = SVC(gamma=1e-3, C=10.0, precision=precision).fit(X, y)
    assert model.certificate_.violation < 1.1e-3
    double = SVC(gamma=1e-3, C=10.0).fit(X.astype(np.float64), y)
    assert abs(model.certificate_.dual - double.certificate_.dual) <= model.certificate_.gap
    assert np.abs(model.decision_function(X) - double.decision_function(X)).max() < 5e-3


def test_single_precision_that_is_not_enough_is_finished_in_double(monkeypatch):
    X, y = large_single()
    X = X[:, :3]
    monkeypatch.setattr(costs, "SINGLE_OF_SINGLE", 100)
    model = SVC(gamma=0.1, C=1e4, tol=1e-6).fit(X[:400], y[:400])
    assert model.certificate_.violation < 1.1e-6
    assert model.fit_status_ == 0


def test_single_precision_that_was_thought_enough_is_finished_in_double(monkeypatch):
    X, y = large_single()
    X, y = X[:400, :3], y[:400]
    monkeypatch.setattr(costs, "SINGLE_OF_SINGLE", 100)
    monkeypatch.setattr(plan, "_is_precise", lambda *_: True)
    model = SVC(gamma=0.1, C=1e4, tol=1e-6)
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        patch.setattr(fitting, "MOST_RETURNS", 0)
        single = model.set_params(precision="single").fit(X, y)
    assert single.certificate_.violation > 2e-6
    assert single.status_ == "precision"
    for precision in ("auto", "single"):
        model = model.set_params(precision=precision).fit(X, y)
        assert model.certificate_.violation <= 1e-6
        assert model.fit_status_ == 0


def test_prediction_in_blocks_is_prediction_at_once(iris, monkeypatch):
    from maxmargin.estimators.kernel import prediction as expansion

    X, y = iris
    for kernel in ("rbf", "linear", "precomputed", lambda A, B: A @ B.T):
        inputs = X @ X.T if kernel == "precomputed" else X
        model = SVC(kernel=kernel).fit(inputs, y)
        at_once = model.decision_function(inputs)
        with monkeypatch.context() as patch:
            patch.setattr(expansion, "PREDICTION_BLOCK", 500)
            in_blocks = model.decision_function(inputs)
        np.testing.assert_allclose(in_blocks, at_once, atol=1e-12)


def test_precomputed_kernel_needs_only_the_columns_of_support_vectors(iris):
    X, y = iris
    K = X @ X.T
    model = SVC(kernel="precomputed").fit(K, y)
    only = np.zeros_like(K)
    only[:, model.support_] = K[:, model.support_]
    np.testing.assert_array_equal(model.decision_function(only), model.decision_function(K))


@pytest.mark.parametrize("make", ALL)
def test_kernels_in_all_forms_are_the_same_machine(make, iris):
    X, y = iris
    named = values(make(kernel="linear").fit(X, y), X)
    K = X @ X.T
    others = [
        values(make(kernel=Linear()).fit(X, y), X),
        values(make(kernel=lambda A, B: A @ B.T).fit(X, y), X),
        values(make(kernel=FromFunction(lambda A, B: A @ B.T)).fit(X, y), X),
        values(make(kernel="precomputed").fit(K, y), K),
        values(make(kernel=Precomputed()).fit(K, y), K),
    ]
    for other in others:
        assert np.abs(named - other).max() < 1e-7


def test_kernel_objects_combine_and_keep_their_parameters(iris):
    X, y = iris
    kernel = Gaussian(0.5) + 0.1 * Linear()
    model = SVC(kernel=kernel, gamma="auto").fit(X, y)
    assert model.kernel_ == kernel
    K = kernel(X)
    given = SVC(kernel="precomputed").fit(K, y)
    assert np.abs(model.decision_function(X) - given.decision_function(K)).max() < 1e-7


def test_sequences_are_classified_by_sequence_kernels():
    random = np.random.default_rng(0)
    letters = np.array(list("ACGT"))
    sequences = ["".join(random.choice(letters, 30)) for _ in range(60)]
    y = np.array(["TATA" in s or "GC" in s for s in sequences])
    kernel = Oligo(k=2, sigma=2.0)
    model = SVC(kernel=kernel, C=10.0).fit(sequences, y)
    K = kernel(sequences)
    expected = SVC(kernel="precomputed", C=10.0).fit(K, y).decision_function(K)
    for container in (list, tuple, np.array, pd.Series):
        decisions = model.decision_function(container(sequences))
        assert np.abs(decisions - expected).max() < 1e-8
    weight = random.integers(0, 3, 60)
    copies = np.repeat(np.arange(60), weight)
    weighted = SVC(kernel=kernel).fit(sequences, y, sample_weight=weight)
    copied = SVC(kernel=kernel).fit([sequences[i] for i in copies], y[copies])
    difference = weighted.decision_function(sequences) - copied.decision_function(sequences)
    assert np.abs(difference).max() < 1e-7


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (["ab", "c"], True),
        ([b"ab", b"c"], True),
        (np.array(["ab", "c"]), True),
        (np.array(["ab", "c"], dtype=object), True),
        ([object(), object()], True),
        ([[1.0], [2.0]], False),
        ([1.0, 2.0], False),
        ([], False),
        (np.zeros((2, 2)), False),
        (np.zeros(2), False),
        (np.zeros((2, 2), dtype=object), False),
        (sparse.eye_array(2), False),
        (pd.DataFrame({"a": [1.0]}), False),
    ],
)
def test_structured_inputs_are_told_from_vectors(X, expected):
    assert is_structured(X) is expected


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("kernel", "gaussian"),
        ("kernel", 3),
        ("degree", -1),
        ("degree", 2.5),
        ("gamma", "large"),
        ("gamma", -0.1),
        ("gamma", np.nan),
        ("coef0", np.inf),
        ("coef0", "0"),
        ("tol", 0.0),
        ("tol", None),
        ("shrinking", 1),
        ("cache_size", 0),
        ("verbose", -1),
        ("max_iter", -2),
        ("max_iter", 1.5),
        ("solver", "libsvm"),
        ("selection", "third_order"),
        ("planning", -1),
        ("precision", "half"),
        ("max_seconds", 0),
        ("warm_start", "yes"),
        ("callback", 1),
    ],
)
def test_bad_parameters_are_named(make, parameter, value):
    with pytest.raises(ValueError, match=f"{parameter} of {make.__name__} must be") as error:
        make(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])
    assert isinstance(error.value, TypeError)
    assert repr(value) in str(error.value)


@pytest.mark.parametrize(
    ("make", "parameter", "value"),
    [
        (SVC, "C", 0.0),
        (SVC, "C", "1"),
        (SVC, "C", True),
        (SVR, "C", -1.0),
        (NuSVR, "C", np.inf),
        (NuSVC, "nu", 0.0),
        (NuSVR, "nu", 1.1),
        (OneClassSVM, "nu", np.nan),
        (SVR, "epsilon", -0.1),
        (SVC, "loss", "logistic"),
        (SVC, "class_weight", "even"),
        (SVC, "class_weight", {0: -1.0}),
        (SVC, "probability", "isotonic"),
        (SVC, "decision_function_shape", "pairs"),
        (NuSVC, "multi_class", "crammer_singer"),
        (SVC, "break_ties", None),
        (SVC, "n_jobs", 0),
    ],
)
def test_bad_parameters_of_some_machines_are_named(make, parameter, value):
    with pytest.raises(ValueError, match=f"{parameter} of {make.__name__} must be"):
        make(**{parameter: value}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("model", "X", "y", "error", "message"),
    [
        (SVC(), [[0.0], [1.0]], [1, 1], ValueError, "number of classes has to be greater than one"),
        (SVC(), [[0.0], [np.nan]], [0, 1], ValueError, "NaN"),
        (SVC(), [[0.0], [1.0]], [0, 1, 1], ValueError, "inconsistent numbers of samples"),
        (SVC(), [[0.0], [1.0]], [0.5, 1.5], ValueError, "Unknown label type"),
        (SVR(), [[0.0], [1.0]], [0.5, np.inf], ValueError, "infinity"),
        (SVC(kernel="precomputed"), np.eye(3)[:2], [0, 1], ValueError, "square matrix"),
        (SVC(kernel="precomputed"), [[1, 2], [0, 1]], [0, 1], ValueError, "symmetric"),
        (SVC(kernel="precomputed"), sparse.eye_array(2), [0, 1], TypeError, "Sparse precomputed"),
        (SVC(kernel=Oligo()), [[1.0], [2.0]], [0, 1], TypeError, "X must contain str or bytes"),
        (SVC(kernel=lambda A, _B: A), [[0.0], [1.0]], [0, 1], ValueError, "kernel must return"),
        (SVC(kernel=lambda *_: "no"), [[0.0], [1.0]], [0, 1], ValueError, "kernel must return"),
        (SVC(class_weight={2: 1.0}), [[0.0], [1.0]], [0, 1], ValueError, "not in class_weight"),
        (SVC(C=np.inf, kernel="linear"), [[0.0], [1.0], [2.0]], [0, 1, 0], ValueError, "C must be"),
        (SVR(C=np.inf, kernel="linear"), [[0.0], [0.0]], [0, 1], ValueError, "C must be finite"),
    ],
)
def test_bad_data_is_refused_with_the_reason(model, X, y, error, message):
    with pytest.raises(error, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("make", ALL)
def test_failed_fit_keeps_the_model_before_it(make, iris):
    X, y = iris
    model = make().fit(pd.DataFrame(X, columns=list("abcd")), y)
    kept = dict(vars(model))
    before = values(model, pd.DataFrame(X, columns=list("abcd")))
    for bad_X, bad_y in [(X[:, :2], y[:-1]), (X[:, :2] * np.nan, y)]:
        with pytest.raises(ValueError, match=r"inconsistent|NaN"):
            model.fit(bad_X, bad_y) if make is not OneClassSVM else model.fit(X * np.nan)
    assert vars(model).keys() == kept.keys()
    assert all(vars(model)[name] is kept[name] for name in kept)
    np.testing.assert_array_equal(values(model, pd.DataFrame(X, columns=list("abcd"))), before)


def test_failure_after_validation_keeps_the_model_before_it(iris):
    X, y = iris
    model = NuSVC(nu=0.1).fit(X, y)
    before = model.decision_function(X)
    model.nu = 0.9
    with pytest.raises(ValueError, match="infeasible"):
        model.fit(X[:55, :2], y[:55])
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_infinite_C_is_the_hard_margin():
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    model = SVC(kernel="linear", C=np.inf).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(model.coef_, [[1.0]], atol=1e-12)
    np.testing.assert_allclose(model.intercept_, [-2.0], atol=1e-12)


def test_squared_hinge_loss_squares_the_errors(iris):
    X, y = iris
    X, y = X[y > 0], y[y > 0]
    model = SVC(loss="squared_hinge", kernel="linear", C=3.0).fit(X, y)
    signs = np.where(y == 2, 1.0, -1.0)

    def objective(w, b):
        return 0.5 * w @ w + 3.0 * (np.maximum(0, 1 - signs * (X @ w + b)) ** 2).sum()

    best = objective(model.coef_[0], model.intercept_[0])
    assert best == pytest.approx(model.certificate_.primal, rel=1e-9)
    random = np.random.default_rng(0)
    for _ in range(50):
        step = random.normal(scale=1e-3, size=5)
        assert objective(model.coef_[0] + step[:4], model.intercept_[0] + step[4]) > best


def test_results_do_not_depend_on_the_order_of_samples(iris):
    X, y = iris
    order = np.random.default_rng(0).permutation(len(y))
    for make in (SVC, NuSVC, SVR, NuSVR, OneClassSVM, lambda: SVC(kernel="sigmoid")):
        straight, shuffled = make().fit(X, y), make().fit(X[order], y[order])
        assert np.abs(values(straight, X) - values(shuffled, X)).max() < 1e-11


@pytest.mark.parametrize("make", ALL)
def test_fits_are_repeatable_to_the_last_bit(make, iris):
    X, y = iris
    first, again = make().fit(X, y), make().fit(X, y)
    np.testing.assert_array_equal(first.dual_coef_, again.dual_coef_)
    np.testing.assert_array_equal(values(first, X), values(again, X))


def test_changed_coefficients_change_the_function(iris):
    X, y = iris
    model = SVC(kernel="linear").fit(X[y > 0], y[y > 0])
    before = model.decision_function(X) - model.intercept_
    model.dual_coef_ = 2.0 * model.dual_coef_
    np.testing.assert_allclose(model.decision_function(X) - model.intercept_, 2.0 * before)
    model.n_support_[0] += 1
    with pytest.raises(ValueError, match="internal representation of SVC was altered"):
        model.predict(X)


@pytest.mark.parametrize("features", [1, 100])
def test_inputs_are_refused_from_the_size_on_at_which_squared_norms_may_overflow(features, iris):
    limit = np.sqrt(1e150 / features)
    y, X = iris[1][:6] + np.arange(6) % 2, np.zeros((6, features))
    for factor, refused in ((0.99, False), (1.01, True), (-1.01, True)):
        X[0, 0] = factor * limit
        for inputs in (X, sparse.csr_array(X)):
            if refused:
                with pytest.raises(ValueError, match="X holds values up to"):
                    refuse_overflow(Gaussian(1.0), inputs)
            else:
                assert refuse_overflow(Gaussian(1.0), inputs) == 1.0
    with pytest.raises(ValueError, match="for example with StandardScaler"):
        SVC().fit(X, y)
