"""Trees as ONNX graphs, through skl2onnx, in single precision as the operator for trees is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn import tree
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from ...estimators import DecisionTreeClassifier


def tree_model(machine: Any, center: Any, scale: Any) -> Any:
    """The model of ONNX of a tree for inputs x, which it sees as (x − center)/scale."""
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    same = tree_machine(machine)
    steps = [("machine", same)]
    if scale is not None:
        scaler = StandardScaler()
        scaler.mean_, scaler.scale_, scaler.var_ = center, scale, scale**2
        scaler.n_features_in_, scaler.n_samples_seen_ = scale.size, 1
        steps.insert(0, ("scaler", scaler))
    options = {id(same): {"zipmap": False}} if hasattr(same, "classes_") else None
    inputs = [("X", FloatTensorType([None, same.n_features_in_]))]
    with warnings.catch_warnings():
        # skl2onnx reads attributes of scikit-learn that are on their way out.
        warnings.simplefilter("ignore", FutureWarning)
        graph = convert_sklearn(Pipeline(steps), initial_types=inputs, options=options)
    write_rules(graph, same.tree_)
    return graph


def tree_machine(machine: Any) -> Any:
    """The tree of scikit-learn with the same nodes."""
    from sklearn.tree._tree import NODE_DTYPE
    from sklearn.tree._tree import Tree as SklearnTree

    own = machine.tree_
    nodes = np.zeros(own.node_count, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = own.children_left, own.children_right
    for name in nodes.dtype.names[2:]:
        nodes[name] = getattr(own, name)
    classifies = isinstance(machine, DecisionTreeClassifier)
    same = tree.DecisionTreeClassifier() if classifies else tree.DecisionTreeRegressor()
    answers = np.array([own.value.shape[2]], dtype=np.intp)
    same.tree_ = SklearnTree(own.n_features, answers, 1)
    same.tree_.__setstate__(
        {
            "max_depth": own.max_depth,
            "node_count": own.node_count,
            "nodes": nodes,
            "values": own.value.copy(),
        }
    )
    same.n_features_in_, same.n_outputs_ = machine.n_features_in_, 1
    same.max_features_ = machine.max_features_
    if classifies:
        same.classes_, same.n_classes_ = machine.classes_, machine.n_classes_
    return same


def write_rules(graph: Any, own: Any) -> None:
    """Let the graph of a tree send missing values, and float32 inputs, where the tree does.

    x ≤ v of a float32 number x is x ≤ the largest float32 number up to v.
    """
    rounded = own.threshold.astype(np.float32)
    above = rounded > own.threshold
    rounded[above] = np.nextafter(rounded[above], np.float32(-np.inf))
    for node in graph.graph.node:
        if not node.op_type.startswith("TreeEnsemble"):
            continue
        parts = {attribute.name: attribute for attribute in node.attribute}
        numbers = np.array(parts["nodes_nodeids"].ints)
        inner = own.children_left[numbers] >= 0
        left = own.missing_go_to_left[numbers].astype(bool) & inner
        del parts["nodes_missing_value_tracks_true"].ints[:]
        parts["nodes_missing_value_tracks_true"].ints.extend(left.astype(int).tolist())
        values = np.array(parts["nodes_values"].floats, dtype=np.float32)
        del parts["nodes_values"].floats[:]
        parts["nodes_values"].floats.extend(np.where(inner, rounded[numbers], values).tolist())
