"""ONNX graphs in double precision, put together operator by operator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = {"int64": "INT64", "float64": "DOUBLE", "object": "STRING"}


class Graph:
    """A graph with the input `X`, float64 of shape (samples, features).

    Values are referred to by name: methods take names or arrays, which become constants, and return
    the name of the result.

    Parameters
    ----------
    features : int
    """

    def __init__(self, features: int) -> None:
        import onnx

        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []
        double = onnx.TensorProto.DOUBLE
        self.input = onnx.helper.make_tensor_value_info("X", double, [None, features])

    def constant(self, values: NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def apply(self, operator: str, *inputs: str | NDArray[Any] | float, **attributes: Any) -> str:
        """The result of an operator, the first of several."""
        names = [
            value if isinstance(value, str) else self.constant(np.asarray(value))
            for value in inputs
        ]
        result = f"value_{len(self.nodes)}"
        results = [result, f"{result}_places"] if operator == "TopK" else [result]
        self.nodes.append(self.onnx.helper.make_node(operator, names, results, **attributes))
        return result

    def as_double(self, value: str) -> str:
        return self.apply("Cast", value, to=self.onnx.TensorProto.DOUBLE)

    def as_index(self, value: str) -> str:
        return self.apply("Cast", value, to=self.onnx.TensorProto.INT64)

    def row_sums(self, value: str) -> str:
        return self.apply("ReduceSum", value, np.array([1]), keepdims=1)

    def give(self, name: str, value: str, kind: np.dtype[Any], columns: int | None) -> None:
        """Make a value an output, of shape (samples,) or (samples, columns)."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        element = getattr(self.onnx.TensorProto, KINDS[kind.name])
        shape = [None] if columns is None else [None, columns]
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, element, shape))

    def model(self) -> Any:
        """The graph as a checked model of ONNX.

        Versions of operators and file are those that the oldest supported onnxruntime reads.
        """
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "maxmargin", [self.input], self.outputs, self.constants
        )
        operators = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=operators, producer_name="maxmargin")
        model.ir_version = 8
        self.onnx.checker.check_model(model)
        return model
