"""Files of online models: what a stream leaves behind is read, and no forgery of it."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin import OnlineSVC
from maxmargin.archive import ONLINE, ModelFileError, read_archive, write_archive
from maxmargin.estimators.online.state import check_inputs
from maxmargin.kernels import Oligo, Polynomial

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
TWO = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)


def forged(model, folder, change):
    path = folder / "model.online"
    model.save(path)
    contents = read_archive(path, ONLINE)
    change(contents.values, contents.arrays)
    write_archive(path, contents, ONLINE)
    return path


@pytest.mark.parametrize("seed", range(12))
def test_any_stream_can_be_saved_and_goes_on(seed, tmp_path):
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(120, 2)).round(1)
    labels = random.integers(2 + seed % 2, size=120)
    model = OnlineSVC(
        C=10.0 ** random.uniform(-2, 3),
        kernel=("rbf", "linear", "poly")[seed % 3],
        budget=(None, 2, 7, 30)[seed % 4],
        reprocess=seed % 3,
        precision=("single", "double")[seed % 2],
    )
    classes, start = np.unique(labels), 0
    while start < 120:
        stop = start + int(random.integers(1, 40))
        weight = random.integers(0, 3, size=len(labels[start:stop])).astype(float)
        model.partial_fit(inputs[start:stop], labels[start:stop], classes, weight)
        model.save(tmp_path / "model.online", rows=bool(seed % 2))
        again = OnlineSVC.load(tmp_path / "model.online")
        np.testing.assert_allclose(
            again.decision_function(inputs), model.decision_function(inputs), rtol=1e-9, atol=1e-9
        )
        model, start = again, stop


@pytest.mark.parametrize(
    "setting",
    [
        {"budget": -1},
        {"budget": 1},
        {"budget": 2.5},
        {"budget": True},
        {"reprocess": -1},
        {"reprocess": 2**70 * 1.0},
        {"tol": 0.0},
        {"tol": "small"},
        {"selection": "best"},
        {"selection": 0},
    ],
)
def test_setting_is_checked_as_a_parameter_is(setting, tmp_path):
    (name,) = setting
    path = forged(OnlineSVC().fit(X, TWO), tmp_path, lambda v, _: v["settings"].update(setting))
    with pytest.raises(ModelFileError, match=f"{name} of OnlineSVC must be"):
        OnlineSVC.load(path)
    path = forged(OnlineSVC().fit(X, TWO), tmp_path, lambda v, _: v["parameters"].update(setting))
    with pytest.raises(ModelFileError, match=f"{name} of OnlineSVC must be"):
        OnlineSVC.load(path)


def array(name, change):
    return lambda _, arrays: arrays.update({name: change(arrays[name])})


def entry(name, value):
    return lambda values, _: values.update({name: value})


def one_class_more(values, arrays):
    values["labels"] = ["a", "b", "c"]
    arrays["class_weight"] = np.ones(3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (array("0.alpha", lambda a: a * 1e6), "alpha is outside of its bounds"),
        (array("0.alpha", lambda a: a.astype(np.float32)), "alpha must be float64"),
        (array("0.alpha", lambda a: a[None]), "alpha must be float64"),
        (array("0.gradient", lambda a: a * np.inf), "gradient contains NaN or infinity"),
        (array("0.lower", lambda a: a - 1.0), "bounds are not those of labels"),
        (array("0.upper", lambda a: a + np.inf), "upper contains NaN or infinity"),
        (array("0.number", lambda a: a - 10**6), "an example was never seen"),
        (array("0.number", lambda a: a + 10**6), "an example was never seen"),
        (array("0.number", lambda a: a * 0), "an example is in the support set twice"),
        (array("0.number", lambda a: a.astype(float)), "number must be int64"),
        (array("0.counters", lambda a: a - 1), "counters are not those"),
        (array("0.counters", lambda a: a[:-1]), "counters must be int64"),
        (array("0.scale", lambda a: -a), "scale is negative"),
        (array("0.rows", lambda a: a.astype(np.float32)), "rows must be float64"),
        (array("0.inputs", lambda a: a[:, :2]), "inputs are not of 3 features"),
        (array("0.inputs", lambda a: a.astype(str)), "inputs are not of 3 features"),
        (array("0.inputs", lambda a: a * np.nan), "inputs contain NaN"),
        (array("0.inputs.centre", lambda a: a[:2]), "centre must be"),
        (array("class_weight", lambda a: a[:1]), "class_weight must be float64"),
        (array("class_weight", lambda a: -a), "class_weight is not positive"),
        (lambda _, arrays: arrays.update(more=np.ones(1)), "arrays that belong to nothing"),
        (entry("seen", -1), "seen is -1"),
        (entry("seen", "many"), "seen is of a wrong type"),
        (entry("dtype", "float16"), "dtype is 'float16'"),
        (entry("labels", ["no", "no"]), "ascending order"),
        (entry("labels", ["yes", "no"]), "ascending order"),
        (entry("labels", ["no"]), "two or more"),
        (entry("labels", [None, None]), "labels are no numbers or texts"),
        (entry("labels", ["no", "a very long text"]), "labels are not of type"),
        (entry("labels_dtype", "U99999999"), "labels are of type"),
        (entry("labels_dtype", "O,O"), "labels are of type"),
        (one_class_more, "3 classes need 3 machines"),
        (entry("inputs", []), "2 classes need 1 machines"),
        (entry("features", 0), "features is 0"),
        (entry("feature_names", ["a"]), "1 names for 3 features"),
        (entry("kernel", {"kernel": "Precomputed", "fields": {}}), "kernel is none"),
        (entry("kernel", {"kernel": "Oligo", "fields": {"k": 2}}), "two kernels for other inputs"),
        (entry("kernel", {"tuple": []}), "kernel is none"),
        (entry("class_weight", {"pairs": [["no", 1.0], ["no", 2.0]]}), "a class twice"),
        (lambda values, _: values.pop("seen"), "parts are missing"),
    ],
)
def test_forged_file_is_refused(change, message, tmp_path):
    path = forged(OnlineSVC().fit(X, TWO), tmp_path, change)
    with pytest.raises(ModelFileError, match=message):
        OnlineSVC.load(path)


def test_small_file_of_wide_sparse_inputs_does_not_fill_the_memory(tmp_path):
    model = OnlineSVC().fit(sparse.csr_array(np.where(X > 0, X, 0.0)), TWO)

    def widen(values, _):
        values["features"] = 2**40
        values["inputs"][0].update(shape=[values["inputs"][0]["shape"][0], 2**40], dense=True)

    with pytest.raises(ModelFileError, match="would fill the memory"):
        OnlineSVC.load(forged(model, tmp_path, widen))


def test_forged_texts_are_refused(tmp_path):
    model = OnlineSVC(kernel=Oligo(2, 1.0)).fit(["ACGT", "ACGA", "GGCC", "GGCA"], [0, 0, 1, 1])
    numbers = array("0.inputs", lambda a: np.arange(a.size, dtype=float))
    with pytest.raises(ModelFileError, match="inputs are no texts"):
        OnlineSVC.load(forged(model, tmp_path, numbers))


def test_forged_file_of_three_classes_is_refused(tmp_path):
    mixed = array("1.alpha", lambda a: a[:0])
    with pytest.raises(ModelFileError, match="gradient must be float64"):
        OnlineSVC.load(forged(OnlineSVC().fit(X, THREE), tmp_path, mixed))


def test_inputs_without_a_finite_kernel_value_are_refused():
    kernel = Polynomial(degree=3)
    check_inputs(kernel, np.ones((1, 2)), None, 2)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="kernel is not finite"):
        check_inputs(kernel, np.full((1, 2), 1e110), None, 2)
