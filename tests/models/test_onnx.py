"""ONNX graphs say what our machines say, in double precision."""

import numpy as np
import pytest

from maxmargin import (
    SVC,
    SVR,
    AutoSVC,
    KernelRidge,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RidgeRegression,
    SoftmaxRegression,
)
from maxmargin.data import Column, Schema
from maxmargin.kernels import Gaussian, MetricGaussian, Oligo
from maxmargin.models import Model

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")
from maxmargin.models.onnx import write_onnx  # noqa: E402

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3))
NEW = RANDOM.normal(size=(40, 3))
TWO = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
DOUBLE = {"rtol": 1e-9, "atol": 1e-9}


def run(model, folder, inputs=NEW):
    path = folder / "model.onnx"
    write_onnx(model, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": inputs})))


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(kernel="linear"),
        SVC(kernel="poly", degree=2, coef0=1.0),
        SVC(kernel="sigmoid", gamma=0.1),
        SVC(kernel=Gaussian([0.1, 0.0, 0.3])),
        SVC(kernel=MetricGaussian(np.array([[0.5, 0.1, 0.0], [0.1, 0.7, 0.2], [0.0, 0.2, 0.4]]))),
        SVC(multi_class="ovr"),
        SVC(break_ties=True),
        SVC(decision_function_shape="ovo"),
        NuSVC(nu=0.3),
        LinearSVC(),
        LinearSVC(multi_class="crammer_singer"),
    ],
    ids=str,
)
def test_graph_tells_labels_and_decisions(model, labels, tmp_path):
    model.fit(X, labels)
    found = run(model, tmp_path)
    assert set(found) == {"label", "scores"}
    np.testing.assert_array_equal(found["label"], model.predict(NEW))
    expected = model.decision_function(NEW)
    if expected.ndim == 1:
        expected = np.column_stack([-expected, expected])
    np.testing.assert_allclose(found["scores"], expected, **DOUBLE)


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (SVC(probability=True), TWO),
        (SVC(probability=True), THREE),
        (SVC(probability=True, multi_class="ovr"), THREE),
        (SVC(probability=True, break_ties=True), THREE),
        (SVC(probability="platt"), TWO),
        (SVC(probability="platt"), THREE),
        (NuSVC(nu=0.3, probability=True), THREE),
        (AutoSVC(strategy="kta"), TWO),
        (AutoSVC(strategy="kta"), THREE),
        (LogisticRegression(), TWO),
        (LogisticRegression(), THREE),
        (SoftmaxRegression(), TWO),
        (SoftmaxRegression(), THREE),
    ],
    ids=str,
)
def test_what_is_called_probabilities_is(model, labels, tmp_path):
    found = run(model.fit(X, labels), tmp_path)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(NEW), **DOUBLE)
    np.testing.assert_array_equal(found["label"], model.predict(NEW))


def test_probabilities_of_many_classes_are_coupled_with_the_mode_where_votes_are(tmp_path):
    random = np.random.default_rng(1)
    inputs, new = random.normal(size=(300, 2)), random.normal(size=(500, 2))
    labels = (inputs[:, 0] > 0) + 2 * (inputs[:, 1] > 0.5) + 4 * (inputs.sum(axis=1) > 1)
    model = SVC(probability=True, C=0.1).fit(inputs, labels)
    found, expected = run(model, tmp_path, new)["probabilities"], model.predict_proba(new)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(new))


@pytest.mark.parametrize(
    "model",
    [SVR(), NuSVR(), LinearSVR(), RidgeRegression(), KernelRidge(), KernelRidge(kernel="linear")],
    ids=lambda m: type(m).__name__,
)
def test_graph_tells_values(model, tmp_path):
    model.fit(X, X[:, 0] - X[:, 1] ** 2)
    found = run(model, tmp_path)["variable"]
    assert found.shape == (40, 1)
    np.testing.assert_allclose(found.ravel(), model.predict(NEW), **DOUBLE)


def test_graph_tells_several_targets(tmp_path):
    model = KernelRidge().fit(X, np.column_stack([X[:, 0], X[:, 1] ** 2]))
    np.testing.assert_allclose(run(model, tmp_path)["variable"], model.predict(NEW), **DOUBLE)


def test_graph_tells_novelty(tmp_path):
    model = OneClassSVM(nu=0.2).fit(X)
    found = run(model, tmp_path)
    np.testing.assert_array_equal(found["label"].ravel(), model.predict(NEW))
    np.testing.assert_allclose(found["scores"].ravel(), model.decision_function(NEW), **DOUBLE)


def test_labels_keep_their_kind(tmp_path):
    for labels in (THREE, THREE * 1.0, THREE > 0, THREE.astype(str).astype(object)):
        model = SVC(kernel="linear").fit(X, labels)
        np.testing.assert_array_equal(run(model, tmp_path)["label"], model.predict(NEW))


def test_large_scales_keep_their_digits(tmp_path):
    """In single precision, inputs of this size have no digits left after the point."""
    model = SVR(kernel=Gaussian(0.3)).fit(X + 1e6, X[:, 0])
    found = run(model, tmp_path, NEW + 1e6)["variable"].ravel()
    np.testing.assert_allclose(found, model.predict(NEW + 1e6), **DOUBLE)


def test_scaling_is_part_of_the_graph(tmp_path):
    center, scale = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5, 4.0])
    machine = SVC().fit((X - center) / scale, TWO)
    model = Model(machine, Schema((), None, center, scale))
    found = run(model, tmp_path)
    inside = (NEW - center) / scale
    np.testing.assert_array_equal(found["label"], machine.predict(inside))
    expected = machine.decision_function(inside)
    np.testing.assert_allclose(found["scores"][:, 1], expected, **DOUBLE)


def test_missing_values_become_those_of_training(tmp_path):
    columns = (
        Column("a", "number", fill=0.25),
        Column("b", "category", ("u", "v"), fill="v"),
    )
    center, scale = np.array([1.0, 0.0, 0.0]), np.array([2.0, 1.0, 1.0])
    machine = SVC(probability=True).fit((X - center) / scale, TWO)
    model = Model(machine, Schema(columns, None, center, scale))
    nan, inputs = np.nan, NEW.copy()
    inputs[:2] = [[nan, 1.0, 0.0], [0.5, nan, nan]]
    filled = inputs.copy()
    filled[:2] = [[0.25, 1.0, 0.0], [0.5, 0.0, 1.0]]
    expected = machine.predict_proba((filled - center) / scale)
    found = run(model, tmp_path, inputs)["probabilities"]
    np.testing.assert_allclose(found, expected, **DOUBLE)


def test_machine_of_strings_is_refused(tmp_path):
    model = SVC(kernel=Oligo()).fit(["ACGT", "GGGT"] * 5, [0, 1] * 5)
    with pytest.raises(ValueError, match="no kernels of strings, got Oligo"):
        write_onnx(model, tmp_path / "model.onnx")


def test_machine_that_onnx_cannot_have_is_refused(tmp_path):
    model = SVC(kernel=2.0 * Gaussian(1.0)).fit(X, TWO)
    with pytest.raises(ValueError, match="ONNX export supports linear, polynomial, sigmoid"):
        write_onnx(model, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
