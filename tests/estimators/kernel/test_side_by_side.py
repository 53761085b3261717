"""Side by side with scikit-learn's machines at tol=1e-9: the same functions, in the same layout."""

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

import maxmargin

LOADERS = {
    "iris": datasets.load_iris,
    "digits": datasets.load_digits,
    "breast cancer": datasets.load_breast_cancer,
    "wine": datasets.load_wine,
    "diabetes": datasets.load_diabetes,
}
CLASSIFICATION = ["iris", "digits", "breast cancer", "wine"]
KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "C": 10.0, "gamma": "auto"},
    {"kernel": "linear"},
    {"kernel": "poly", "coef0": 1.0, "degree": 2},
]


def load(name):
    X, y = LOADERS[name](return_X_y=True)
    return StandardScaler().fit_transform(X), y


def fitted(name, X, y, **parameters):
    """Ours with default settings, theirs as exact as it gets."""
    ours = getattr(maxmargin, name)(**parameters).fit(X, y)
    theirs = getattr(sklearn.svm, name)(**parameters, tol=1e-9).fit(X, y)
    return ours, theirs


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("name", CLASSIFICATION)
def test_decisions_of_classifiers_agree(name, kernel, shape):
    X, y = load(name)
    ours, theirs = fitted("SVC", X, y, decision_function_shape=shape, **kernel)
    decisions, expected = ours.decision_function(X), theirs.decision_function(X)
    assert decisions.shape == expected.shape
    # LIBSVM keeps kernel values in float32.
    assert np.abs(decisions - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("SVR", {}),
        ("SVR", {"C": 100.0, "epsilon": 5.0}),
        ("SVR", {"kernel": "linear"}),
        ("NuSVR", {"C": 10.0}),
        ("NuSVR", {"C": 10.0, "nu": 0.2, "kernel": "linear"}),
    ],
)
def test_predictions_of_regressors_agree(name, parameters):
    X, y = load("diabetes")
    ours, theirs = fitted(name, X, y, **parameters)
    assert np.abs(ours.predict(X) - theirs.predict(X)).max() < 1e-5 * np.ptp(y)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_array_equal(ours.support_, theirs.support_)


@pytest.mark.parametrize("name", ["iris", "wine"])
@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_scores_of_novelty_detectors_agree(name, nu):
    X, _ = load(name)
    ours, theirs = fitted("OneClassSVM", X, None, nu=nu)
    for method in ("decision_function", "score_samples"):
        values, expected = getattr(ours, method)(X), getattr(theirs, method)(X)
        assert np.abs(values - expected).max() < 1e-5
    np.testing.assert_allclose(ours.offset_, theirs.offset_, atol=1e-5)


@pytest.mark.parametrize("name", ["digits", "breast cancer", "wine"])
def test_decisions_of_nu_classifiers_agree(name):
    X, y = load(name)
    ours, theirs = fitted("NuSVC", X, y, nu=0.1)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 1e-5


ATTRIBUTES = (
    "class_weight_",
    "classes_",
    "coef_",
    "dual_coef_",
    "fit_status_",
    "intercept_",
    "n_features_in_",
    "n_iter_",
    "n_support_",
    "shape_fit_",
    "support_",
    "support_vectors_",
)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2), ("c", "a", "b")], ids=str)
@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_attributes_of_classifiers_are_laid_out_alike(name, labels, container):
    X, y = load("wine")
    chosen = y < len(labels)
    X, y = container(X[chosen]), np.array(labels)[y[chosen]]
    ours, theirs = fitted(name, X, y, kernel="linear")
    for attribute in ATTRIBUTES:
        one, other = getattr(ours, attribute), getattr(theirs, attribute)
        assert sparse.issparse(one) == sparse.issparse(other), attribute
        if attribute != "n_iter_":
            one = one.toarray() if sparse.issparse(one) else np.asarray(one)
            other = other.toarray() if sparse.issparse(other) else np.asarray(other)
            assert one.dtype == other.dtype, attribute
            if one.dtype.kind == "f":
                np.testing.assert_allclose(one, other, atol=1e-5, err_msg=attribute)
            else:
                np.testing.assert_array_equal(one, other, err_msg=attribute)
    assert ours.n_iter_.shape == theirs.n_iter_.shape


# On centred data LIBSVM does not end with a linear kernel and one class.
OTHER_KERNELS = {"SVR": "linear", "NuSVR": "linear", "OneClassSVM": "rbf"}


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("name", OTHER_KERNELS)
def test_attributes_of_other_machines_are_laid_out_alike(name, container):
    X, y = load("diabetes")
    ours, theirs = fitted(name, container(X), y, kernel=OTHER_KERNELS[name])
    for attribute in ATTRIBUTES[3:]:
        one, other = getattr(ours, attribute), getattr(theirs, attribute)
        assert sparse.issparse(one) == sparse.issparse(other), attribute
        assert np.shape(one) == np.shape(other), attribute
        assert type(one) is type(other) or sparse.issparse(one), attribute


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("name", ["SVR", "NuSVR"])
def test_weights_of_features_agree(name, container):
    X, y = load("diabetes")
    ours, theirs = fitted(name, container(X), y, kernel="linear")
    assert sparse.issparse(ours.coef_) == sparse.issparse(theirs.coef_)
    assert ours.coef_.shape == theirs.coef_.shape
    assert abs(ours.coef_ - theirs.coef_).max() < 1e-4


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_constructors_take_all_parameters_with_the_same_defaults(name):
    ours = getattr(maxmargin, name)().get_params()
    theirs = getattr(sklearn.svm, name)().get_params()
    theirs = {key: False if value == "deprecated" else value for key, value in theirs.items()}
    # A number is a limit here: the default has to be told from it.
    assert (theirs.pop("cache_size"), ours["cache_size"]) == (200, "auto")
    assert theirs.items() <= ours.items()


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
@pytest.mark.filterwarnings("ignore:Attribute `prob:FutureWarning")
def test_public_methods_and_attributes_are_all_there(name):
    X, y = load("wine")
    kernel = OTHER_KERNELS.get(name, "linear")
    ours = getattr(maxmargin, name)(kernel=kernel).fit(X, y)
    theirs = getattr(sklearn.svm, name)(kernel=kernel).fit(X, y)

    def public(model):
        names = {name for name in dir(model) if not name.startswith("_") and hasattr(model, name)}
        return {name for name in names if name.endswith("_") or callable(getattr(model, name))}

    assert public(theirs) - public(ours) == set()


def test_sigmoid_kernel_agrees_where_it_is_well_behaved():
    X, y = load("wine")
    ours, theirs = fitted("SVC", X, y, kernel="sigmoid", gamma=0.01)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 1e-5


def test_ties_between_classes_go_to_the_first_or_to_the_larger_decision():
    X, y = load("iris")
    far = np.random.default_rng(0).normal(scale=20.0, size=(500, 4))
    for break_ties in (False, True):
        ours, theirs = fitted("SVC", X, y, gamma=3.0, break_ties=break_ties)
        np.testing.assert_array_equal(ours.predict(far), theirs.predict(far))
