"""`OnlineSVC`: learning from a stream, finishing, certifying, and going on after a restart."""

import json
import pickle
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import SVC, OnlineSVC
from maxmargin.archive import ONLINE, ModelFileError, read_archive, write_archive
from maxmargin.estimators.online.state import decoded_value, encoded_value
from maxmargin.kernels import Gaussian, Linear, MetricGaussian, Normalised, Oligo
from maxmargin.models import save

MOONS = make_moons(400, noise=0.2, random_state=0)
IRIS = load_iris(return_X_y=True)


def inner_product(A, B):
    return np.asarray(A @ B.T)


@parametrize_with_checks(
    [
        OnlineSVC(),
        OnlineSVC(selection="mvp", kernel="poly"),
        OnlineSVC(kernel=Gaussian(0.5), epochs=3),
        OnlineSVC(budget=20, reprocess=2),
        OnlineSVC(kernel="linear", precision="single"),
    ]
)
def test_scikit_learns_check(estimator, check):
    check(estimator)


# ---- the machine -------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["second_order", "mvp"])
def test_finished_passes_equal_the_batch_machine(selection):
    X, y = MOONS
    online = OnlineSVC(C=10.0, gamma=1.0, tol=1e-9, epochs=100, selection=selection).fit(X, y)
    batch = SVC(C=10.0, gamma=1.0, tol=1e-9).fit(X, y)
    online.finish()
    assert online.decision_function(X) == pytest.approx(batch.decision_function(X), abs=1e-6)
    assert np.array_equal(np.sort(online.support_), np.sort(batch.support_))


def test_several_classes_equal_the_batch_machine_of_each_against_the_rest():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    online = OnlineSVC(C=5.0, gamma=0.5, tol=1e-9, epochs=100).fit(X, names).finish()
    batch = SVC(C=5.0, gamma=0.5, tol=1e-9, multi_class="ovr").fit(X, names)
    assert online.decision_function(X) == pytest.approx(batch.decision_function(X), abs=1e-6)
    assert np.array_equal(online.predict(X), batch.predict(X))


def test_passes_that_would_change_nothing_are_left_out():
    X, y = MOONS
    few, many = (OnlineSVC(gamma=1.0, epochs=n).fit(X, y) for n in (200, 10_000))
    assert np.array_equal(few.n_iter_, many.n_iter_)


def test_a_weight_of_three_equals_three_copies_to_the_last_bit():
    X, y = MOONS
    weight = np.random.default_rng(0).integers(0, 4, y.size)
    weighted = OnlineSVC(C=3.0).fit(X, y, weight)
    copied = OnlineSVC(C=3.0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_shuffled_samples_give_the_same_model():
    X, y = MOONS
    order = np.random.default_rng(0).permutation(y.size)
    one, other = OnlineSVC().fit(X, y), OnlineSVC().fit(X[order], y[order])
    assert np.array_equal(one.decision_function(X), other.decision_function(X))
    assert np.array_equal(X[one.support_], one.support_vectors_)
    assert np.array_equal(X[order][other.support_], other.support_vectors_)


def test_random_state_chooses_the_order():
    X, y = MOONS
    models = [OnlineSVC(random_state=seed).fit(X, y) for seed in (None, 0, 1)]
    first, same, other = (model.decision_function(X) for model in models)
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_without_shuffling_fit_is_one_partial_fit():
    X, y = MOONS
    whole = OnlineSVC(gamma=1.0, shuffle=False).fit(X, y)
    stream = OnlineSVC(gamma=1.0).partial_fit(X, y)
    assert np.array_equal(whole.dual_coef_, stream.dual_coef_)
    assert np.array_equal(whole.support_, stream.support_)


def test_class_weights_are_factors_of_C():
    X, y = MOONS
    factor = {0: 2.0, 1: 0.5}
    by_class = OnlineSVC(gamma=1.0, class_weight=factor).fit(X, y)
    by_sample = OnlineSVC(gamma=1.0).fit(X, y, np.where(y == 0, 2.0, 0.5))
    assert np.array_equal(by_class.decision_function(X), by_sample.decision_function(X))


def test_balanced_classes_have_equal_weight():
    X, y = MOONS[0][:250], MOONS[1][:250]
    balanced = OnlineSVC(class_weight="balanced").fit(X, y).class_weight_
    counts = np.bincount(y)
    assert balanced * counts == pytest.approx(np.full(2, y.size / 2))


def test_a_function_is_taken_as_a_kernel():
    X, y = IRIS
    own, built_in = (OnlineSVC(kernel=k, epochs=50) for k in (inner_product, "linear"))
    values = [m.fit(X, y).finish().dual_ for m in (own, built_in)]
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_strings_are_learned_with_a_sequence_kernel():
    random = np.random.default_rng(0)
    X = ["".join(random.choice(list("ACGT"), 20)) for _ in range(200)]
    y = np.array(["GA" in x for x in X])
    model = OnlineSVC(kernel=Oligo(k=2, sigma=20.0), C=10.0, epochs=3).fit(X[:150], y[:150])
    assert model.score(X[150:], y[150:]) > 0.8
    assert model.support_vectors_ == [X[i] for i in model.support_]


def test_sparse_inputs_stay_sparse():
    X, y = IRIS
    model = OnlineSVC(gamma=0.5).fit(sparse.csr_matrix(X), y)
    assert sparse.issparse(model.support_vectors_)
    assert model.score(sparse.csr_matrix(X), y) > 0.9
    assert np.array_equal(model.predict(X), model.predict(sparse.csr_matrix(X)))


def test_a_budget_limits_every_machine_and_still_learns():
    X, y = MOONS
    model = OnlineSVC(gamma=1.0, budget=30).fit(X, y)
    full = OnlineSVC(gamma=1.0).fit(X, y)
    assert full.support_.size > 60
    assert model.support_.size <= 30
    assert model.score(X, y) > full.score(X, y) - 0.05


# ---- streams -----------------------------------------------------------------------------------


def test_before_the_second_class_comes_the_first_is_predicted():
    X, y = MOONS
    model = OnlineSVC(gamma=1.0).partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    assert (model.predict(X) == 1).all()
    model.partial_fit(X, y)
    assert model.score(X, y) > 0.9


def test_examples_without_weight_teach_nothing():
    X, y = MOONS
    model = OnlineSVC(gamma=1.0).partial_fit(X, y)
    before = model.decision_function(X)
    model.partial_fit(X[::-1], y, sample_weight=np.zeros(y.size))
    assert np.array_equal(model.decision_function(X), before)
    assert model.n_seen_ == 800


def test_support_counts_on_along_the_stream():
    X, y = MOONS
    model = OnlineSVC(gamma=1.0)
    for start in range(0, 400, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert np.array_equal(X[model.support_], model.support_vectors_)


def test_new_classes_are_named():
    X, y = IRIS
    model = OnlineSVC().partial_fit(X[y < 2], y[y < 2])
    with pytest.raises(ValueError, match=r"new classes \[2\].*classes are \[0, 1\]"):
        model.partial_fit(X, y)


def test_other_classes_later_are_refused():
    X, y = IRIS
    model = OnlineSVC().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] is not the same as in the first call"):
        model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1])


def test_the_first_call_must_know_two_classes():
    with pytest.raises(ValueError, match=r"got \['a'\]: give all labels that will come"):
        OnlineSVC().partial_fit([[0.0], [1.0]], ["a", "a"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": np.inf}, "C of OnlineSVC must be a number"),
        ({"budget": 1}, "budget of OnlineSVC must be a whole number"),
        ({"epochs": 0}, "epochs of OnlineSVC must be a whole number"),
        ({"selection": "greedy"}, "selection of OnlineSVC must be one of"),
        ({"querying": "all"}, "querying of OnlineSVC must be one of"),
        ({"kernel": "precomputed"}, "can be evaluated at new inputs"),
        ({"class_weight": {7: 2.0}}, r"class_weight has weights for \[7\]"),
    ],
)
def test_parameters_are_refused_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        OnlineSVC(**parameters).fit(*MOONS)


def test_balanced_weights_need_all_samples():
    with pytest.raises(ValueError, match="use fit, or give partial_fit a dict"):
        OnlineSVC(class_weight="balanced").partial_fit(*MOONS)


# ---- the end and its proof ---------------------------------------------------------------------


def test_the_certificate_is_that_of_the_batch_machine_at_the_optimum():
    X, y = MOONS
    model = OnlineSVC(C=10.0, gamma=1.0, epochs=100).fit(X, y).finish(X, y)
    batch = SVC(C=10.0, gamma=1.0).fit(X, y)
    assert model.status_ == "converged"
    assert model.certificate_.dual == pytest.approx(batch.certificate_.dual, rel=1e-6)
    assert model.certificate_.primal == pytest.approx(batch.certificate_.primal, rel=1e-6)
    assert model.certificate_.violation <= 1e-3


def test_the_certificate_tells_what_one_pass_has_missed():
    X, y = MOONS
    model = OnlineSVC(C=1000.0, gamma=1.0).fit(X, y).finish(X, y)
    optimum = SVC(C=1000.0, gamma=1.0).fit(X, y).certificate_.dual
    assert model.machines_.machines[0].violation <= 1e-3
    assert model.certificate_.violation > 1e-3
    assert model.certificate_.dual < optimum < model.certificate_.primal
    assert model.certificate_.infeasibility <= 1e-12


def test_the_certificate_counts_weights_and_copies_as_the_stream_did():
    X, y = MOONS
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    model = OnlineSVC(C=2.0, gamma=1.0, epochs=100).fit(X, y, weight)
    proofs = [
        model.finish(X, y, weight).certificate_,
        model.finish(np.repeat(X, weight, axis=0), np.repeat(y, weight)).certificate_,
    ]
    assert proofs[0].gap <= 1e-3 * proofs[0].dual
    assert proofs[0].primal == pytest.approx(proofs[1].primal, rel=1e-12)


def test_support_vectors_that_are_not_among_the_data_join_the_problem():
    X, y = MOONS
    model = OnlineSVC(C=2.0, gamma=1.0, epochs=100).fit(X, y)
    some = np.setdiff1d(np.arange(y.size), model.support_)
    whole, part = (model.finish(X[i], y[i]).certificate_ for i in (np.arange(y.size), some))
    assert part.dual == pytest.approx(whole.dual, rel=1e-12)
    assert part.infeasibility <= 1e-12


def test_every_class_has_its_certificate():
    X, y = IRIS
    model = OnlineSVC(epochs=50).fit(X, y).finish(X, y)
    assert len(model.certificate_) == 3
    assert model.certificate_.relative_gap < 1e-3


def test_what_finish_told_is_gone_once_more_is_learned():
    X, y = MOONS
    model = OnlineSVC().fit(X, y).finish(X, y)
    model.partial_fit(X[:1], y[:1])
    assert not hasattr(model, "certificate_")
    assert not hasattr(model, "status_")


def test_a_time_limit_is_told_of():
    X, y = make_moons(3000, noise=0.4, random_state=0)
    model = OnlineSVC(C=1e4, gamma=50.0, selection="mvp").fit(X, y)
    with pytest.warns(ConvergenceWarning, match="Call finish again to go on"):
        model.finish(max_seconds=1e-6)
    assert model.status_ == "time_limit"


# ---- going on later ----------------------------------------------------------------------------


def strings(X):
    letters = np.array(list("ACGT"))[np.digitize(X, np.quantile(X, [0.25, 0.5, 0.75]))]
    return ["".join(row) for row in np.repeat(letters, 4, axis=1)]


STREAMS = {
    "float64": (IRIS[0], {}),
    "float32": (IRIS[0].astype(np.float32), {}),
    "budget": (IRIS[0], {"budget": 12}),
    "csr": (sparse.csr_matrix(IRIS[0]), {}),
    "csr array of few": (sparse.csr_array(np.pad(IRIS[0], ((0, 0), (0, 80)))), {}),
    "strings": (strings(IRIS[0]), {"kernel": Oligo(k=2)}),
    "metric": (IRIS[0], {"kernel": MetricGaussian(np.diag([1.0, 2.0, 1.0, 0.5]))}),
    "composed": (IRIS[0], {"kernel": Normalised(Linear()) * 2.0 + Gaussian((0.1, 0.2, 0.3, 0.4))}),
}


def learned(model):
    return [machine.state()[:-2] for machine in model.machines_.machines]


@pytest.mark.parametrize("way", ["file", "pickle"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_goes_on_to_the_last_bit(name, way, tmp_path):
    X, parameters = STREAMS[name]
    y = np.array(["a", "b", "c"])[IRIS[1]]
    order = np.random.default_rng(0).permutation(150)
    first, rest = order[:90], order[90:]

    def some(indices):
        return [X[i] for i in indices] if isinstance(X, list) else X[indices]

    model = OnlineSVC(C=3.0, **parameters).partial_fit(some(first), y[first])
    if way == "file":
        model.save(tmp_path / "model.online")
        other = OnlineSVC.load(tmp_path / "model.online")
    else:
        other = pickle.loads(pickle.dumps(model))
    for start in range(0, 60, 20):
        batch = rest[start : start + 20]
        for one in (model, other):
            one.partial_fit(some(batch), y[batch])
    for one, two in zip(learned(model), learned(other)):
        assert all(np.array_equal(a, b) for a, b in zip(one, two))
    assert np.array_equal(model.decision_function(X), other.decision_function(X))
    assert other.n_seen_ == 150


def test_a_file_keeps_parameters_and_what_fit_set(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(IRIS[0], columns=list("abcd"))
    model = OnlineSVC(C=2.0, class_weight={1: 3.0}, kernel=Gaussian(0.5), random_state=4)
    model.fit(X, IRIS[1]).save(tmp_path / "model.online")
    other = OnlineSVC.load(tmp_path / "model.online")
    assert repr(other) == repr(model)
    assert other.feature_names_in_.tolist() == list("abcd")
    assert other.classes_.dtype == model.classes_.dtype
    assert np.array_equal(other.predict(X), model.predict(X))


def test_a_file_without_rows_is_small_and_predicts_the_same(tmp_path):
    X, y = MOONS
    model = OnlineSVC(C=100.0).fit(X, y)
    for rows in (True, False):
        model.save(tmp_path / f"{rows}.online", rows=rows)
    other = OnlineSVC.load(tmp_path / "False.online")
    size = model.machines_.machines[0].size
    saved = (tmp_path / "True.online").stat().st_size - (tmp_path / "False.online").stat().st_size
    assert saved >= 4 * size * (size + 1)
    assert np.array_equal(other.decision_function(X), model.decision_function(X))
    other.partial_fit(X, y)
    assert other.dual_[0] >= model.dual_[0]


def test_a_file_holds_no_code(tmp_path):
    OnlineSVC().fit(*MOONS).save(tmp_path / "model.online")
    with zipfile.ZipFile(tmp_path / "model.online") as archive:
        endings = {name.rpartition(".")[2] for name in archive.namelist()}
        assert endings == {"json", "sha256", "npy"}
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("json"):
                json.loads(data)
            elif name.endswith("npy"):
                assert b"'|O'" not in data[:128]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": inner_product}, "kernel is a function"),
        ({"random_state": np.random.RandomState(0)}, "random_state must be None or an int"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(parameters, message, tmp_path):
    model = OnlineSVC(**parameters).fit(*MOONS)
    with pytest.raises(ValueError, match=message):
        model.save(tmp_path / "model.online")
    assert list(tmp_path.iterdir()) == []


def written_again(path, change):
    """The file with other values or arrays, and checksums that match them."""
    contents = read_archive(path, ONLINE)
    change(contents.values, contents.arrays)
    write_archive(path, contents, ONLINE)


def test_damaged_file_is_refused(tmp_path):
    path = tmp_path / "model.online"
    OnlineSVC().fit(*MOONS).save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ModelFileError):
            OnlineSVC.load(path)


@pytest.mark.parametrize("content", [b"no zip", b"", b"PK\x03\x04"])
def test_other_files_are_refused(content, tmp_path):
    path = tmp_path / "model.online"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"give a file written by OnlineSVC\.save"):
        OnlineSVC.load(path)


def test_model_of_another_kind_is_refused(tmp_path):
    save(SVC().fit(*MOONS), tmp_path / "model.mm")
    with pytest.raises(ModelFileError, match=r"it is no model file of OnlineSVC\.save"):
        OnlineSVC.load(tmp_path / "model.mm")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v, _: v.update(kernel={"kernel": "Exploit", "fields": {}}), "'Exploit' is unknown"),
        (lambda _, a: a.update({"0.alpha": a["0.alpha"][1:]}), "gradient must be float64"),
        (lambda _, a: a.update({"0.alpha": a["0.alpha"] * np.nan}), "alpha contains NaN"),
        (lambda _, a: a.update({"0.rows": a["0.rows"][1:]}), "rows must be float64"),
        (lambda _, a: a.update({"0.counters": a["0.counters"] + 2**40}), "counters are not"),
        (lambda _, a: a.update({"0.inputs": a["0.inputs"][1:]}), "inputs are not those"),
        (lambda _, a: a.pop("0.upper"), "0.upper"),
    ],
)
def test_file_that_makes_no_sense_is_refused(change, message, tmp_path):
    path = tmp_path / "model.online"
    OnlineSVC().fit(*MOONS).save(path)
    written_again(path, change)
    with pytest.raises(ModelFileError, match=message):
        OnlineSVC.load(path)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 0.5, None, (1, "a"), Gaussian(0.5)])
def test_parameter_survives_a_file(value):
    assert decoded_value(json.loads(json.dumps(encoded_value("x", value)))) == value


def test_a_clone_has_learned_nothing():
    model = clone(OnlineSVC(C=2.0).fit(*MOONS))
    assert not hasattr(model, "machines_")


def test_inputs_too_large_for_a_fit_are_refused():
    X, y = [[-1e120], [1e120]], [0, 1]
    with pytest.raises(ValueError, match="overflows: scale the inputs"):
        OnlineSVC(kernel="linear").fit(X, y)
    model = OnlineSVC(kernel="linear").partial_fit([[-1.0], [1.0]], y)
    with pytest.raises(ValueError, match="overflows: scale the inputs"):
        model.partial_fit(X, y)
    assert model.n_seen_ == 2


def test_rows_are_single_while_the_sum_of_their_rounding_stays_below_tol():
    X = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32)
    kernel = Gaussian(0.5)
    rounding = kernel.bind(X, np.float32).rounding
    # A tenth of the largest error, with random signs, times a norm of α below C√n.
    largest = 1e-3 / (0.1 * rounding * np.sqrt(30))
    for factor, dtype in ((0.9, np.float32), (1.1, np.float64)):
        model = OnlineSVC(C=factor * largest, tol=1e-3)
        assert model._rows_dtype(X, kernel) == dtype
