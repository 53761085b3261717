"""Graphs of trees answer as the trees do, for inputs scaled or not."""

import numpy as np
import pytest

from maxmargin import DecisionTreeClassifier, DecisionTreeRegressor

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")
from maxmargin.models.onnx.trees import tree_machine, tree_model  # noqa: E402

RANDOM = np.random.default_rng(0)
# Whole numbers stay the same when they are scaled in float32.
CENTER, SCALE = np.array([4.0, -2.0, 0.0]), np.array([2.0, 0.5, 1.0])
X = RANDOM.integers(-6, 7, size=(60, 3)).astype(float)
X[::9, 1] = np.nan
Y = np.array(["a", "b", "c"])[(np.abs(X[:, 0]) > 2).astype(int) + (X[:, 2] > 1)]
TARGETS = X[:, 0] + (X[:, 2] > 0)
CLASSIFIER = DecisionTreeClassifier(max_depth=4).fit(X, Y)
REGRESSOR = DecisionTreeRegressor(max_depth=5).fit(X, TARGETS)


def answers(machine, inputs, center=None, scale=None):
    graph = tree_model(machine, center, scale)
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": inputs.astype(np.float32)})


@pytest.mark.parametrize("scaled", [False, True])
def test_graphs_answer_as_their_trees(scaled):
    inputs, how = (X * SCALE + CENTER, (CENTER, SCALE)) if scaled else (X, (None, None))
    labels, shares = answers(CLASSIFIER, inputs, *how)
    np.testing.assert_array_equal(labels, CLASSIFIER.predict(X))
    np.testing.assert_allclose(shares, CLASSIFIER.predict_proba(X), atol=1e-6)
    (values,) = answers(REGRESSOR, inputs, *how)
    np.testing.assert_allclose(values.ravel(), REGRESSOR.predict(X), atol=1e-5)


def test_float32_inputs_go_where_the_tree_sends_them():
    """The threshold lies between two float32 numbers, nearer to the upper one."""
    below = np.float32(1.0)
    above = np.nextafter(below, np.float32(2.0))
    inputs = np.array([[below], [above]], dtype=np.float64)
    machine = DecisionTreeRegressor().fit(inputs, [0.0, 1.0])
    machine.tree_.threshold[0] = 0.1 * below + 0.9 * np.float64(above)
    assert np.float32(machine.tree_.threshold[0]) == above
    np.testing.assert_array_equal(answers(machine, inputs)[0].ravel(), [0.0, 1.0])


def test_the_tree_of_scikit_learn_has_the_same_nodes():
    same = tree_machine(CLASSIFIER)
    np.testing.assert_array_equal(same.predict(X), CLASSIFIER.predict(X))
    np.testing.assert_allclose(same.predict_proba(X), CLASSIFIER.predict_proba(X))
    assert same.tree_.node_count == CLASSIFIER.tree_.node_count
    assert same.tree_.max_depth == CLASSIFIER.tree_.max_depth
    np.testing.assert_allclose(tree_machine(REGRESSOR).predict(X), REGRESSOR.predict(X))
