"""Estimators on strings: what goes in, what comes out, and the company they keep."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from maxmargin import SVC, SVR, NuSVC, NuSVR, OneClassSVM, OnlineSVC, SVCSearch
from maxmargin.kernels import (
    CombinedOligo,
    EncodedSequences,
    Gaussian,
    Normalised,
    Oligo,
    TripletOligo,
    WeightedOligo,
)

KERNEL = Oligo(k=3, sigma=1.0)
KERNELS = [
    KERNEL,
    CombinedOligo((1.0, 1.0, 2.0)),
    WeightedOligo((1.0, 1.0, 2.0), (1.0, 0.5, 2.0)),
    TripletOligo(1.0, {"GAG": 4.0}),
    Normalised(Oligo(2) + 2.0 * KERNEL),
]
ALL = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]
BUILDERS = [*ALL, OnlineSVC]
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "array of bytes": lambda X: np.array(X, dtype="S"),
    "array of objects": lambda X: np.array(X, dtype=object),
    "array of variable width": lambda X: np.array(X, dtype=np.dtypes.StringDType()),
    "list of bytes": lambda X: [x.encode() for x in X],
    "lower case": lambda X: [x.lower() for x in X],
    "series": pd.Series,
    "series of strings": lambda X: pd.Series(X, dtype="string"),
    "encoded": EncodedSequences,
}


def sequences(count, seed=0):
    """Random strings of 15 to 20 letters, every other one with GAGG at its fifth letter."""
    random = np.random.default_rng(seed)
    strings = ["".join(random.choice(list("ACGT"), random.integers(15, 21))) for _ in range(count)]
    marked = np.arange(count) % 2 == 0
    X = [f"{x[:4]}GAGG{x[8:]}" if mark else x for x, mark in zip(strings, marked)]
    return X, marked.astype(int)


X, y = sequences(60)
NEW, TRUTH = sequences(40, seed=1)


def values(model, strings):
    return getattr(model, "decision_function", model.predict)(strings)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("make", ALL)
def test_strings_give_the_machine_of_their_gram_matrix(make, kernel):
    model = make(kernel=kernel, tol=1e-8).fit(X, y)
    given = make(kernel="precomputed", tol=1e-8).fit(kernel(X), y)
    assert np.abs(values(model, NEW) - values(given, kernel(NEW, X))).max() < 1e-7


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_a_motif_is_learned(kernel):
    assert SVC(kernel=kernel).fit(X, y).score(NEW, TRUTH) >= 0.9


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("make", ALL)
def test_containers_of_the_same_strings_are_alike(make, container):
    expected = values(make(kernel=KERNEL).fit(X, y), NEW)
    found = values(make(kernel=KERNEL).fit(container(X), y), container(NEW))
    assert np.abs(found - expected).max() < 1e-12


@pytest.mark.parametrize("container", [list, np.array, pd.Series])
def test_containers_of_the_same_stream_are_alike(container):
    expected = OnlineSVC(kernel=KERNEL).fit(X, y).decision_function(NEW)
    model = OnlineSVC(kernel=KERNEL).fit(container(X), y)
    assert np.array_equal(model.decision_function(container(NEW)), expected)


def test_every_solver_finds_the_same_machine():
    duals = [SVC(kernel=KERNEL, solver=s, tol=1e-8).fit(X, y) for s in ("full", "rows", "blocks")]
    assert np.ptp([model.certificate_.dual for model in duals]) < 1e-9


def test_the_certificate_is_of_the_gram_matrix():
    model = SVC(kernel=KERNEL, tol=1e-8).fit(X, y)
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_[0]
    dual = (2 * y - 1) @ alpha - 0.5 * alpha @ KERNEL(X) @ alpha
    assert model.certificate_.dual == pytest.approx(dual, rel=1e-12)
    assert model.certificate_.relative_gap < 1e-7


def test_support_vectors_are_the_strings_themselves():
    model = SVC(kernel=KERNEL).fit(X, y)
    assert list(model.support_vectors_) == [X[i] for i in model.support_]


def test_probabilities_agree_with_predictions():
    model = SVC(kernel=KERNEL, probability=True).fit(X, y)
    P = model.predict_proba(NEW)
    assert P.sum(axis=1) == pytest.approx(np.ones(len(NEW)))
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(NEW))


def test_more_than_two_classes_are_told_apart():
    motifs = ("GAGG", "TTTT", "CACA")
    labels = np.arange(90) % 3
    strings = [x[:4] + motifs[label] + x[8:] for x, label in zip(sequences(90)[0], labels)]
    model = SVC(kernel=KERNEL).fit(strings[:60], labels[:60])
    assert model.decision_function(strings[60:]).shape == (30, 3)
    assert model.score(strings[60:], labels[60:]) >= 0.9


def test_regression_follows_a_count():
    counts = np.array([x.count("A") for x in X], dtype=float)
    model = SVR(kernel=Oligo(1, sigma=100.0, normalised=False), C=100.0, epsilon=0.1)
    new = np.array([x.count("A") for x in NEW], dtype=float)
    assert model.fit(X, counts).score(NEW, new) > 0.95


def test_one_class_rejects_what_shares_no_triplet():
    model = OneClassSVM(kernel=KERNEL, nu=0.1).fit([x.replace("T", "A") for x in X])
    assert model.predict(["TTTTTTTTTTTTTTT"]) == [-1]


@pytest.mark.parametrize("make", BUILDERS)
def test_pickled_models_predict_the_same(make):
    model = make(kernel=KERNEL).fit(X, y)
    assert np.array_equal(values(pickle.loads(pickle.dumps(model)), NEW), values(model, NEW))


def test_a_clone_has_an_equal_kernel():
    assert clone(SVC(kernel=TripletOligo(2.0))).kernel == TripletOligo(2.0)


def test_a_pipeline_passes_strings_on():
    dna = FunctionTransformer(lambda rna: [x.replace("U", "T") for x in rna])
    rna = [x.replace("T", "U") for x in NEW]
    model = make_pipeline(dna, SVC(kernel=KERNEL)).fit(X, y)
    assert np.array_equal(model.predict(rna), SVC(kernel=KERNEL).fit(X, y).predict(NEW))


@pytest.mark.parametrize("container", [list, np.array, pd.Series])
def test_cross_validation_takes_parts_of_strings(container):
    K = KERNEL(X)
    found = cross_val_predict(SVC(kernel=KERNEL), container(X), y, method="decision_function")
    given = cross_val_predict(SVC(kernel="precomputed"), K, y, method="decision_function")
    assert np.abs(found - given).max() < 1e-5
    assert cross_val_score(SVC(kernel=KERNEL), container(X), y).mean() > 0.8


def test_grid_search_chooses_among_kernels():
    kernels = [Oligo(3, sigma=1.0), Oligo(3, sigma=1e-3), Oligo(1, sigma=100.0)]
    search = GridSearchCV(SVC(), {"kernel": kernels, "C": [1.0, 10.0]}, error_score="raise")
    assert search.fit(X, y).best_params_["kernel"] in kernels[:2]


@pytest.mark.parametrize("strategy", ["kta", "span", "likelihood", "cv-cma", "radius_margin"])
def test_svc_search_tunes_a_sequence_kernel(strategy):
    search = SVCSearch(SVC(kernel=Oligo(3, sigma=8.0)), strategy, effort=0.02).fit(X, y)
    assert search.best_params_["kernel"].sigma != 8.0
    assert search.best_params_["kernel"] == search.best_estimator_.kernel_
    assert search.score(NEW, TRUTH) > 0.8


def test_svc_search_weighs_the_triplets_of_the_motif():
    search = SVCSearch(SVC(kernel=TripletOligo()), "kta", effort=0.1).fit(X, y)
    kernel = search.best_params_["kernel"]
    assert kernel.triplets[np.argmax(kernel.weights)] in ("GAG", "AGG")


def test_a_stream_of_strings_ends_at_the_machine_of_all():
    model = OnlineSVC(kernel=KERNEL, tol=1e-8)
    for start in range(0, 60, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20], classes=[0, 1])
    batch = SVC(kernel=KERNEL, tol=1e-8).fit(X, y)
    assert model.finish().dual_ == pytest.approx(batch.certificate_.dual, rel=1e-7)


# ---- what inputs may be ------------------------------------------------------------------------


@pytest.mark.parametrize("make", BUILDERS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_tags_ask_for_strings(make, kernel):
    tags = make(kernel=kernel).__sklearn_tags__().input_tags
    assert (tags.one_d_array, tags.string) == (True, True)
    assert (tags.two_d_array, tags.sparse, tags.pairwise) == (False, False, False)


@pytest.mark.parametrize("kernel", ["rbf", Gaussian(1.0)], ids=str)
@pytest.mark.parametrize("make", BUILDERS)
def test_tags_ask_for_vectors_elsewhere(make, kernel):
    tags = make(kernel=kernel).__sklearn_tags__().input_tags
    assert (tags.one_d_array, tags.string) == (False, False)
    assert (tags.two_d_array, tags.sparse, tags.pairwise) == (True, True, False)


def test_tags_of_a_search_are_those_of_its_estimator():
    assert SVCSearch(SVC(kernel=KERNEL)).__sklearn_tags__().input_tags.string


@pytest.mark.parametrize("make", BUILDERS)
def test_strings_without_a_triplet_are_the_zero_of_feature_space(make):
    model = make(kernel=KERNEL).fit(X, y)
    constant = model.offset_ * -1 if make is OneClassSVM else model.intercept_
    found = values(model, ["", "A", "AC", "NNNNNN", "ANANANANAN"])
    assert np.array_equal(found, np.full(5, np.ravel(constant)[0]))


@pytest.mark.parametrize("make", BUILDERS)
def test_strings_without_a_triplet_may_be_learned_from(make):
    strings = [*X, "", "AC", "NNN", "N"]
    model = make(kernel=KERNEL).fit(strings, np.append(y, [0, 1, 0, 1]))
    assert np.isfinite(values(model, strings)).all()


WRONG = {
    "one string": ("GAGGA", TypeError, "got a single str; put it into a list"),
    "one bytes": (b"GAGGA", TypeError, "got a single bytes; put it into a list"),
    "numbers": (np.zeros((60, 2)), ValueError, r"1-D array of str or bytes, .* shape \(60, 2\)"),
    "a row of numbers": (np.zeros(60), TypeError, "str or bytes, got float at position 0"),
    "a column": (np.array(X)[:, None], ValueError, r"1-D array of str or bytes, .* \(60, 1\)"),
    "a frame": (pd.DataFrame({"x": X}), ValueError, r"got DataFrame of shape \(60, 1\)"),
    "lists": ([list(x) for x in X], TypeError, "str or bytes, got list at position 0"),
    "a number": ([*X[:59], 5], TypeError, "str or bytes, got int at position 59"),
    "nothing known": ([*X[:59], None], TypeError, "str or bytes, got NoneType at position 59"),
    "missing": (pd.Series([*X[:59], np.nan]), TypeError, "bytes, got float at position 59"),
    "nothing": ([], ValueError, "hold at least one sequence, got none"),
}


@pytest.mark.parametrize(("wrong", "error", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("make", BUILDERS)
def test_what_is_no_list_of_strings_is_refused(make, wrong, error, message):
    with pytest.raises(error, match=f"^X must .*{message}"):
        make(kernel=KERNEL).fit(wrong, y)
    with pytest.raises(error, match=f"^X must .*{message}"):
        make(kernel=KERNEL).fit(X, y).predict(wrong)


def test_another_alphabet_than_the_kernels_is_refused():
    with pytest.raises(ValueError, match="encoded over the alphabet 'ACGU'"):
        SVC(kernel=KERNEL).fit(EncodedSequences(X, "ACGU"), y)


def test_a_stream_refuses_what_it_cannot_join():
    with pytest.raises(TypeError, match="EncodedSequences, which OnlineSVC cannot join"):
        OnlineSVC(kernel=KERNEL).fit(EncodedSequences(X), y)


def test_labels_must_match_the_strings():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVC(kernel=KERNEL).fit(X, y[:-1])
