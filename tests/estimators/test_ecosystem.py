"""At home among the others: cloning, pickling, pipelines, searches, skops, threads."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import (
    SVC,
    SVR,
    AutoSVC,
    DecisionTreeClassifier,
    NuSVC,
    NuSVR,
    OneClassSVM,
    OnlineSVC,
)
from maxmargin.kernels import Gaussian, Linear
from maxmargin.models import TRUSTED_TYPES

ALL = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]
KINDS = [
    *(make() for make in ALL),
    SVC(probability=True, loss="squared_hinge", multi_class="ovr"),
    SVC(kernel="linear", n_jobs=2),
    SVC(kernel=Gaussian(0.5) + Linear()),
]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def values(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_pickled_and_dumped_models_predict_the_same(model, iris, tmp_path):
    X, y = iris
    model = clone(model).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    copies = [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")]
    for copy in copies:
        np.testing.assert_array_equal(values(copy, X), values(model, X))
        assert repr(copy.certificate_) == repr(model.certificate_)


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_skops_loads_models_of_types_from_here_alone(model, iris):
    X, y = iris
    model = clone(model).fit(X, y)
    dumped = skops.io.dumps(model)
    unknown = skops.io.get_untrusted_types(data=dumped)
    assert all(name.startswith("maxmargin.") for name in unknown)
    assert set(unknown) <= set(TRUSTED_TYPES)
    loaded = skops.io.loads(dumped, trusted=TRUSTED_TYPES)
    np.testing.assert_array_equal(values(loaded, X), values(model, X))
    assert repr(loaded.certificate_) == repr(model.certificate_)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        OnlineSVC(),
        AutoSVC(strategy="kta", metric="full"),
        make_pipeline(SimpleImputer(), AutoSVC(strategy="kta")),
    ],
    ids=["tree", "stream", "full metric", "pipeline"],
)
def test_skops_loads_every_kind_of_model_with_the_list(model, iris):
    X, y = iris
    dumped = skops.io.dumps(model.fit(X[50:], y[50:]))
    loaded = skops.io.loads(dumped, trusted=TRUSTED_TYPES)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_clones_have_the_parameters_and_nothing_learned(model, iris):
    copy = clone(clone(model).fit(*iris))
    assert str(copy) == str(model)
    assert not [name for name in vars(copy) if name.endswith("_")]


def test_mappings_of_memory_survive_a_pickle(iris, tmp_path):
    X, y = iris
    np.save(tmp_path / "X.npy", X)
    model = SVC().fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_grid_search_over_a_pipeline(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__kernel": ["rbf", Linear()]}
    search = GridSearchCV(pipeline, grid, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.95


def test_cross_validation_cuts_precomputed_kernels(iris):
    X, y = iris
    plain = cross_val_score(SVC(kernel="linear"), X, y)
    given = cross_val_score(SVC(kernel="precomputed"), X @ X.T, y)
    np.testing.assert_array_equal(plain, given)


def test_wrappers_of_scikit_learn_take_the_machines(iris):
    X, y = iris
    assert OneVsRestClassifier(SVC()).fit(X, y).score(X, y) > 0.9
    assert CalibratedClassifierCV(SVC(), ensemble=False).fit(X, y).predict_proba(X).shape == (
        150,
        3,
    )


def test_scores_are_accuracy_and_determination(iris):
    X, y = iris
    model = SVC().fit(X, y)
    assert model.score(X, y) == (model.predict(X) == y).mean()
    residual = y - SVR().fit(X, y).predict(X)
    expected = 1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum()
    assert SVR().fit(X, y).score(X, y) == pytest.approx(expected)


@pytest.mark.parametrize("model", [*KINDS[:5], SVC(probability=True)], ids=str)
def test_eight_threads_on_shared_data_find_what_one_finds(model):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300] % 3
    asked = ("decision_function", "predict", "predict_proba")
    methods = [name for name in asked if hasattr(model, name)]

    def work(_):
        fitted = clone(model).fit(X, y)
        return [getattr(fitted, name)(X) for name in methods]

    expected = work(0)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(work, range(16)):
            for one, other in zip(found, expected):
                np.testing.assert_allclose(one, other, atol=1e-9)


def test_eight_threads_may_ask_one_model():
    X, y = load_digits(return_X_y=True)
    model = SVC(probability=True).fit(X[:300], y[:300])
    expected = model.predict_proba(X)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.predict_proba(X), range(16)):
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_threads_inside_threads_leave_blas_as_it_was():
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    X, y = load_digits(return_X_y=True)
    before = threads()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: SVC(n_jobs=2).fit(X[:200], y[:200]), range(8)))
    assert threads() == before


def test_importing_the_package_imports_nothing_heavy():
    script = "import sys, maxmargin; print([m for m in ('numba', 'sklearn') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr
