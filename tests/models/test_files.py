"""Model files: what is saved comes back, and nothing else does."""

import hashlib
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import is_classifier

from maxmargin import (
    SVC,
    SVR,
    AutoSVC,
    AutoSVR,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    NuSVC,
    NuSVR,
    OneClassSVM,
    OnlineSVC,
    RidgeRegression,
    SVCSearch,
    SVRSearch,
)
from maxmargin import kernels as k
from maxmargin.archive import Contents, read_archive, write_archive
from maxmargin.archive.stored_zip import StoredZipWriter
from maxmargin.models import ModelFileError, load, save
from maxmargin.models.values import KERNELS, Decoder, Encoder

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
TWO = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
REAL = X[:, 0] - X[:, 1] ** 2

CLASSIFIERS = (
    SVC(probability=True),
    SVC(kernel="poly", degree=2, coef0=1.0, multi_class="ovr"),
    SVC(kernel=k.Sum(k.Gaussian([0.1, 0.2, 0.3]), k.Scaled(k.Linear(), 0.5)), C=np.inf, tol=1e-4),
    SVC(class_weight={"a": 2.0, "b": 0.5}, loss="squared_hinge"),
    NuSVC(nu=0.1),
    LinearSVC(),
    LinearSVC(multi_class="crammer_singer"),
    LogisticRegression(),
)
OTHERS = (SVR(), NuSVR(), OneClassSVM(nu=0.2), LinearSVR(), RidgeRegression())
EVERY_KERNEL = {
    "CombinedOligo": k.CombinedOligo((1.0, 2.0)),
    "Gaussian": k.Gaussian((0.25, 0.5)),
    "Linear": k.Linear(),
    "MetricGaussian": k.MetricGaussian([[2.0, 0.5], [0.5, 1.0]], freeze=["size"]),
    "Normalised": k.Normalised(k.Polynomial(2, 0.5, 1.0)),
    "Oligo": k.Oligo(2, 1.5),
    "Polynomial": k.Polynomial(2, 0.5, 1.0),
    "Precomputed": k.Precomputed(),
    "Product": k.Product(k.Linear(), k.Gaussian(0.5)),
    "Scaled": k.Scaled(k.Linear(), 3.0),
    "Sigmoid": k.Sigmoid(0.5, -1.0),
    "Sum": k.Sum(k.Linear(), k.Gaussian(0.5)),
    "TripletOligo": k.TripletOligo(1.0),
    "WeightedOligo": k.WeightedOligo((1.0, 2.0), (1.0, 0.0)),
}


def saved(model, folder, **details):
    path = folder / "model.mm"
    save(model, path, **details)
    return path


def back(model, folder, **details):
    return load(saved(model, folder, **details)).estimator


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_classifier_comes_back_with_the_same_values(model, labels, tmp_path):
    if labels is TWO and isinstance(model, SVC) and isinstance(model.class_weight, dict):
        model = SVC(class_weight={"yes": 2.0})
    model.fit(X, labels)
    again = back(model, tmp_path)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert str(again) == str(model)


@pytest.mark.parametrize("model", OTHERS, ids=lambda m: type(m).__name__)
def test_machine_of_numbers_comes_back_with_the_same_values(model, tmp_path):
    model.fit(X, REAL)
    np.testing.assert_array_equal(back(model, tmp_path).predict(X), model.predict(X))


def test_probabilities_come_back(tmp_path):
    model = SVC(probability="platt").fit(X, THREE)
    np.testing.assert_array_equal(back(model, tmp_path).predict_proba(X), model.predict_proba(X))


def test_sparse_machine_comes_back(tmp_path):
    inputs = sparse.csr_array(np.where(X > 0, X, 0.0))
    model = SVC().fit(inputs, THREE)
    again = back(model, tmp_path)
    assert sparse.issparse(again.support_vectors_)
    np.testing.assert_array_equal(again.decision_function(inputs), model.decision_function(inputs))


@pytest.mark.parametrize("model", [SVC(), LinearSVC()])
def test_machine_of_one_feature_comes_back(model, tmp_path):
    model.fit(X[:, :1], TWO)
    np.testing.assert_array_equal(back(model, tmp_path).predict(X[:, :1]), model.predict(X[:, :1]))


def test_machine_of_sequences_comes_back(tmp_path):
    texts = ["ACGTACGT", "ACGTTCGT", "GGGGCCCC", "GGGACCCC"]
    model = SVC(kernel=k.Oligo(2, 1.0)).fit(texts, [0, 0, 1, 1])
    again = back(model, tmp_path)
    np.testing.assert_array_equal(again.decision_function(texts), model.decision_function(texts))


def test_machine_of_a_gram_matrix_comes_back(tmp_path):
    gram = X @ X.T
    model = SVC(kernel="precomputed").fit(gram, TWO)
    again = back(model, tmp_path)
    np.testing.assert_array_equal(again.decision_function(gram), model.decision_function(gram))


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [-1.0, 2.0], [False, True], ["ä", "日本"], np.array(["x", "y"], dtype=object)],
    ids=["int", "float", "bool", "text", "object"],
)
def test_labels_of_any_type_survive(labels, tmp_path):
    model = SVC(kernel="linear").fit(X, np.asarray(labels)[(X[:, 0] > 0).astype(int)])
    predicted = back(model, tmp_path).predict(X)
    assert predicted.dtype == model.predict(X).dtype
    np.testing.assert_array_equal(predicted, model.predict(X))


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernel_comes_back_equal(name, tmp_path):
    encoder, path = Encoder(), tmp_path / "kernel"
    value = encoder.encode("kernel", EVERY_KERNEL[name])
    write_archive(path, Contents(value, encoder.arrays))
    values, arrays = read_archive(path)
    assert Decoder(arrays).decode(values) == EVERY_KERNEL[name]


@pytest.mark.parametrize(
    ("search", "chosen"),
    [
        (AutoSVC(strategy="kta", metric="diagonal"), "svc_"),
        (AutoSVR(), "svr_"),
        (SVCSearch(), "best_estimator_"),
        (SVRSearch(), "best_estimator_"),
    ],
    ids=["auto", "auto regression", "search", "search of a regression"],
)
def test_of_a_search_the_machine_it_chose_is_saved(search, chosen, tmp_path):
    search.fit(X, THREE if is_classifier(search) else REAL)
    again = back(search, tmp_path)
    assert again.kernel_ == getattr(search, chosen).kernel_
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


@pytest.mark.parametrize("inputs", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_of_a_stream_the_machine_it_is_now_is_saved(labels, inputs, tmp_path):
    stream = OnlineSVC().fit(inputs, labels)
    again = back(stream, tmp_path)
    assert isinstance(again, SVC)
    np.testing.assert_array_equal(again.predict(inputs), stream.predict(inputs))
    expected = stream.decision_function(inputs)
    np.testing.assert_allclose(again.decision_function(inputs), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_goes_on_after_loading(tmp_path):
    model = SVC(C=1e3, gamma=5.0, max_iter=3, solver="rows", warm_start=True).fit(X, TWO)
    again = back(model, tmp_path, resumable=True)
    assert again.status_ == "step_limit"
    begun = again.solution_.dual
    again.set_params(max_iter=0).fit(X, TWO)
    assert again.solution_.dual == pytest.approx(begun, rel=1e-9)
    assert begun > 0


def test_equal_models_give_equal_files(tmp_path):
    first = saved(SVC().fit(X, TWO), tmp_path).read_bytes()
    model = SVC().fit(X, TWO)
    path = tmp_path / "other.mm"
    save(model, path)
    with zipfile.ZipFile(io.BytesIO(first)) as one, zipfile.ZipFile(path) as other:
        for name in one.namelist():
            if name.endswith(".npy"):
                assert one.read(name) == other.read(name)


def test_file_without_solutions_is_smaller(tmp_path):
    model = SVC(C=100).fit(X, TWO)
    small = saved(model, tmp_path).stat().st_size
    assert saved(model, tmp_path, resumable=True).stat().st_size > small + 15 * len(X)


# ---- what is refused ------------------------------------------------------------------------


def test_function_as_kernel_is_refused(tmp_path):
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, TWO)
    with pytest.raises(ValueError, match="kernel is a Python function, and model files hold no"):
        save(model, tmp_path / "model.mm")
    assert not list(tmp_path.iterdir())


def test_kernel_around_a_function_is_refused(tmp_path):
    model = SVC(kernel=k.FromFunction(np.inner)).fit(X, TWO)
    with pytest.raises(ValueError, match="FromFunction, which holds Python code"):
        save(model, tmp_path / "model.mm")


def test_estimator_of_others_is_refused(tmp_path):
    from sklearn.svm import SVC as Other

    with pytest.raises(ValueError, match=r"model must be an estimator of maxmargin \(.*LinearSVC"):
        save(Other().fit(X, TWO), tmp_path / "model.mm")


def test_machine_that_learned_nothing_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(SVC(), tmp_path / "model.mm")


def test_failed_save_leaves_the_old_file(tmp_path):
    path = saved(SVC().fit(X, TWO), tmp_path)
    before = path.read_bytes()
    broken = SVC().fit(X, TWO)
    broken.set_params(tol=object())
    with pytest.raises(ValueError, match="tol is of type object"):
        save(broken, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_absent_file_is_told_as_such(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.mm")


def rewritten(path, change):
    """The file with its description changed and all checksums right."""
    values, arrays = read_archive(path)
    change(values, arrays)
    write_archive(path, Contents(values, arrays))
    return path


def test_unknown_version_is_refused(tmp_path):
    path = saved(SVC().fit(X, TWO), tmp_path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head = json.loads(members["model.json"]) | {"version": 2}
    members["model.json"] = json.dumps(head).encode()
    members["model.sha256"] = hashlib.sha256(members["model.json"]).hexdigest().encode()
    hostile(path, members)
    with pytest.raises(ModelFileError, match="version 2 of the format, and this maxmargin reads"):
        load(path)


def replace_with(name, value):
    def change(values, arrays):
        del values
        arrays[f"attributes.{name}"] = value(arrays[f"attributes.{name}"])

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replace_with("dual_coef_", lambda a: a[:, 1:]), "there are .* vectors"),
        (replace_with("dual_coef_", lambda a: a * np.nan), "NaN or infinity"),
        (replace_with("intercept_", lambda a: np.append(a, 0.0)), "of 1 and 2 functions"),
        (replace_with("support_vectors_", lambda a: a[:, :2]), "there are 3 features"),
        (
            replace_with("support_vectors_", lambda a: a.astype(str)),
            "support_vectors_ must hold real numbers",
        ),
        (replace_with("classes_", lambda a: a[:1]), "there are 1 classes"),
        (
            replace_with("n_support_", lambda a: a.astype(float)),
            "n_support_ must hold whole numbers",
        ),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message, tmp_path):
    path = rewritten(saved(SVC().fit(X, TWO), tmp_path), change)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def set_attribute(name, value):
    return lambda values, _: values["attributes"].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_attribute("predict", 1), "'predict' is no attribute"),
        (set_attribute("__class__", 1), "'__class__' is no attribute"),
        (set_attribute("coef_", 1), "'coef_' is no attribute"),
        (set_attribute("kernel_", {"kernel": "FromFunction", "fields": {}}), "unknown to this"),
        (set_attribute("kernel_", {"kernel": "Linear", "fields": {"x": 1}}), "fields unknown"),
        (set_attribute("kernel_", {"record": "Popen", "fields": {}}), "'Popen' is unknown"),
        (lambda values, _: values.update(estimator="Pipeline"), "'Pipeline' is no estimator"),
        (lambda values, _: values["parameters"].update(C=-1), "C must be"),
        (lambda values, _: values["parameters"].update(evil=1), "evil"),
    ],
)
def test_description_of_something_else_is_refused(change, message, tmp_path):
    path = rewritten(saved(SVC().fit(X, TWO), tmp_path), change)
    with pytest.raises(ModelFileError, match=message):
        load(path)


def test_sparse_matrix_with_indices_outside_is_refused(tmp_path):
    path = saved(SVC().fit(sparse.csr_array(X), TWO), tmp_path)
    name = "support_vectors_.indices"
    rewritten(path, replace_with(name, lambda indices: indices + 1000))
    with pytest.raises(ModelFileError, match="indices of a sparse matrix are out of range"):
        load(path)


def hostile(path, members):
    with open(path, "wb") as stream:
        archive = StoredZipWriter(stream)
        for name, data in members.items():
            archive.add(name, data)
        archive.close()
    return path


def described(arrays, content=None):
    text = json.dumps(
        {"format": "maxmargin model", "version": 1, "arrays": arrays, "content": content}
    ).encode()
    return {"model.json": text, "model.sha256": hashlib.sha256(text).hexdigest().encode()}


def test_compressed_members_are_refused(tmp_path):
    path = tmp_path / "bomb.mm"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(10**7))
        for name, data in described({}).items():
            archive.writestr(name, data)
    with pytest.raises(ModelFileError, match="is compressed; those of models never are"):
        load(path)


def test_array_larger_than_its_bytes_is_refused_without_memory(tmp_path):
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    np.lib.format.write_array_header_1_0(stream, header)
    data = stream.getvalue()
    members = {**described({"a": hashlib.sha256(data).hexdigest()}), "a.npy": data}
    path = hostile(tmp_path / "huge.mm", members)
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="has not the size that its header tells"):
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**6


def test_pickled_array_is_refused(tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    data = stream.getvalue()
    members = {**described({"a": hashlib.sha256(data).hexdigest()}), "a.npy": data}
    with pytest.raises(ModelFileError, match="no header of NumPy's format for numbers or texts"):
        load(hostile(tmp_path / "pickle.mm", members))


def test_deep_nesting_is_refused(tmp_path):
    text = b'{"format":' + b"[" * 10**6
    members = {"model.json": text, "model.sha256": hashlib.sha256(text).hexdigest().encode()}
    with pytest.raises(ModelFileError, match="nested too deeply"):
        load(hostile(tmp_path / "deep.mm", members))


# ---- fuzzing --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    return saved(SVC(probability=True).fit(sparse.csr_array(X), THREE), folder)


FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(data=st.data())
def test_damaged_bytes_never_load(valid, data):
    content = bytearray(valid.read_bytes())
    start = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content = content[:start]
    else:
        new = data.draw(st.binary(min_size=1, max_size=40))
        if content[start : start + len(new)] == new:
            return
        content[start : start + len(new)] = new
    path = valid.with_name("damaged.mm")
    path.write_bytes(content)
    with pytest.raises(ModelFileError):
        load(path)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=3),
    st.sampled_from(
        [{"array": "attributes.support_"}, {"float": "nan"}, {"items": [[1]]}, {"tuple": []}]
    ),
)


def places(value, path=()):
    """Paths to all parts of a JSON value."""
    yield path
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if type(value) is list
        else ()
    )
    for key, child in children:
        yield from places(child, (*path, key))


@FUZZ
@given(data=st.data())
def test_any_description_with_right_checksums_loads_or_is_refused(valid, data):
    values, arrays = read_archive(valid)
    path = data.draw(st.sampled_from(list(places(values))))
    leaf = data.draw(LEAVES)
    if path:
        inner = values
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = leaf
    else:
        values = leaf
    changed = valid.with_name("changed.mm")
    write_archive(changed, Contents(values, arrays))
    try:
        model = load(changed)
    except ModelFileError:
        return
    assert model.estimator.n_features_in_ == 3
