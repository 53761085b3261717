"""Trees in files: `.mm`, forged ones refused, and ONNX graphs that say the same."""

import dataclasses

import numpy as np
import pytest

from maxmargin import DecisionTreeClassifier, DecisionTreeRegressor
from maxmargin.archive import Contents, ModelFileError, read_archive, write_archive
from maxmargin.data import Schema
from maxmargin.models import Model, load, save

RANDOM = np.random.default_rng(2)
X = RANDOM.normal(size=(300, 4))
X[RANDOM.random(X.shape) < 0.15] = np.nan
NEW = RANDOM.normal(size=(2000, 4)).astype(np.float32)
NEW[RANDOM.random(NEW.shape) < 0.15] = np.nan
FILLED = np.nan_to_num(X)
LABELS = np.array(["a", "b", "c"])[(FILLED[:, 0] > 0).astype(int) + np.isnan(X[:, 1])]
VALUES = FILLED.sum(axis=1)
MODELS = [
    DecisionTreeClassifier(max_depth=8).fit(X, LABELS),
    DecisionTreeClassifier(criterion="entropy", trace=True, max_depth=2).fit(X[:40], LABELS[:40]),
    DecisionTreeRegressor(ccp_alpha=0.001).fit(X, VALUES),
]


@pytest.mark.parametrize("model", MODELS, ids=["gini", "trace", "values"])
def test_file_keeps_everything(model, tmp_path):
    save(model, tmp_path / "tree.mm")
    read = load(tmp_path / "tree.mm").estimator
    assert read.get_params() == model.get_params()
    for field in dataclasses.fields(model.tree_):
        np.testing.assert_array_equal(
            getattr(read.tree_, field.name), getattr(model.tree_, field.name)
        )
    np.testing.assert_array_equal(read.predict(NEW), model.predict(NEW))
    if model.get_params()["trace"]:
        for one, other in zip(read.splits_, model.splits_, strict=True):
            assert one.table() == other.table()


def forged(folder, change):
    path = folder / "tree.mm"
    save(MODELS[0], path)
    values, arrays = read_archive(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays)
    write_archive(path, Contents(values, arrays))
    return path


def circle(arrays):
    inner = np.flatnonzero(arrays["attributes.tree_.children_left"] >= 0)
    arrays["attributes.tree_.children_left"][inner[-1]] = 0


def stray_feature(arrays):
    arrays["attributes.tree_.feature"][0] = 4


def one_child(arrays):
    arrays["attributes.tree_.children_right"][0] = -1


def shared_child(arrays):
    left = arrays["attributes.tree_.children_left"]
    arrays["attributes.tree_.children_right"][0] = left[0]


def short(arrays):
    arrays["attributes.tree_.cost"] = arrays["attributes.tree_.cost"][:-1].copy()


def no_number(arrays):
    arrays["attributes.tree_.threshold"][0] = np.nan


def no_value(arrays):
    arrays["attributes.tree_.value"][0] = np.nan


def other_type(arrays):
    arrays["attributes.tree_.feature"] = arrays["attributes.tree_.feature"].astype(float)


def fewer_classes(arrays):
    arrays["attributes.tree_.value"] = arrays["attributes.tree_.value"][:, :, :2].copy()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (circle, "come before their parents"),
        (stray_feature, "features that do not exist"),
        (one_child, "nodes of a Tree have one child"),
        (shared_child, "stray nodes"),
        (short, "cost of a Tree must have an entry for each node"),
        (no_number, "thresholds of a Tree are no numbers"),
        (no_value, "values of a Tree are no real numbers"),
        (other_type, "feature of a Tree must be int64"),
        (fewer_classes, "2 values for 3 classes"),
    ],
)
def test_forged_tree_is_refused(change, message, tmp_path):
    with pytest.raises(ModelFileError, match=message):
        load(forged(tmp_path, change))


def run_onnx(model, folder, inputs=NEW):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    from maxmargin.models.onnx import write_onnx

    path = folder / "model.onnx"
    write_onnx(model, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": inputs})


def test_graph_tells_classes_and_shares_of_missing_values_too(tmp_path):
    labels, shares = run_onnx(MODELS[0], tmp_path)
    np.testing.assert_array_equal(labels, MODELS[0].predict(NEW))
    np.testing.assert_allclose(shares, MODELS[0].predict_proba(NEW), atol=1e-6)


def test_graph_tells_values(tmp_path):
    values = run_onnx(MODELS[2], tmp_path)[0].ravel()
    np.testing.assert_allclose(values, MODELS[2].predict(NEW), rtol=1e-6, atol=1e-6)


def test_graph_splits_between_neighbouring_single_numbers(tmp_path):
    """A threshold in double precision must not round up to the number above it."""
    low = np.float32(1.0)
    inputs = np.array([[low], [np.nextafter(low, np.float32(2.0))]])
    model = DecisionTreeClassifier().fit(inputs, [0, 1])
    np.testing.assert_array_equal(run_onnx(model, tmp_path, inputs)[0], [0, 1])


def test_scaling_is_part_of_the_graph(tmp_path):
    center, scale = np.arange(4.0), np.array([2.0, 0.5, 4.0, 1.0])
    inputs = RANDOM.normal(size=(100, 4)).astype(np.float32)
    target = (inputs[:, 0] > 0.1).astype(int)
    machine = DecisionTreeClassifier().fit((inputs - center) / scale, target)
    model = Model(machine, Schema((), None, center, scale))
    np.testing.assert_array_equal(run_onnx(model, tmp_path, inputs)[0], target)
