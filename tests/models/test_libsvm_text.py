"""LIBSVM's model files: read as LIBSVM reads them, written as it writes them."""

import shutil
import subprocess
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin import SVC, SVR, AutoSVC, LinearSVC, NuSVC, NuSVR, OneClassSVM
from maxmargin.kernels import Gaussian
from maxmargin.models import ModelFileError, read_libsvm, write_libsvm

RANDOM = np.random.default_rng(0)
# Off the origin, or the half-space of a one-class machine with a linear kernel is all there is.
X = RANDOM.normal(1.0, size=(80, 4)).round(3)
TWO = np.where(X[:, 0] + X[:, 1] > 2, 1, -1)
THREE = (X[:, 0] > 1).astype(int) + (X[:, 1] > 1) + 5
# Training samples may lie on a boundary, where the last bit decides.
NEW = RANDOM.normal(1.0, size=(50, 4)).round(3)
REAL = (X[:, 0] - X[:, 1] ** 2).round(3)
MACHINES = {
    "c_svc": (SVC, 0),
    "nu_svc": (NuSVC, 1),
    "one_class": (OneClassSVM, 2),
    "epsilon_svr": (SVR, 3),
    "nu_svr": (NuSVR, 4),
}
KERNELS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}
NINE_DIGITS = {"rtol": 1e-9, "atol": 1e-9}
ABSENT = shutil.which("svm-train") is None or shutil.which("svm-predict") is None
libsvm = pytest.mark.skipif(ABSENT, reason="LIBSVM's svm-train is absent: apt install libsvm-tools")


def targets(machine, classes=3):
    if machine in ("c_svc", "nu_svc"):
        return THREE if classes == 3 else TWO
    return REAL


def machine_for(name, kernel):
    nu = {"nu": 0.5} if name in ("nu_svc", "one_class", "nu_svr") else {}
    return MACHINES[name][0](kernel=kernel, gamma=0.125, coef0=0.5, **nu)


def svmlight(path, inputs, values):
    lines = [
        f"{v} " + " ".join(f"{i + 1}:{x!r}" for i, x in enumerate(row) if x)
        for row, v in zip(inputs.tolist(), values.tolist())
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*command):
    subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", MACHINES)
def test_model_comes_back_with_the_same_values(machine, kernel, tmp_path):
    model = machine_for(machine, kernel).fit(X, targets(machine))
    write_libsvm(model, tmp_path / "model")
    again = read_libsvm(tmp_path / "model")
    assert type(again) is type(model)
    assert again.kernel_ == model.kernel_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    if hasattr(model, "decision_function"):
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@libsvm
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("machine", MACHINES)
def test_libsvm_predicts_from_our_file_as_we_do(machine, kernel, tmp_path):
    model = machine_for(machine, kernel).fit(X, targets(machine))
    write_libsvm(model, tmp_path / "model")
    # svm-predict prints 17 digits of what it computed in another order.
    np.testing.assert_allclose(model.predict(NEW), predicted_by_libsvm(tmp_path), **NINE_DIGITS)


@libsvm
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("machine", "classes"), [*((machine, 2) for machine in MACHINES), ("c_svc", 3), ("nu_svc", 3)]
)
def test_we_predict_from_a_file_of_libsvm_as_it_does(machine, classes, kernel, tmp_path):
    data = svmlight(tmp_path / "data", X, targets(machine, classes))
    number, kind = MACHINES[machine][1], KERNELS[kernel]
    train = ("svm-train", "-q", "-s", number, "-t", kind, "-g", 0.125, "-r", 0.5, "-n", 0.5)
    run(*train, data, tmp_path / "model")
    model = read_libsvm(tmp_path / "model")
    np.testing.assert_allclose(model.predict(NEW), predicted_by_libsvm(tmp_path), **NINE_DIGITS)


def predicted_by_libsvm(folder):
    data = svmlight(folder / "new", NEW, np.zeros(len(NEW)))
    run("svm-predict", data, folder / "model", folder / "out")
    return np.loadtxt(folder / "out")


@libsvm
def test_probabilities_of_two_classes_are_those_of_libsvm(tmp_path):
    data = svmlight(tmp_path / "data", X, TWO)
    run("svm-train", "-q", "-b", 1, data, tmp_path / "model")
    run("svm-predict", "-b", 1, data, tmp_path / "model", tmp_path / "out")
    labels = (tmp_path / "out").read_text().splitlines()[0].split()[1:]
    expected = np.loadtxt(tmp_path / "out", skiprows=1)[:, 1:]
    model = read_libsvm(tmp_path / "model")
    assert model.classes_.tolist() == [int(label) for label in labels]
    mine = model.predict_proba(X)
    # LIBSVM prints six digits. Where its sigmoid and its decision differ, ours follows the latter.
    agree = (expected[:, 1] >= 0.5) == (model.decision_function(X) >= 0)
    assert agree.sum() > 70
    np.testing.assert_allclose(mine[agree], expected[agree], atol=1e-6)


def test_sparse_machine_comes_back(tmp_path):
    inputs = sparse.csr_array(np.where(X > 1.8, X, 0.0))
    model = SVC(gamma=0.5).fit(inputs, THREE)
    write_libsvm(model, tmp_path / "model")
    again = read_libsvm(tmp_path / "model", n_features=4)
    assert sparse.issparse(again.support_vectors_)
    np.testing.assert_array_equal(again.decision_function(inputs), model.decision_function(inputs))


def test_number_of_features_may_exceed_the_largest_index(tmp_path):
    write_libsvm(SVC(kernel="linear").fit(X, TWO), tmp_path / "model")
    assert read_libsvm(tmp_path / "model", n_features=9).predict(np.zeros((2, 9))).size == 2
    with pytest.raises(ModelFileError, match="n_features must be at least 4, got 3"):
        read_libsvm(tmp_path / "model", n_features=3)


def test_texts_as_labels_need_codes(tmp_path):
    model = SVC().fit(X, np.where(TWO > 0, "up", "down"))
    with pytest.raises(ValueError, match="labels must be whole numbers in LIBSVM files"):
        write_libsvm(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
    write_libsvm(model, tmp_path / "model", codes=True)
    again = read_libsvm(tmp_path / "model")
    np.testing.assert_array_equal(model.classes_[again.predict(X)], model.predict(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(), "LIBSVM files hold SVC, NuSVC, SVR, NuSVR and OneClassSVM, got LinearSVC"),
        (SVC(multi_class="ovr"), "machines of pairs of classes"),
        (SVC(kernel=Gaussian([1.0, 2.0, 3.0, 4.0])), "Gaussian kernels with one gamma"),
    ],
)
def test_model_that_libsvm_cannot_have_is_refused(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_libsvm(model.fit(X, THREE), tmp_path / "model")


def test_search_is_written_as_the_machine_it_chose(tmp_path):
    search = AutoSVC(strategy="kta", scale=False).fit(X, TWO)
    write_libsvm(search, tmp_path / "model")
    np.testing.assert_array_equal(read_libsvm(tmp_path / "model").predict(X), search.predict(X))


# ---- fuzzing --------------------------------------------------------------------------------

SMALL = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
0.5 1:1 3:2
-0.5 2:1
"""


@pytest.mark.parametrize("sizes", ["2 0", "0 2"])
def test_a_class_may_have_no_support_vectors(sizes, tmp_path):
    path = tmp_path / "model"
    path.write_text(SMALL.replace("nr_sv 1 1", f"nr_sv {sizes}"))
    model = read_libsvm(path)
    assert model.n_support_.sum() == 2
    expected = 0.5 * np.exp(-0.5 * 5.0) - 0.5 * np.exp(-0.5 * 1.0) - 0.25
    assert abs(model.decision_function(np.zeros((1, 3)))[0]) == pytest.approx(abs(expected))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("c_svc", "d_svc", "svm_type must be one of c_svc"),
        ("rbf", "cubic", "kernel_type must be one of linear"),
        ("gamma 0.5", "gamma nan", "gamma contains NaN"),
        ("nr_class 2", "nr_class 3", "label must have 3 entries, got 2"),
        ("nr_class 2", "nr_class 99999999", "nr_class must lie between 0 and 10000"),
        ("total_sv 2", "total_sv 3", "nr_sv does not add up"),
        ("label 1 -1", "label 1 1", "two classes have the same label"),
        ("rho 0.25\n", "", "no line 'rho'"),
        ("SV\n", "", "is not a LIBSVM model|no line 'SV'|repeated"),
        ("1:1 3:2", "3:1 1:2", "indices must be positive and rise, got 1 after 3"),
        ("1:1 3:2", "0:1 3:2", "indices must be positive and rise, got 0 after 0"),
        ("3:2", "3:inf", "contains NaN or infinity"),
        ("-0.5 2:1\n", "", "it has 1 support vectors, total_sv says 2"),
        ("3:2", "3:x", "could not convert"),
    ],
)
def test_wrong_line_is_named(old, new, message, tmp_path):
    path = tmp_path / "model"
    path.write_text(SMALL.replace(old, new, 1))
    with pytest.raises(ModelFileError, match=message):
        read_libsvm(path)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_text_is_read_or_refused(data, tmp_path):
    at = data.draw(st.integers(0, len(SMALL)))
    end = data.draw(st.integers(at, min(len(SMALL), at + 20)))
    new = data.draw(st.one_of(st.text(max_size=12), st.from_regex(r"[-0-9.e: ]{1,12}")))
    path = tmp_path / "model"
    path.write_text(SMALL[:at] + new + SMALL[end:], encoding="utf-8", errors="replace")
    try:
        model = read_libsvm(path)
    except ModelFileError:
        return
    inputs = sparse.csr_array((1, model.n_features_in_))
    dense = not sparse.issparse(model.support_vectors_)
    assert model.predict(inputs.toarray() if dense else inputs).shape == (1,)


@example(content=b"svm_type c_svc\nkernel_type rbf\nnr_class 2\ntotal_sv 2000000000\nSV\n")
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300))
def test_any_bytes_are_refused_without_memory(content, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        read_libsvm(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


def test_huge_index_costs_no_memory(tmp_path):
    path = tmp_path / "model"
    path.write_text(SMALL.replace("3:2", "2147483646:2"))
    tracemalloc.start()
    model = read_libsvm(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.n_features_in_ == 2147483646
    assert peak < 10**6
