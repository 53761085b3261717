"""Python values as JSON and arrays, and back: a closed set of types, none of which runs code.

None, bool, int, str, float, list        as JSON has them
inf, −inf, nan                           {"float": "inf"}
tuple, frozenset                         {"tuple": […]}, {"set": […]}
dict                                     {"items": [[key, value], …]}
arrays of numbers or texts               {"array": name}
arrays of mixed labels                   {"objects": […]}
CSR matrices                             {"csr": {"shape", "data", "indices", "indptr"}, "matrix"}
kernels and records                      {"kernel": name, "fields": {…}}, {"record": …}
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from scipy import sparse

from .. import kernels
from ..archive import CSR, KINDS, ModelFileError, csr_from
from ..kernels import Kernel
from ..kernels.compose import Composition
from ..solvers import Solution
from ..solvers.linear import LinearSolution
from .records import RECORDS, check_fields, check_record

KERNELS: dict[str, type] = {
    name: getattr(kernels, name)
    for name in kernels.__all__
    if name not in ("EncodedSequences", "FromFunction", "Gram", "Kernel")
}


# The keys of the dictionaries that stand for values.
FORMS = [{"float"}, {"tuple"}, {"set"}, {"items"}, {"array"}, {"objects"}]
FORMS += [{"csr", "matrix"}, {"kernel", "fields"}, {"record", "fields"}]


class Encoder:
    """Turns values into JSON; arrays go to `arrays`, by the name of the place they were found in.

    Parameters
    ----------
    resumable : bool
        Whether solutions keep what a fit needs to go on: dual variables and gradients.
    """

    def __init__(self, resumable: bool = False) -> None:
        self.resumable = resumable
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, place: str, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, np.generic):
            return self.encode(place, value.item())
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, list):
            return self._all(place, value)
        if isinstance(value, np.ndarray):
            return self._array(place, value)
        if sparse.issparse(value):
            return self._csr(place, value)
        return self._structure(place, value)

    def _all(self, place: str, values: Any) -> list[Any]:
        return [self.encode(f"{place}.{i}", value) for i, value in enumerate(values)]

    def _structure(self, place: str, value: Any) -> Any:
        if isinstance(value, Kernel):
            if type(value).__name__ not in KERNELS:
                raise ValueError(
                    f"{place} is a {type(value).__name__}, which holds Python code, and model "
                    "files hold none: use another kernel of maxmargin.kernels, or pickle the model"
                )
            return {"kernel": type(value).__name__, "fields": self._fields(place, value)}
        if type(value).__name__ in RECORDS:
            return {"record": type(value).__name__, "fields": self._fields(place, value)}
        if isinstance(value, tuple):
            return {"tuple": self._all(place, value)}
        if isinstance(value, frozenset):
            return {"set": self._all(place, sorted(value))}
        if isinstance(value, dict):
            pairs = enumerate(value.items())
            return {"items": [self._all(f"{place}.{i}", pair) for i, pair in pairs]}
        raise ValueError(
            f"{place} is of type {type(value).__name__}, which model files cannot hold: "
            "they hold numbers, strings, arrays and kernels of maxmargin.kernels"
        )

    def _fields(self, place: str, value: Any) -> dict[str, Any]:
        fields = {name: getattr(value, name) for name in field_names(type(value))}
        if isinstance(value, Solution | LinearSolution):
            fields["trace"] = None
            fields.pop("plan", None)
            bulky = ("alpha", "gradient") if isinstance(value, Solution) else ("beta",)
            if not self.resumable:
                fields.update(dict.fromkeys(bulky, np.empty(0)))
        return {name: self.encode(f"{place}.{name}", field) for name, field in fields.items()}

    def _array(self, place: str, array: np.ndarray) -> Any:
        if array.dtype.kind == "O":
            if array.ndim != 1 or not all(isinstance(x, bool | int | float | str) for x in array):
                raise ValueError(f"{place} must hold numbers or texts, got other objects")
            return {"objects": self._all(place, array.tolist())}
        if array.dtype.kind not in KINDS:
            raise ValueError(f"{place} must hold numbers or texts, got dtype {array.dtype}")
        self.arrays[place] = array
        return {"array": place}

    def _csr(self, place: str, matrix: Any) -> Any:
        rows = sparse.csr_array(matrix)
        parts = {name: self._array(f"{place}.{name}", getattr(rows, name))["array"] for name in CSR}
        return {
            "csr": {"shape": [int(length) for length in rows.shape], **parts},
            "matrix": sparse.isspmatrix(matrix),
        }


class Decoder:
    """Turns JSON of `Encoder` back into values, checked for their types.

    Parameters
    ----------
    arrays : dict
    """

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = arrays
        self.used: set[str] = set()

    def check_complete(self) -> None:
        """Raise `ModelFileError` where there are arrays that nothing refers to."""
        if self.used != self.arrays.keys():
            name = min(self.arrays.keys() - self.used)
            raise ModelFileError(f"array {name!r} belongs to nothing")

    def decode_all(self, named: dict[str, Any]) -> dict[str, Any]:
        return {name: self.decode(value) for name, value in named.items()}

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        if set(value) not in FORMS:
            raise ModelFileError(f"{str(value)[:80]} is of no known type")
        match value:
            case {"float": str(text)}:
                return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text]
            case {"tuple": list(entries)}:
                return tuple(self.decode(entries))
            case {"set": list(entries)}:
                return frozenset(self.decode(entries))
            case {"items": list(entries)}:
                return dict(map(self.decode, entries))
            case {"array": str(name)}:
                return self._array(name)
            case {"objects": list(entries)}:
                return self._objects(self.decode(entries))
            case {"csr": dict(parts), "matrix": bool(matrix)}:
                return self._csr(parts, matrix)
            case {"kernel": str(name), "fields": dict(fields)}:
                return self._made(KERNELS, name, fields)
            case {"record": str(name), "fields": dict(fields)}:
                return self._made(RECORDS, name, fields)
        raise ModelFileError(f"{str(value)[:80]} is of no known type")

    def _array(self, name: str) -> np.ndarray:
        self.used.add(name)
        return self.arrays[name]

    def _objects(self, entries: list[Any]) -> np.ndarray:
        array = np.empty(len(entries), dtype=object)
        array[:] = entries
        return array

    def _csr(self, parts: dict[str, Any], matrix: bool) -> Any:
        arrays = {name: self._array(parts[name]) for name in CSR}
        return csr_from(arrays, parts["shape"], matrix)

    def _made(self, known: dict[str, type], name: str, fields: dict[str, Any]) -> Any:
        if name not in known:
            raise ModelFileError(f"{name!r} is unknown to this version of maxmargin")
        decoded = self.decode_all(fields)
        check_fields(known[name], decoded)
        if issubclass(known[name], Composition):
            return known[name](*decoded["kernels"])
        made = known[name](**decoded)
        check_record(made)
        return made


def field_names(record: type) -> tuple[str, ...]:
    """The field names of a record."""
    return tuple(field.name for field in dataclasses.fields(record))
