"""An online model in a file: JSON and NumPy arrays with their checksums, none of which runs code.

The JSON holds parameters, kernel, labels of the classes and counters; each machine has its arrays.
"""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import kernels
from ..archive import ONLINE, Contents, ModelFileError, read_archive, write_archive
from ..kernels import FromFunction, Kernel
from ..kernels.base import count
from ..kernels.compose import Composition
from ..solvers.online import OnlineMachine, OnlineSettings, OnlineState
from ..solvers.online_compiled import COUNTERS, SIZE
from ..solvers.online_points import Frame
from .online_machines import Committee

ARRAYS = tuple(name for name in OnlineState._fields if name not in ("inputs", "frame"))
CSR = ("data", "indices", "indptr")


class SavedToFile(BaseEstimator):
    """An estimator of online machines that outlives its process."""

    def save(self, path: str | os.PathLike[str], *, rows: bool = True) -> None:
        """Write the model to one file, from which `load` goes on.

        Parameters
        ----------
        path : path
        rows : bool
            Whether the Gram matrix of the support set is saved too. With it, a stream goes on to
            the last bit as if nothing had happened. Without it the file is small, and the rows
            are computed anew, which may round otherwise.
        """
        check_is_fitted(self)
        write_archive(path, encoded(self, rows), ONLINE)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """The model that was saved to a file.

        Checksums, types, shapes and values are checked; what is wrong raises
        `maxmargin.models.ModelFileError`, a ValueError.
        """
        contents = read_archive(path, ONLINE)
        try:
            return decoded(cls, contents)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise ModelFileError(
                f"{os.fspath(path)} holds no online model that makes sense: {error}"
            ) from error


# ---- the model -----------------------------------------------------------------------------


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
    parameters = {name: decoded_value(value) for name, value in values["parameters"].items()}
    weights = values["class_weight"]
    parameters["class_weight"] = dict(weights["pairs"]) if isinstance(weights, dict) else weights
    model = cls(**parameters)
    model.kernel_ = decoded_value(values["kernel"])
    model.classes_ = np.array(values["labels"], dtype=np.dtype(values["labels_dtype"]))
    model.class_weight_ = arrays["class_weight"]
    model.n_seen_ = values["seen"]
    if values["features"] is not None:
        model.n_features_in_ = values["features"]
    if values["feature_names"]:
        model.feature_names_in_ = np.array(values["feature_names"], dtype=object)
    settings = OnlineSettings(**values["settings"])
    machines = []
    for place, described in enumerate(values["inputs"]):
        known = {name: arrays[f"{place}.{name}"] for name in ARRAYS}
        inputs, frame = _decoded_inputs(f"{place}.inputs", described, arrays)
        state = OnlineState(**known, inputs=inputs, frame=frame)
        check_state(state)
        machines.append(
            OnlineMachine.restored(model.kernel_, settings, np.dtype(values["dtype"]), state)
        )
    model.machines_ = Committee(machines)
    return model


def check_state(state: OnlineState) -> None:
    """Whether all arrays of a machine are of one length and hold numbers that are some."""
    examples = state.alpha.size
    if state.counters.shape != (COUNTERS,) or state.counters[SIZE] != examples:
        raise ValueError(f"its counters are not those of {examples} examples")
    if (0 if state.inputs is None else count(state.inputs)) != examples:
        raise ValueError(f"its inputs are not those of {examples} examples")
    for name in ("alpha", "gradient", "lower", "upper", "diagonal", "number"):
        if getattr(state, name).shape != (examples,):
            raise ValueError(f"{name} has not the {examples} entries that alpha has")
    if state.rows.shape not in ((0,), (examples * (examples + 1) // 2,)):
        raise ValueError(f"rows are not those of {examples} examples")
    for name in ("alpha", "gradient", "diagonal", "scale", "rows"):
        if not np.isfinite(getattr(state, name)).all():
            raise ValueError(f"{name} contains NaN or infinity")
    if np.isnan(state.lower).any() or np.isnan(state.upper).any():
        raise ValueError("bounds contain NaN")


def _encoded_inputs(name: str, state: OnlineState, arrays: dict[str, np.ndarray]) -> Any:
    inputs, frame = state.inputs, state.frame
    described: dict[str, Any] = {"dense": None, "centre": False}
    if frame is not None:
        described = {"dense": frame.dense, "centre": frame.centre is not None}
        if frame.centre is not None:
            arrays[f"{name}.centre"] = frame.centre
    if inputs is None:
        return {**described, "kind": "none"}
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
    if described["dense"] is not None:
        frame = Frame(described["dense"], arrays.get(f"{name}.centre"))
    if described["kind"] == "none":
        return None, frame
    if described["kind"] == "csr":
        container = sparse.csr_matrix if described["matrix"] else sparse.csr_array
        parts = tuple(arrays[f"{name}.{part}"] for part in CSR)
        return container(parts, shape=tuple(described["shape"])), frame
    array = arrays[name]
    return (array.tolist() if described["kind"] == "list" else array), frame


# ---- values and kernels --------------------------------------------------------------------


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
