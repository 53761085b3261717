"""ONNX export, through skl2onnx: machines with the classic kernels, scaling included."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import svm, tree
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..archive import replacing
from ..estimators import (
    SVC,
    SVR,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    KernelRidge,
    Lasso,
    LinearSVC,
    LinearSVR,
    LogisticRegression,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RidgeRegression,
    SoftmaxRegression,
)
from ..kernels import Gaussian, Linear, Polynomial, Sigmoid
from .files import Model, chosen_machine

CLASSIFIERS, REGRESSORS = (SVC, NuSVC), (SVR, NuSVR, KernelRidge)
LINEAR = (LinearSVC, LinearSVR, LogisticRegression, RidgeRegression, Lasso, SoftmaxRegression)
TREES = (DecisionTreeClassifier, DecisionTreeRegressor)


def write_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted machine as an ONNX graph with float32 input `X` of shape (samples, features).

    Parameters
    ----------
    model : estimator or Model
        With a linear, polynomial, sigmoid or Gaussian kernel (radial or diagonal metric), or
        without a kernel. Of a `Model`, the scaling of its schema becomes part of the graph.
        Probabilities do not: the outputs are `label` and, with decision values, `scores`; of a
        regression `variable`. All are in single precision, as the operators of ONNX are. The graph
        of a tree tells labels and, as `probabilities`, the shares of the classes.
    path : path

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin import SVC
    >>> from maxmargin.models.onnx import write_onnx
    >>> model = SVC(kernel="linear").fit([[-1.0], [1.0]], [3, 8])
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     write_onnx(model, f"{folder}/model.onnx")
    """
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise ImportError(
            "ONNX export needs skl2onnx, which is not installed: pip install skl2onnx onnxruntime"
        ) from error
    pipeline = as_sklearn(model)
    machine = pipeline[-1]
    options = None
    if hasattr(machine, "classes_"):
        plain = {} if isinstance(machine, svm.LinearSVC) else {"zipmap": False}
        scores = {} if isinstance(machine, tree.DecisionTreeClassifier) else {"raw_scores": True}
        options = {id(machine): {**scores, **plain}}
    inputs = [("X", FloatTensorType([None, machine.n_features_in_]))]
    with warnings.catch_warnings():
        # skl2onnx reads attributes of scikit-learn that are on their way out.
        warnings.simplefilter("ignore", FutureWarning)
        graph = convert_sklearn(pipeline, initial_types=inputs, options=options)
    if isinstance(machine, tree.BaseDecisionTree):
        write_rules(graph, machine.tree_)
    else:
        rename_output(graph, "probabilities", "scores")
    with replacing(path) as stream:
        stream.write(graph.SerializeToString())


def rename_output(graph: Any, old: str, new: str) -> None:
    """Give an output another name: decision values are no probabilities."""
    for node in graph.graph.node:
        node.output[:] = [new if name == old else name for name in node.output]
        node.input[:] = [new if name == old else name for name in node.input]
    for output in graph.graph.output:
        output.name = new if output.name == old else output.name


def as_sklearn(model: Any) -> Pipeline:
    """A pipeline of scikit-learn that computes the same function."""
    center = scale = None
    if isinstance(model, Model):
        if model.schema is not None and model.schema.scaled:
            center, scale = model.schema.center, model.schema.scale
        model = model.estimator
    machine = chosen_machine(model)
    check_is_fitted(machine)
    if isinstance(machine, LINEAR):
        return piped(center, scale, linear_machine(machine))
    if isinstance(machine, TREES):
        return piped(center, scale, tree_machine(machine))
    if not isinstance(machine, (*CLASSIFIERS, *REGRESSORS, OneClassSVM)):
        raise ValueError(f"ONNX export knows no {type(machine).__name__}")
    kernel, factor = plain_kernel(machine.kernel_)
    if factor is not None:
        width = machine.n_features_in_
        center = np.zeros(width) if center is None else center
        scale = (np.ones(width) if scale is None else scale) / factor
    return piped(center, scale, kernel_machine(machine, kernel, factor))


def piped(center: Any, scale: Any, machine: Any) -> Pipeline:
    if scale is None:
        return Pipeline([("machine", machine)])
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_, scaler.var_ = center, scale, scale**2
    scaler.n_features_in_, scaler.n_samples_seen_ = scale.size, 1
    return Pipeline([("scaler", scaler), ("machine", machine)])


def plain_kernel(kernel: Any) -> tuple[dict[str, Any], np.ndarray | None]:
    """The kernel in scikit-learn's parameters, for inputs multiplied by a factor."""
    match kernel:
        case Linear():
            return {"kernel": "linear"}, None
        case Gaussian() if kernel.radial:
            return {"kernel": "rbf", "gamma": kernel.gamma}, None
        case Gaussian() if np.min(kernel.gamma) > 0:
            return {"kernel": "rbf", "gamma": 1.0}, np.sqrt(np.array(kernel.gamma))
        case Polynomial():
            names = ("degree", "gamma", "coef0")
            return {"kernel": "poly", **{name: getattr(kernel, name) for name in names}}, None
        case Sigmoid():
            return {"kernel": "sigmoid", "gamma": kernel.gamma, "coef0": kernel.coef0}, None
    raise ValueError(
        "ONNX knows linear, polynomial, sigmoid and Gaussian kernels with radial or diagonal "
        f"metric, got {kernel!r}"
    )


def kernel_machine(machine: Any, kernel: dict[str, Any], factor: np.ndarray | None) -> Any:
    """The machine of scikit-learn with the attributes that its export reads."""
    coef = _dense(machine.dual_coef_)
    classes = getattr(machine, "classes_", np.empty(0))
    if classes.size > 2 and coef.shape[0] != classes.size - 1:
        raise ValueError("ONNX export needs machines of pairs of classes: train with 'ovo'")
    if coef.shape[0] > 1 and not classes.size:
        raise ValueError("ONNX export needs one target: train a machine for each of them")
    kinds = {SVC: svm.SVC, NuSVC: svm.NuSVC, SVR: svm.SVR, NuSVR: svm.NuSVR, KernelRidge: svm.SVR}
    same = kinds.get(type(machine), svm.OneClassSVM)(**kernel)
    vectors = _dense(machine.support_vectors_)
    vectors = np.asarray(vectors, dtype=np.float64) * (1.0 if factor is None else factor)
    same.support_vectors_, same._gamma = vectors, float(kernel.get("gamma", 0.0))
    same.support_, same._n_support = machine.support_, machine.n_support_
    same._sparse, same.shape_fit_ = False, vectors.shape
    same.n_features_in_, same.fit_status_ = machine.n_features_in_, 0
    same.dual_coef_ = same._dual_coef_ = coef
    same.intercept_ = same._intercept_ = machine.intercept_
    if classes.size:
        same.classes_, same.class_weight_ = classes, np.ones(classes.size)
        same._probA = same._probB = np.empty(0)
        if classes.size == 2:
            same._dual_coef_, same._intercept_ = -coef, -machine.intercept_
    elif isinstance(machine, OneClassSVM):
        same.offset_ = machine.offset_
    return same


def linear_machine(machine: Any) -> Any:
    """The linear machine of scikit-learn with the same coefficients."""
    from sklearn.linear_model import LinearRegression

    coef, intercept = _dense(machine.coef_), np.atleast_1d(machine.intercept_)
    if not hasattr(machine, "classes_"):
        same: Any = LinearRegression()
        same.coef_, same.intercept_ = coef.ravel(), float(intercept[0])
    else:
        same = svm.LinearSVC()
        same.coef_ = np.atleast_2d(coef)
        same.intercept_ = np.broadcast_to(intercept, same.coef_.shape[:1]).copy()
        same.classes_ = machine.classes_
    same.n_features_in_ = machine.n_features_in_
    return same


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


def _dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
