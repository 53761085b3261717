"""ONNX graphs say what our machines say."""

import numpy as np
import pytest

from maxmargin import (
    SVC,
    SVR,
    KernelRidge,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RidgeRegression,
)
from maxmargin.data import Schema
from maxmargin.kernels import Gaussian, MetricGaussian
from maxmargin.models import Model

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")
from maxmargin.models.onnx import write_onnx  # noqa: E402

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(80, 3)).astype(np.float32).astype(np.float64)
NEW = RANDOM.normal(size=(40, 3)).astype(np.float32).astype(np.float64)
TWO = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
THREE = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
# Runtimes compute kernels in single precision.
SINGLE = {"rtol": 1e-5, "atol": 1e-5}


def run(model, folder, inputs=NEW):
    path = folder / "model.onnx"
    write_onnx(model, path)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"X": inputs.astype(np.float32)})


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(kernel="linear"),
        SVC(kernel="poly", degree=2, coef0=1.0),
        SVC(kernel="sigmoid", gamma=0.1),
        SVC(kernel=Gaussian([0.1, 0.2, 0.3])),
        NuSVC(nu=0.3),
        LinearSVC(),
    ],
    ids=["rbf", "linear", "poly", "sigmoid", "diagonal", "nu", "no kernel"],
)
def test_graph_tells_labels_and_decisions(model, labels, tmp_path):
    model.fit(X, labels)
    said, decisions = run(model, tmp_path)
    np.testing.assert_array_equal(said, model.predict(NEW))
    expected = model.decision_function(NEW)
    if expected.ndim == 1:
        decisions = decisions[:, -1]
    np.testing.assert_allclose(decisions, expected, **SINGLE)


@pytest.mark.parametrize("model", [SVC(), SVC(probability=True), LinearSVC()], ids=str)
def test_decision_values_are_not_called_probabilities(model, tmp_path):
    write_onnx(model.fit(X, TWO), tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"))
    assert [output.name for output in session.get_outputs()] == ["label", "scores"]


@pytest.mark.parametrize(
    "model",
    [SVR(), NuSVR(), LinearSVR(), RidgeRegression(), KernelRidge(), KernelRidge(kernel="linear")],
    ids=lambda m: type(m).__name__,
)
def test_graph_tells_values(model, tmp_path):
    model.fit(X, X[:, 0] - X[:, 1] ** 2)
    np.testing.assert_allclose(run(model, tmp_path)[0].ravel(), model.predict(NEW), **SINGLE)


def test_graph_tells_novelty(tmp_path):
    model = OneClassSVM(nu=0.2).fit(X)
    np.testing.assert_array_equal(run(model, tmp_path)[0].ravel(), model.predict(NEW))


def test_scaling_is_part_of_the_graph(tmp_path):
    center, scale = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5, 4.0])
    machine = SVC().fit((X - center) / scale, TWO)
    model = Model(machine, Schema((), None, center, scale))
    said = run(model, tmp_path)[0]
    np.testing.assert_array_equal(said, machine.predict((NEW - center) / scale))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVC(kernel=MetricGaussian(np.eye(3))), "ONNX knows linear, polynomial, sigmoid"),
        (SVC(multi_class="ovr"), "machines of pairs of classes"),
    ],
)
def test_machine_that_onnx_cannot_have_is_refused(model, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_onnx(model.fit(X, THREE), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
