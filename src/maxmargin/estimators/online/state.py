"""The file format of online models: JSON and NumPy arrays with checksums, without any code.

The JSON holds parameters, kernel, labels of the classes and counters; each machine has its arrays.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import re
from typing import Any

import numpy as np
from scipy import sparse

from ... import kernels
from ...archive import (
    CSR,
    ONLINE,
    Contents,
    ModelFileError,
    csr_from,
    read_archive,
    write_archive,
)
from ...archive.matrices import LONGEST
from ...kernels import FromFunction, Kernel
from ...kernels.base import count
from ...kernels.compose import Composition
from ...kernels.vector.base import VectorKernel
from ...solvers.online.inputs import Frame
from ...solvers.online.loop import COUNTERS, SIZE, ZEROS
from ...solvers.online.machine import OnlineMachine, OnlineSettings, OnlineState
from ..conditioning import widened
from ..inputs import is_precomputed, takes_strings
from .committee import Committee

# Exceptions caused by invalid files.
ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    IndexError,
    OverflowError,
    RecursionError,
)
LABELS = (bool, int, float, str)
LABEL_TYPE = re.compile(r"[<>|=]?(?:[biufU]\d{1,9}|O)")
ARRAYS = tuple(name for name in OnlineState._fields if name not in ("inputs", "frame"))


def save(model: Any, path: str | os.PathLike[str], rows: bool) -> None:
    """Write a fitted model to a file; see `OnlineSVC.save`."""
    write_archive(path, encoded(model, rows), ONLINE)


def load(cls: type, path: str | os.PathLike[str]) -> Any:
    """The model of a class that was saved to a file; see `OnlineSVC.load`."""
    contents = read_archive(path, ONLINE)
    try:
        return decoded(cls, contents)
    except ERRORS as error:
        raise ModelFileError(
            f"{os.fspath(path)} does not contain a valid online model: {error}"
        ) from error


def encoded(model: Any, rows: bool) -> Contents:
    parameters = model.get_params(deep=False)
    parameters.pop("callback", None)
    state = parameters.pop("random_state")
    if not (state is None or isinstance(state, int | np.integer)):
        raise ValueError(f"random_state must be None or an int to be saved, got {state!r}")
    parameters["random_state"] = None if state is None else int(state)
    weights = parameters.pop("class_weight")
    if isinstance(weights, dict):
        weights = {"pairs": [[_plain(label), float(w)] for label, w in weights.items()]}
    machines = model.machines_.machines
    labels = model.classes_
    if labels.dtype.kind not in "biufUO":
        raise ValueError(f"classes must be numbers or texts to be saved, got dtype {labels.dtype}")
    values: dict[str, Any] = {
        "parameters": {name: encoded_value(name, value) for name, value in parameters.items()},
        "class_weight": weights,
        "kernel": encoded_value("kernel", model.kernel_),
        "settings": machines[0].settings._asdict(),
        "dtype": machines[0].dtype.name,
        "labels": [_plain(label) for label in labels.tolist()],
        "labels_dtype": labels.dtype.str,
        "seen": int(model.n_seen_),
        "features": getattr(model, "n_features_in_", None),
        "feature_names": [str(name) for name in getattr(model, "feature_names_in_", [])],
        "inputs": [],
    }
    arrays = {"class_weight": model.class_weight_}
    for place, machine in enumerate(machines):
        saved = machine.state()
        for name in ARRAYS:
            empty = name == "rows" and not rows
            arrays[f"{place}.{name}"] = saved.rows[:0] if empty else getattr(saved, name)
        values["inputs"].append(_encoded_inputs(f"{place}.inputs", saved, arrays))
    return Contents(values, arrays)


def decoded(cls: type, contents: Contents) -> Any:
    values, arrays = contents
    _check_parts(values)
    model = cls(**_parameters(values))
    model._check_parameters()
    settings, dtype = _settings(cls, values["settings"]), values["dtype"]
    kernel = decoded_value(values["kernel"])
    _require(isinstance(kernel, Kernel) and not is_precomputed(kernel), "kernel is none")
    _require(takes_strings(kernel) == takes_strings(model.kernel), "two kernels for other inputs")
    _require(isinstance(dtype, str) and dtype in ("float32", "float64"), f"dtype is {dtype!r}")
    model.kernel_, model.classes_ = kernel, _labels(values)
    model.class_weight_ = _weights(arrays["class_weight"], model.classes_.size)
    model.n_seen_ = values["seen"]
    features, names = values["features"], values["feature_names"]
    if features is not None:
        model.n_features_in_ = features
    if names:
        _require(len(names) == features, f"there are {len(names)} names for {features} features")
        model.feature_names_in_ = np.array(names, dtype=object)
    count = 1 if model.classes_.size == 2 else model.classes_.size
    _require(len(values["inputs"]) == count, f"{model.classes_.size} classes need {count} machines")
    kinds = {described["kind"] for described in values["inputs"]}
    _require(len(kinds) == 1, "machines have inputs of different kinds")
    machines = []
    used = {"class_weight"}
    for place, described in enumerate(values["inputs"]):
        own = [f"{place}.{name}" for name in ARRAYS]
        known = {name: arrays[f"{place}.{name}"] for name in ARRAYS}
        part = f"{place}.inputs"
        inputs, frame = _decoded_inputs(part, described, arrays)
        state = OnlineState(**known, inputs=inputs, frame=frame)
        check_state(state, np.dtype(dtype), model.n_seen_)
        check_inputs(kernel, inputs, frame, features)
        machines.append(OnlineMachine.restored(kernel, settings, np.dtype(dtype), state))
        used |= {*own, *(name for name in arrays if name == part or name.startswith(part + "."))}
    _require(used == arrays.keys(), "it has arrays that belong to nothing")
    model.machines_ = Committee(machines)
    return model


# What the JSON consists of.
PARTS: dict[str, Any] = {
    "parameters": dict,
    "class_weight": dict | str | None,
    "kernel": dict,
    "settings": dict,
    "dtype": str,
    "labels": list,
    "labels_dtype": str,
    "seen": int,
    "features": int | None,
    "feature_names": list,
    "inputs": list,
}


def _check_parts(values: Any) -> None:
    _require(isinstance(values, dict) and values.keys() == PARTS.keys(), "parts are missing")
    for name, kind in PARTS.items():
        _require(isinstance(values[name], kind), f"{name} is of a wrong type")
    _require(all(isinstance(name, str) for name in values["feature_names"]), "a name is no text")
    for name, least in (("seen", 0), ("features", 1)):
        number = values[name]
        fine = number is None or (not isinstance(number, bool) and least <= number <= LONGEST)
        _require(fine, f"{name} is {number!r}")


def _parameters(values: dict[str, Any]) -> dict[str, Any]:
    parameters = {name: decoded_value(value) for name, value in values["parameters"].items()}
    weights = values["class_weight"]
    if isinstance(weights, dict):
        pairs = weights["pairs"]
        weights = dict(pairs)
        _require(len(weights) == len(pairs), "class_weight names a class twice")
    return {**parameters, "class_weight": weights}


def _settings(cls: type, values: dict[str, Any]) -> OnlineSettings:
    """The settings of the machines, checked like parameters of the estimator."""
    settings = OnlineSettings(**values)
    cls(**settings._asdict())._check_parameters()
    return settings


def _labels(values: dict[str, Any]) -> np.ndarray:
    plain, name = values["labels"], values["labels_dtype"]
    _require(LABEL_TYPE.fullmatch(name), f"labels are of type {name!r}")
    _require(all(isinstance(label, LABELS) for label in plain), "labels are no numbers or texts")
    dtype = np.dtype(name)
    _require(dtype.itemsize * len(plain) <= 1 << 28, f"labels are of type {name!r}")
    labels = np.array(plain, dtype=dtype)
    _require(labels.ndim == 1 and labels.tolist() == plain, f"labels are not of type {dtype}")
    ordered = all(a < b for a, b in itertools.pairwise(plain))
    _require(len(plain) >= 2 and ordered, "labels are not two or more in ascending order")
    return labels


def _weights(array: np.ndarray, classes: int) -> np.ndarray:
    _check_array("class_weight", array, np.float64, (classes,))
    _require((array >= 0).all() and np.isfinite(array).all(), "class_weight is not positive")
    return array


def check_state(state: OnlineState, dtype: np.dtype, seen: int) -> None:
    """Raise ValueError if the arrays of a machine are not a possible result of learning."""
    n = state.alpha.size
    for name in ("alpha", "gradient", "lower", "upper", "diagonal"):
        _check_array(name, getattr(state, name), np.float64, (n,))
    _check_array("number", state.number, np.int64, (n,))
    _check_array("counters", state.counters, np.int64, (COUNTERS,))
    _check_array("scale", state.scale, np.float64, (1,))
    triangle = () if state.rows.size == 0 else (n * (n + 1) // 2,)
    _check_array("rows", state.rows, dtype, triangle or (0,))
    for name in ("alpha", "gradient", "lower", "upper", "diagonal", "scale", "rows"):
        _require(np.isfinite(getattr(state, name)).all(), f"{name} contains NaN or infinity")
    lower, upper = state.lower, state.upper
    one_sided = ((lower == 0) & (upper > 0)) | ((lower < 0) & (upper == 0))
    _require(one_sided.all(), "bounds are not those of labels")
    inside = (state.alpha >= lower) & (state.alpha <= upper)
    _require(inside.all(), "alpha is outside of its bounds")
    counters, zeros = state.counters, int((state.alpha == 0).sum())
    _require((counters >= 0).all() and counters[SIZE] == n, f"counters are not those of {n}")
    _require(counters[ZEROS] == zeros, f"counters are not those of {zeros} zeros")
    _require(state.scale[0] >= 0, "scale is negative")
    own = np.unique(state.number)
    _require(own.size == n, "an example is in the support set twice")
    _require(n == 0 or (own[0] >= 0 and own[-1] < seen), "an example was never seen")
    _require(count(state.inputs) == n, f"inputs are not those of {n} examples")


def check_inputs(kernel: Kernel, inputs: Any, frame: Frame | None, features: int | None) -> None:
    """Raise ValueError if a kernel cannot be evaluated at the inputs."""
    if takes_strings(kernel):
        _require(features is None and _are_texts(inputs), "inputs are no texts")
    else:
        real = sparse.issparse(inputs) or isinstance(inputs, np.ndarray)
        real = real and inputs.ndim == 2 and inputs.dtype in (np.float32, np.float64)
        _require(real and inputs.shape[1] == features, f"inputs are not of {features} features")
        values = inputs.data if sparse.issparse(inputs) else inputs
        _require(np.isfinite(values).all(), "inputs contain NaN or infinity")
    if frame is not None and frame.dense and sparse.issparse(inputs):
        # Entries of their dense table, and those for each entry that is stored.
        most = max(1 << 25, 100 * inputs.nnz)
        _require(inputs.shape[0] * inputs.shape[1] <= most, "sparse inputs would fill the memory")
    if frame is not None and frame.centre is not None:
        stationary = isinstance(kernel, VectorKernel) and kernel._stationary
        _require(stationary, "the kernel is not one that allows a centre")
        _check_array("centre", frame.centre, frame.centre.dtype, (features,))
        _require(frame.centre.dtype.kind == "f", "centre holds no real numbers")
        _require(np.isfinite(frame.centre).all(), "centre contains NaN or infinity")
    if count(inputs):
        one = widened(inputs[:1])
        _require(np.isfinite(kernel(one, one)).all(), "kernel is not finite")


def _are_texts(inputs: Any) -> bool:
    array = np.asarray(inputs)
    return array.ndim == 1 and (array.dtype.kind in "US" or array.size == 0)


def _check_array(name: str, array: np.ndarray, dtype: Any, shape: tuple[int | None, ...]) -> None:
    if array.dtype != np.dtype(dtype) or array.shape != shape:
        raise ValueError(
            f"{name} must be {np.dtype(dtype)}{list(shape)}, got {array.dtype}{list(array.shape)}"
        )


def _require(fulfilled: Any, otherwise: str) -> None:
    if not fulfilled:
        raise ValueError(otherwise)


def _encoded_inputs(name: str, state: OnlineState, arrays: dict[str, np.ndarray]) -> Any:
    inputs, frame = state.inputs, state.frame
    described: dict[str, Any] = {"dense": None, "centre": False}
    if frame is not None:
        described = {"dense": frame.dense, "centre": frame.centre is not None}
        if frame.centre is not None:
            arrays[f"{name}.centre"] = frame.centre
    if sparse.issparse(inputs):
        for part in CSR:
            arrays[f"{name}.{part}"] = getattr(inputs, part)
        shape = [int(length) for length in inputs.shape]
        return {**described, "kind": "csr", "shape": shape, "matrix": sparse.isspmatrix(inputs)}
    array = np.asarray(inputs)
    if array.dtype.kind == "O" and all(isinstance(x, str) for x in array.ravel()):
        array = array.astype(str)
    if array.dtype.kind not in "biufUS":
        raise ValueError(
            f"inputs must be numbers or texts to be saved, got {type(inputs[0]).__name__}: "
            "pickle the model instead"
        )
    arrays[name] = array
    return {**described, "kind": "list" if isinstance(inputs, list) else "array"}


def _decoded_inputs(
    name: str, described: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[Any, Frame | None]:
    frame = None
    dense, centred, kind = described["dense"], described["centre"], described["kind"]
    _require(dense is None or isinstance(dense, bool), f"dense is {dense!r}")
    _require(kind in ("csr", "array", "list"), f"inputs are of kind {kind!r}")
    _require(isinstance(centred, bool), f"centre is {centred!r}")
    if dense is not None:
        frame = Frame(dense, arrays[f"{name}.centre"] if centred else None)
    if kind == "csr":
        parts = {part: arrays[f"{name}.{part}"] for part in CSR}
        return csr_from(parts, described["shape"], bool(described["matrix"])), frame
    array = arrays[name]
    return (array.tolist() if kind == "list" else array), frame


def encoded_value(name: str, value: Any) -> Any:
    """A parameter as JSON."""
    if isinstance(value, Kernel) and not isinstance(value, FromFunction):
        parts = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}  # type: ignore[arg-type]
        fields = {key: encoded_value(f"{name}.{key}", part) for key, part in parts.items()}
        return {"kernel": type(value).__name__, "fields": fields}
    if isinstance(value, tuple | frozenset | np.ndarray):
        entries = sorted(value) if isinstance(value, frozenset) else list(value)
        return {"tuple": [encoded_value(name, entry) for entry in entries]}
    value = _plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(
        f"{name} is a {type(value).__name__}, which a file without code cannot hold: use a kernel "
        "of maxmargin.kernels, or pickle the model"
    )


def decoded_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "tuple" in value:
        return tuple(decoded_value(entry) for entry in value["tuple"])
    name = value["kernel"]
    made = getattr(kernels, name, None) if name in kernels.__all__ else None
    if not (isinstance(made, type) and issubclass(made, Kernel) and made is not FromFunction):
        raise ValueError(f"the kernel {name!r} is unknown to this version of maxmargin")
    fields = {key: decoded_value(field) for key, field in value["fields"].items()}
    return made(*fields["kernels"]) if issubclass(made, Composition) else made(**fields)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
