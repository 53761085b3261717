"""`write_onnx`: a fitted machine as a file of ONNX."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...archive import replacing
from ...estimators import DecisionTreeClassifier, DecisionTreeRegressor
from ..files import Model, chosen_machine
from .machines import machine_graph
from .trees import tree_model

TREES = (DecisionTreeClassifier, DecisionTreeRegressor)


def write_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted machine as an ONNX graph with the input `X` of shape (samples, features).

    Input and outputs are in double precision and the graph computes what the machine does, up to
    rounding: `label` and, with decision values, `scores` (−f and f for two classes); of a
    regression `variable`. `probabilities` are an output where the machine has `predict_proba`.
    Trees are the exception: the operator for them has single precision. Their input is float32,
    their outputs are `label` and the shares of the classes as `probabilities`, or `variable`.

    Parameters
    ----------
    model : estimator or Model
        With a linear, polynomial, sigmoid or Gaussian kernel (any metric), or without a kernel. Of
        a `Model`, the scaling of its schema becomes part of the graph, as does what stands for
        missing values (NaN), except in trees.
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
    center = scale = fills = None
    if isinstance(model, Model):
        if model.schema is not None and model.schema.scaled:
            center, scale = model.schema.center, model.schema.scale
        if model.schema is not None and np.isfinite(model.schema.fills).any():
            fills = model.schema.fills
        model = model.estimator
    machine = chosen_machine(model)
    check_is_fitted(machine)
    try:
        is_tree = isinstance(machine, TREES)
        written = (
            tree_model(machine, center, scale)
            if is_tree
            else machine_graph(machine, center, scale, fills).model()
        )
    except ImportError as error:
        raise ImportError(
            "ONNX export needs skl2onnx, which is not installed: pip install skl2onnx onnxruntime"
        ) from error
    with replacing(path) as stream:
        stream.write(written.SerializeToString())
