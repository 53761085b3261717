"""A weight of 3 equals three copies of a sample, a weight of 0 its absence."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM

ACCURACY = 1e-7


def problem(seed, classes=3, samples=60):
    """Inputs with two decimals, so that some are equal; classes; numbers; weights 0 to 3."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(samples, 4)).round(2)
    X[:4] = X[4:8]
    codes = random.integers(0, classes, samples)
    X += codes[:, None]
    values = X @ [1.0, -2.0, 0.5, 0.0] + random.normal(scale=0.3, size=samples)
    weight = random.integers(0, 4, samples).astype(float)
    return X, codes, values, weight


def values_of(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def both_ways(make, X, y, weight, dense=True):
    """The model of weighted samples, and that of copies in another order."""
    random = np.random.default_rng(7)
    copies = random.permutation(np.repeat(np.arange(len(y)), weight.astype(int)))
    form = np.asarray if dense else sparse.csr_array
    weighted = make().fit(form(X), y, sample_weight=weight)
    copied = make().fit(form(X[copies]), y[copies])
    return weighted, copied, form(X)


CLASSIFIERS = [
    lambda: SVC(),
    lambda: SVC(kernel="linear", C=100.0),
    lambda: SVC(kernel="poly", coef0=1.0),
    lambda: SVC(loss="squared_hinge"),
    lambda: SVC(class_weight="balanced"),
    lambda: SVC(multi_class="ovr"),
    lambda: NuSVC(nu=0.3),
    lambda: NuSVC(nu=0.3, class_weight="balanced"),
]
OTHERS = [
    lambda: SVR(),
    lambda: SVR(kernel="linear", C=100.0, epsilon=0.0),
    lambda: NuSVR(nu=0.3),
    lambda: OneClassSVM(),
    lambda: OneClassSVM(nu=0.1),
]


def name(make):
    return repr(make())


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
@pytest.mark.parametrize("make", CLASSIFIERS, ids=name)
def test_weights_of_classified_samples_are_copies(make, dense):
    X, y, _, weight = problem(0)
    weighted, copied, inputs = both_ways(make, X, y, weight, dense)
    difference = weighted.decision_function(inputs) - copied.decision_function(inputs)
    assert np.abs(difference).max() < ACCURACY


@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
@pytest.mark.parametrize("make", OTHERS, ids=name)
def test_weights_of_other_samples_are_copies(make, dense):
    X, _, y, weight = problem(1)
    weighted, copied, inputs = both_ways(make, X, y, weight, dense)
    assert np.abs(values_of(weighted, inputs) - values_of(copied, inputs)).max() < ACCURACY


@pytest.mark.parametrize("make", [SVC, SVR, OneClassSVM])
def test_scale_of_gamma_counts_copies(make):
    X, y, _, weight = problem(2)
    weighted, copied, _ = both_ways(make, X, y, weight)
    assert weighted.kernel_.gamma == pytest.approx(copied.kernel_.gamma, rel=1e-14)


def test_scale_of_gamma_without_weights_is_the_variance():
    X, y, _, _ = problem(3)
    expected = 1.0 / (4 * X.var())
    assert SVC().fit(X, y).kernel_.gamma == pytest.approx(expected, rel=1e-14)
    assert SVC().fit(sparse.csr_array(X), y).kernel_.gamma == pytest.approx(expected, rel=1e-12)


def test_balanced_classes_count_weights():
    X, y, _, weight = problem(4)
    totals = np.bincount(y, weight)
    model = SVC(class_weight="balanced").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.class_weight_, weight.sum() / (3 * totals), rtol=1e-15)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize(
    "options", [{}, {"multi_class": "ovr"}, {"loss": "squared_hinge"}], ids=str
)
def test_weights_of_classes_are_weights_of_their_samples(classes, options):
    X, y, _, weight = problem(8, classes)
    factors = np.array([8.0, 1.0, 0.125, 2.0])[:classes]
    model = SVC(gamma=0.1, tol=1e-9, decision_function_shape="ovo", **options)
    by_samples = model.fit(X, y, sample_weight=weight * factors[y]).decision_function(X)
    model.set_params(class_weight=dict(enumerate(factors)))
    by_classes = model.fit(X, y, sample_weight=weight).decision_function(X)
    assert np.abs(by_classes - by_samples).max() < ACCURACY
    model.set_params(class_weight=dict(enumerate(factors[::-1])))
    assert (
        np.abs(model.fit(X, y, sample_weight=weight).decision_function(X) - by_samples).max() > 0.1
    )


@pytest.mark.parametrize("make", [SVC, lambda: SVC(probability=True), lambda: NuSVC(nu=0.2)])
def test_class_without_weight_is_absent(make):
    X, y, _, _ = problem(5)
    weight = np.where(y == 1, 0.0, 1.0)
    weighted = make().fit(X, y, sample_weight=weight)
    without = make().fit(X[y != 1], y[y != 1])
    np.testing.assert_array_equal(weighted.classes_, [0, 2])
    difference = weighted.decision_function(X) - without.decision_function(X)
    assert np.abs(difference).max() < ACCURACY


def test_class_weight_zero_is_absence_too():
    X, y, _, _ = problem(6)
    weighted = SVC(class_weight={1: 0.0}, gamma=0.1).fit(X, y)
    without = SVC(gamma=0.1).fit(X[y != 1], y[y != 1])
    np.testing.assert_array_equal(weighted.classes_, [0, 2])
    assert np.abs(weighted.decision_function(X) - without.decision_function(X)).max() < ACCURACY


@pytest.mark.parametrize("probability", [True, "platt"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dense", [True, False], ids=["dense", "sparse"])
def test_probabilities_take_weights_as_copies(probability, classes, dense):
    X, y, _, weight = problem(8, classes)

    def make():
        return SVC(probability=probability, random_state=3)

    weighted, copied, inputs = both_ways(make, X, y, weight, dense)
    difference = weighted.predict_proba(inputs) - copied.predict_proba(inputs)
    assert np.abs(difference).max() < ACCURACY


@pytest.mark.parametrize("make", [SVC, SVR, OneClassSVM])
def test_weights_are_copies_for_a_precomputed_kernel(make):
    X, y, _, weight = problem(9)
    K = X @ X.T + 1.0
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted = make(kernel="precomputed").fit(K, y, sample_weight=weight)
    copied = make(kernel="precomputed").fit(K[np.ix_(copies, copies)], y[copies])
    difference = values_of(weighted, K) - values_of(copied, K[:, copies])
    assert np.abs(difference).max() < ACCURACY


def test_weights_that_are_no_whole_numbers_scale_C():
    X, y, _, _ = problem(10)
    scaled = SVC(C=0.37).fit(X, y)
    weighted = SVC().fit(X, y, sample_weight=np.full(len(y), 0.37))
    assert np.abs(scaled.decision_function(X) - weighted.decision_function(X)).max() < ACCURACY


def test_copies_share_the_coefficient_of_the_sample_they_are_copies_of():
    X = np.array([[0.0], [1.0], [1.0], [1.0]])
    model = SVC(kernel="linear", C=1.0).fit(X, [0, 1, 1, 1])
    np.testing.assert_array_equal(model.support_, [0, 1])
    np.testing.assert_array_equal(model.dual_coef_, [[-1.0, 1.0]])
    squared = SVC(kernel="linear", loss="squared_hinge").fit(X, [0, 1, 1, 1])
    np.testing.assert_array_equal(squared.support_, [0, 1, 2, 3])
    np.testing.assert_allclose(squared.dual_coef_[0, 1:], squared.dual_coef_[0, 1], rtol=1e-15)


def test_coefficients_of_copies_stay_within_C():
    X, y, _, weight = problem(11, classes=2)
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    model = SVC(C=0.5).fit(X[copies], y[copies])
    assert np.abs(model.dual_coef_).max() <= 0.5 * (1 + 1e-15)
    assert model.dual_coef_.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, 1.0], "sample_weight and X have incompatible shapes: got 2 weights for 3 samples"),
        ([[1.0], [1.0], [1.0]], "Sample weights must be 1D array or scalar"),
        ([1.0, np.nan, 1.0], "sample_weight contains NaN or infinity"),
        ([0.0, 0.0, -1.0], "all samples have zero or negative weights"),
        (["a", "b", "c"], "sample_weight must hold numbers"),
    ],
)
def test_weights_of_no_use_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        SVC().fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=weight)
