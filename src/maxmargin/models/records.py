"""The records that files hold: their types are declared by their fields, the rest is checked here.

A new record needs one entry in `RECORDS`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ..archive import ModelFileError
from ..data.tables.columns import Column
from ..data.tables.conversion import Schema
from ..dual import Certificate
from ..estimators import Certificates
from ..estimators.tree import Candidates, Tree
from ..solvers import Solution
from ..solvers.linear import LinearSolution
from .conforming import conforms, field_types
from .training import FitCurve, HeldOut, Measure, SearchTable, Training

# Where a field is less than its type says: the intercept of a joint machine of several classes.
OTHER_TYPES: dict[tuple[type, str], Any] = {(LinearSolution, "b"): float | np.ndarray}


def check_fields(record: type, fields: dict[str, Any]) -> None:
    """Raise `ModelFileError` where a field is unknown, missing or of another type than declared."""
    declared = {field.name: field for field in dataclasses.fields(record)}
    types = field_types(record)
    unknown = sorted(fields.keys() - declared.keys())
    if unknown:
        raise ModelFileError(f"{record.__name__} has fields unknown to this version of maxmargin")
    for name, field in declared.items():
        hint = OTHER_TYPES.get((record, name), types[name])
        if name in fields:
            if not conforms(fields[name], hint):
                kind = type(fields[name]).__name__
                raise ModelFileError(f"{name} of a {record.__name__} is of a wrong type: {kind}")
        elif field.default is field.default_factory is dataclasses.MISSING:
            raise ModelFileError(f"{name} of a {record.__name__} is missing")


def check_record(record: Any) -> None:
    """Raise `ModelFileError` where the fields of a record contradict each other."""
    CHECKS.get(type(record), _nothing)(record)


def _nothing(record: Any) -> None:
    del record


def _certificates(record: Certificates) -> None:
    count = len(record.certificates)
    _require(count and len(record.names) == count, "certificates and their names differ in number")


def _solution(record: Solution) -> None:
    for name in ("alpha", "gradient", "bias"):
        _require(_is_column(getattr(record, name)), f"{name} of a Solution is no real vector")
    _require(record.alpha.size == record.gradient.size, "alpha and gradient differ in length")


def _linear_solution(record: LinearSolution) -> None:
    joint = isinstance(record.b, np.ndarray)
    for name in ("w", "beta"):
        array = getattr(record, name)
        dims = (1, 2) if joint else (1,)
        _require(array.ndim in dims, f"{name} of a LinearSolution has {array.ndim} dimensions")
    _require(
        not isinstance(record.b, np.ndarray) or _is_column(record.b),
        "b of a LinearSolution is no real vector",
    )


def _fit_curve(record: FitCurve) -> None:
    columns = [getattr(record, field.name) for field in dataclasses.fields(record)]
    _require(all(map(_is_column, columns)), "a FitCurve holds what are no real vectors")
    _require(len({column.size for column in columns}) == 1, "a FitCurve is of different lengths")


def _search_table(record: SearchTable) -> None:
    columns = [record.value, *record.parameters.values()]
    _require(all(map(_is_column, columns)), "a SearchTable holds what are no real vectors")
    texts = record.stage.ndim == 1 and record.stage.dtype.kind == "U"
    _require(texts, "the stages of a SearchTable are no texts")
    sizes = {column.size for column in (record.stage, *columns)}
    _require(len(sizes) == 1, "a SearchTable is of different lengths")


def _held_out(record: HeldOut) -> None:
    count = record.target.size
    for name in ("target", "predicted"):
        array = getattr(record, name)
        _require(array.shape == (count,), f"{name} of held-out samples has shape {array.shape}")
    for name in ("decision", "probability"):
        array = getattr(record, name)
        _require(array.dtype.kind == "f", f"{name} of held-out samples are no real numbers")
        matrix = array.ndim in (1, 2) and len(array) == count
        _require(array.size == 0 or matrix, f"{name} of held-out samples has shape {array.shape}")


def _schema(record: Schema) -> None:
    record.check()


def _tree(record: Tree) -> None:
    left, right = record.children_left, record.children_right
    count = left.size
    for name, dtype in TREE_DTYPES.items():
        array = getattr(record, name)
        _require(array.dtype == dtype, f"{name} of a Tree must be {np.dtype(dtype)}")
        _require(array.shape == (count,), f"{name} of a Tree must have an entry for each node")
    _require(count >= 1, "a Tree has no nodes")
    splits = np.flatnonzero(left != -1)
    _require(((left == -1) == (right == -1)).all(), "nodes of a Tree have one child")
    children = np.concatenate([left[splits], right[splits]])
    # Then there is one way from the root to each node, and no circle.
    _require((children > np.tile(splits, 2)).all(), "children of a Tree come before their parents")
    _require(np.array_equal(np.sort(children), np.arange(1, count)), "a Tree has stray nodes")
    feature = record.feature[splits]
    known = (feature >= 0) & (feature < record.n_features)
    _require(known.all(), "a Tree splits by features that do not exist")
    _require(not np.isnan(record.threshold).any(), "thresholds of a Tree are no numbers")
    value = record.value
    shape = value.ndim == 3 and value.shape[:2] == (count, 1) and value.shape[2] >= 1
    _require(shape, f"the values of a Tree have shape {value.shape}")
    finite = value.dtype == np.float64 and np.isfinite(value).all()
    _require(finite, "the values of a Tree are no real numbers")


def _is_column(array: np.ndarray) -> bool:
    return array.ndim == 1 and array.dtype == np.float64


def _require(fulfilled: Any, otherwise: str) -> None:
    if not fulfilled:
        raise ModelFileError(otherwise)


TREE_DTYPES: dict[str, type] = {
    "children_left": np.int64,
    "children_right": np.int64,
    "feature": np.int64,
    "threshold": np.float64,
    "missing_go_to_left": np.bool_,
    "impurity": np.float64,
    "cost": np.float64,
    "n_node_samples": np.int64,
    "weighted_n_node_samples": np.float64,
}
CHECKS: dict[type, Callable[[Any], None]] = {
    Certificates: _certificates,
    FitCurve: _fit_curve,
    HeldOut: _held_out,
    LinearSolution: _linear_solution,
    Schema: _schema,
    SearchTable: _search_table,
    Solution: _solution,
    Tree: _tree,
}
RECORDS: dict[str, type] = {
    record.__name__: record
    for record in (Candidates, Certificate, Column, Measure, Training, *CHECKS)
}
