"""Machines as ONNX graphs: kernels, votes, labels and decision values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...estimators import (
    SVC,
    SVR,
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
from ...estimators.inputs import takes_strings
from ...estimators.kernel.multiclass import pairs
from ...estimators.kernel.one_class import ON_BOUNDARY
from ...kernels import Gaussian, Linear, MetricGaussian, Polynomial, Sigmoid
from .graph import Graph
from .likelihood import probabilities

Float = NDArray[np.float64]
KERNEL_MACHINES = (SVC, NuSVC, SVR, NuSVR, KernelRidge, OneClassSVM)
LINEAR = (LinearSVC, LinearSVR, LogisticRegression, RidgeRegression, Lasso, SoftmaxRegression)


def machine_graph(machine: Any, center: Any, scale: Any, fills: Any = None) -> Graph:
    """The graph of a machine for inputs x, which it sees as (x − center)/scale, with `fills` in
    place of NaN."""
    linear = isinstance(machine, LINEAR)
    if not linear and not isinstance(machine, KERNEL_MACHINES):
        raise ValueError(f"ONNX export does not support {type(machine).__name__}")
    if not linear and takes_strings(machine.kernel_):
        raise ValueError(f"ONNX export supports no kernels of strings, got {machine.kernel_!r}")
    graph = Graph(machine.n_features_in_)
    inputs = "X"
    if fills is not None:
        inputs = graph.apply("Where", graph.apply("IsNaN", inputs), _row(fills), inputs)
    if scale is not None:
        inputs = graph.apply("Div", graph.apply("Sub", inputs, _row(center)), _row(scale))
    values = (linear_values if linear else kernel_values)(graph, inputs, machine)
    if isinstance(machine, OneClassSVM):
        give_novelty(graph, values, machine)
    elif hasattr(machine, "classes_"):
        give_classes(graph, values, machine)
    else:
        targets = np.atleast_2d(_dense(machine.coef_ if linear else machine.dual_coef_))
        graph.give("variable", values, np.dtype(np.float64), len(targets))
    return graph


def linear_values(graph: Graph, inputs: str, machine: Any) -> str:
    """⟨w, x⟩ + b, a column for each function."""
    weights = np.atleast_2d(_dense(machine.coef_))
    return _plus(graph, graph.apply("MatMul", inputs, _double(weights.T)), machine.intercept_)


def kernel_values(graph: Graph, inputs: str, machine: Any) -> str:
    """Σ_i coef_i k(x_i, x) + b, a column for each function."""
    coef, intercept = machine._functions()
    coef, vectors = _double(_dense(coef)), _double(_dense(machine.support_vectors_))
    if isinstance(machine.kernel_, Linear):
        summed = graph.apply("MatMul", inputs, (coef @ vectors).T.copy())
    else:
        block = kernel_block(graph, inputs, vectors, machine.kernel_)
        summed = graph.apply("MatMul", block, coef.T.copy())
    return _plus(graph, summed, intercept)


def kernel_block(graph: Graph, inputs: str, vectors: Float, kernel: Any) -> str:
    """k(x, x_i), a row for each input."""
    if isinstance(kernel, Gaussian | MetricGaussian):
        return gaussian_block(graph, inputs, vectors, kernel)
    if not isinstance(kernel, Polynomial | Sigmoid):
        raise ValueError(
            f"ONNX export supports linear, polynomial, sigmoid and Gaussian kernels, got {kernel!r}"
        )
    products = graph.apply("MatMul", inputs, kernel.gamma * vectors.T)
    argument = graph.apply("Add", products, float(kernel.coef0))
    if isinstance(kernel, Sigmoid):
        return graph.apply("Tanh", argument)
    return graph.apply("Pow", argument, float(kernel.degree))


def gaussian_block(graph: Graph, inputs: str, vectors: Float, kernel: Any) -> str:
    """exp(min(0, ⟨φ(x), φ(x_i)⟩ − ½‖φ(x)‖² − ½‖φ(x_i)‖²)) with φ(x) = B(x − mean)."""
    mean = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    centred = graph.apply("Sub", inputs, _row(mean))
    if isinstance(kernel, MetricGaussian):
        metric = _double(kernel.metric)
        images = graph.apply("MatMul", centred, metric)
        own = (vectors - mean) @ metric
    else:
        factor = np.sqrt(2.0 * np.broadcast_to(kernel.gamma, mean.shape))
        images = graph.apply("Mul", centred, _row(factor))
        own = (vectors - mean) * factor
    products = graph.apply("MatMul", images, own.T.copy())
    halves = graph.apply("Mul", graph.row_sums(graph.apply("Mul", images, images)), 0.5)
    exponent = graph.apply(
        "Sub", graph.apply("Sub", products, halves), _row(0.5 * np.vecdot(own, own))
    )
    return graph.apply("Exp", graph.apply("Min", exponent, 0.0))


def give_novelty(graph: Graph, values: str, machine: Any) -> None:
    """+1 inside and on the boundary, where values are 0 but for rounding, −1 outside."""
    edge = float(ON_BOUNDARY * np.abs(machine.offset_[0]))
    beyond = graph.as_double(graph.apply("Greater", graph.apply("Abs", values), edge))
    scores = graph.apply("Mul", values, beyond)
    inside = graph.as_index(graph.apply("GreaterOrEqual", scores, 0.0))
    graph.give("label", graph.apply("Gather", np.array([-1, 1]), inside), np.dtype(np.int64), 1)
    graph.give("scores", scores, np.dtype(np.float64), 1)


def give_classes(graph: Graph, values: str, machine: Any) -> None:
    """`label`, `scores` and, where there is a formula for them, `probabilities`."""
    count = machine.classes_.size
    if count == 2:
        winners, scores = of_two(graph, values, machine)
    elif getattr(machine, "_in_pairs", lambda: False)():
        winners, scores = of_pairs(graph, values, machine)
    else:
        winners, scores = graph.apply("ArgMax", values, axis=1, keepdims=0), values
    labels = named_labels(machine.classes_)
    graph.give("label", graph.apply("Gather", labels, winners), labels.dtype, None)
    ovo = count > 2 and machine.get_params().get("decision_function_shape") == "ovo"
    columns = len(pairs(count)) if ovo and machine._in_pairs() else count
    graph.give("scores", scores, np.dtype(np.float64), columns)
    likely = probabilities(graph, values, scores, winners, machine)
    if likely is not None:
        graph.give("probabilities", likely, np.dtype(np.float64), count)


def of_two(graph: Graph, values: str, machine: Any) -> tuple[str, str]:
    """The place of the class, and −f and f."""
    second = "Greater" if isinstance(machine, LINEAR) else "GreaterOrEqual"
    places = graph.as_index(graph.apply(second, values, 0.0))
    scores = graph.apply("Concat", graph.apply("Neg", values), values, axis=1)
    return graph.apply("Reshape", places, np.array([-1])), scores


def of_pairs(graph: Graph, values: str, machine: Any) -> tuple[str, str]:
    """The place of the class by votes, and the decision function as the machine shapes it."""
    count = machine.classes_.size
    first, second = np.zeros((2, len(pairs(count)), count))
    for row, (i, j) in enumerate(pairs(count)):
        first[row, i] = second[row, j] = 1.0

    def votes(wins: str) -> str:
        """How many pairs each class wins: Σ_pairs second + wins·(first − second)."""
        won = graph.apply("MatMul", graph.as_double(wins), first - second)
        return graph.apply("Add", won, _row(second.sum(axis=0)))

    total = graph.apply("MatMul", values, first - second)
    size = graph.apply("Mul", graph.apply("Add", graph.apply("Abs", total), 1.0), 3.0)
    shaped = graph.apply(
        "Add", votes(graph.apply("GreaterOrEqual", values, 0.0)), graph.apply("Div", total, size)
    )
    judged = shaped if machine.break_ties else votes(graph.apply("Greater", values, 0.0))
    winners = graph.apply("ArgMax", judged, axis=1, keepdims=0)
    return winners, shaped if machine.decision_function_shape == "ovr" else values


def named_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Labels as ONNX has them: whole numbers, numbers or texts."""
    if classes.dtype.kind in "biu":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    return np.array([str(label) for label in classes], dtype=object)


def _plus(graph: Graph, values: str, intercept: Any) -> str:
    return graph.apply("Add", values, _row(np.atleast_1d(intercept)))


def _row(values: Any) -> Float:
    return _double(values).reshape(1, -1)


def _double(values: Any) -> Float:
    return np.ascontiguousarray(values, dtype=np.float64)


def _dense(matrix: Any) -> NDArray[Any]:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
