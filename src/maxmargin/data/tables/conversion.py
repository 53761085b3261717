"""From tables to numbers: the columns, and how each is converted to features."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..readers import Table, polars_errors
from ..sources import DataError
from ..vectors import Vectors
from .cells import as_texts, is_text, missing
from .columns import Column, encoded, filled, refuse_missing
from .names import listed, suggestion, suggestions
from .rules import RULES
from .traps import (
    are_identifiers,
    columns_left_out,
    line_of,
    numbers_among,
    refuse_mistakes,
    refuse_target,
)

# Names of columns that are likely to be the target, most likely first.
TARGET_NAMES = ("target", "label", "labels", "class", "y", "outcome", "response")
IMPUTATIONS = ("median",)
# Features of vectors with fewer entries than features.
MOST_FEATURES = 1 << 25


@dataclass(frozen=True, eq=False)
class Schema:
    """How data become inputs: (encoded columns − center) / scale.

    Attributes
    ----------
    columns : tuple of Column
        Empty where the data are vectors as they are.
    target : str or None
        The column that is predicted.
    center, scale : float arrays
        One number for each feature.
    sparse : bool
        Whether inputs are a CSR matrix.

    Examples
    --------
    >>> import polars
    >>> from maxmargin.data import Table, schema_of
    >>> table = Table("fruit", polars.DataFrame({"mass": [1.0, 3.0], "ripe": ["no", "yes"]}))
    >>> schema, notes = schema_of(table)
    >>> schema.target, schema.feature_names, schema.features(table)
    ('ripe', ('mass',), array([[1.],
           [3.]]))
    """

    columns: tuple[Column, ...]
    target: str | None
    center: np.ndarray = field(repr=False)
    scale: np.ndarray = field(repr=False)
    sparse: bool = False

    @property
    def width(self) -> int:
        """Number of features."""
        return int(self.scale.size)

    @property
    def scaled(self) -> bool:
        return bool(self.center.any() or (self.scale != 1.0).any())

    @property
    def fills(self) -> np.ndarray:
        """What stands for a missing value of each feature, before scaling; NaN for nothing."""
        parts = [column.fills for column in self.columns]
        return np.concatenate(parts) if parts else np.full(self.width, np.nan)

    @property
    def feature_names(self) -> tuple[str, ...]:
        names = []
        for column in self.columns:
            if column.kind == "category":
                names += [f"{column.name}={category}" for category in column.categories]
            else:
                names.append(column.name)
        return tuple(names) or tuple(f"feature {i + 1}" for i in range(self.width))

    def check(self) -> None:
        """Raise ValueError where the parts do not fit together."""
        for array in (self.center, self.scale):
            if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all():
                raise ValueError("center and scale of the schema must be finite float64 vectors")
        if self.center.shape != self.scale.shape or (self.scale <= 0).any():
            raise ValueError("scale of the schema must be positive and as long as center")
        if self.columns and sum(column.width for column in self.columns) != self.width:
            raise ValueError("the columns of the schema do not make up its features")
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names) or self.target in names:
            raise ValueError("the schema names a column twice")
        for column in self.columns:
            column.check()

    def features(self, data: Table | Vectors) -> Any:
        """The inputs of a machine.

        Raises `DataError` for missing columns, and for missing values where nothing stands for
        them.
        """
        X = self._matrix(data)
        if X.shape[1] != self.width:
            raise DataError(
                f"{data.name} has {X.shape[1]} features, the model was trained on {self.width}"
            )
        if self.sparse:
            X = sparse.csr_array(X, dtype=np.float64)
            if (self.scale != 1.0).any():
                X = sparse.csr_array(X.multiply(1.0 / self.scale))
            return X
        X = X.toarray() if sparse.issparse(X) else X
        return (X - self.center) / self.scale if self.scaled else X

    def unseen(self, data: Table | Vectors) -> dict[str, int]:
        """How often each column has a category that training never saw."""
        counts = {}
        if isinstance(data, Table):
            for column in self.columns:
                if column.kind == "category" and column.name in data.frame.columns:
                    texts = as_texts(data.frame[column.name])
                    new = ~np.isin(texts, [*column.categories, ""])
                    if new.any():
                        counts[column.name] = int(new.sum())
        return counts

    def filled_in(self, data: Table | Vectors) -> dict[str, tuple[int, float | str]]:
        """How many missing values of each column are filled in, and with what."""
        if not isinstance(data, Table):
            return {}
        present = set(data.frame.columns)
        counts = {
            column.name: (int(missing(data, column.name).sum()), column.fill)
            for column in self.columns
            if column.fill is not None and column.name in present
        }
        return {name: (count, fill) for name, (count, fill) in counts.items() if count}

    def _matrix(self, data: Table | Vectors) -> Any:
        if isinstance(data, Vectors):
            return data.X
        columns = self.columns
        if not columns:
            names = [name for name in data.frame.columns if name != self.target]
            columns = tuple(Column(name, "number") for name in names)
        present = set(data.frame.columns)
        absent = [column.name for column in columns if column.name not in present]
        if absent:
            raise DataError(
                f"{data.name} lacks the column{'s' * (len(absent) > 1)} {listed(absent)} that the "
                f"model was trained on; {suggestions(absent, data.frame.columns)}"
            )
        with polars_errors(f"{data.name} holds what is neither number, time nor text"):
            refuse_missing(data, [column for column in columns if column.fill is None])
            parts = [encoded(data, column) for column in columns]
        if any(sparse.issparse(part) for part in parts):
            return sparse.csr_array(sparse.hstack(parts, format="csr"))
        return np.hstack(parts) if parts else np.empty((data.samples, 0))


def schema_of(
    data: Table | Vectors,
    *,
    target: str | None = None,
    impute: str | None = None,
    drop: tuple[str, ...] = (),
    include: tuple[str, ...] = (),
    unlabelled: bool = False,
) -> tuple[Schema, tuple[str, ...]]:
    """Find out how to convert data to inputs.

    Parameters
    ----------
    data : Table or Vectors
    target : str, optional
        Column to predict: its name, or its number from 1. By default a column called target, label,
        class, y, outcome or response, else the last.
    impute : {"median"}, optional
        Replace missing numbers by the median of their column, missing categories by the most
        frequent one. By default they are an error; in new data they are always replaced.
    drop, include : tuples of str
        Columns to leave out, and to use even if they look like a trap.
    unlabelled : bool
        Whether there is no target.

    Returns
    -------
    schema : Schema
    notes : tuple of str

    Examples
    --------
    >>> import polars
    >>> from maxmargin.data import Table, schema_of
    >>> table = Table("fruit", polars.DataFrame({"mass": [1.0, 3.0], "ripe": ["no", "yes"]}))
    >>> schema, notes = schema_of(table)
    >>> notes
    ("target is the last column, 'ripe'; --target chooses another",)
    """
    if impute is not None and impute not in IMPUTATIONS:
        raise DataError(f"impute must be one of {', '.join(IMPUTATIONS)}, got {impute!r}")
    if isinstance(data, Vectors):
        if target is not None or drop or include:
            raise DataError(f"{data.name} has no columns with names to choose or to drop")
        width = checked_width(data)
        schema = Schema((), None, np.zeros(width), np.ones(width), sparse.issparse(data.X))
        return schema, data.notes
    with polars_errors(f"{data.name} holds what is neither number, time nor text"):
        return _schema_of_table(data, target, impute, drop, include, unlabelled)


def _schema_of_table(
    data: Table,
    target: str | None,
    impute: str | None,
    drop: tuple[str, ...],
    include: tuple[str, ...],
    unlabelled: bool,
) -> tuple[Schema, tuple[str, ...]]:
    notes = list(data.notes)
    present = set(data.frame.columns)
    for name in (*drop, *include):
        if name not in present:
            what = "drop" if name in drop else "include"
            hint = suggestion(name, data.frame.columns)
            raise DataError(f"{data.name} has no column {name!r} to {what}; {hint}")
    names = [name for name in data.frame.columns if name not in drop]
    goal = None
    if not unlabelled or target is not None:
        goal, note = target_column(data, names, target)
        notes += [note] if note else []
        refuse_target(data, goal, include)
    others = [name for name in names if name != goal]
    found = [described(data, name, included=name in include) for name in others]
    columns = [column for column, _ in found if column is not None]
    traps, warnings = columns_left_out(data, [column.name for column in columns], goal, include)
    notes += [note for name, (_, note) in zip(others, found) if note and name not in traps]
    for name, why in traps.items():
        notes.append(f"{name!r} is left out: {why}; --include {name} uses it")
    notes += warnings
    columns = [column for column in columns if column.name not in traps]
    if not columns:
        why = "".join(f"; {note}" for name, (_, note) in zip(others, found) if note)
        raise DataError(
            f"{data.name} has no columns to learn from besides the target {goal!r}{why}"
        )
    if impute is None:
        refuse_missing(data, columns)
    columns = [filled(data, column, notes) for column in columns]
    width = sum(column.width for column in columns)
    share = len(columns) / width
    thin = width > RULES.largest_dense and share < RULES.sparse_below
    schema = Schema(tuple(columns), goal, np.zeros(width), np.ones(width), thin)
    return schema, tuple(notes)


def checked_width(data: Vectors) -> int:
    """The number of features, if a number for each of them can be kept."""
    width, entries = data.X.shape[1], data.X.nnz if sparse.issparse(data.X) else data.X.size
    if width > max(MOST_FEATURES, entries):
        raise DataError(
            f"{data.name} has {width:,} features by its largest index, but only {entries:,} "
            f"entries; up to {MOST_FEATURES:,} are allowed: number the features without gaps"
        )
    return int(width)


def target_column(data: Table, names: list[str], target: str | None) -> tuple[str, str]:
    """Name of the column to predict, and notes about the choice."""
    if target is not None:
        if target in names:
            return target, ""
        if target.isdigit() and 1 <= int(target) <= len(data.frame.columns):
            return data.frame.columns[int(target) - 1], ""
        raise DataError(f"{data.name} has no column {target!r}; {suggestion(target, names)}")
    if len(names) < 2:
        raise DataError(
            f"{data.name} has only the column {listed(names)}: a target needs a second one"
        )
    for wanted in TARGET_NAMES:
        for name in names:
            if name.lower() == wanted:
                return name, f"target is column {name!r}, by its name"
    return names[-1], f"target is the last column, {names[-1]!r}; --target chooses another"


def described(data: Table, name: str, included: bool = False) -> tuple[Column | None, str]:
    """How a column is converted to numbers, and notes about it."""
    series = data.frame[name]
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        return Column(name, "number"), ""
    if series.dtype.is_temporal():
        return Column(name, "time"), f"{name!r} counts as days since 1970"
    if str(series.dtype) == "Null":
        return None, f"{name!r} is empty and left out"
    if not is_text(series):
        return None, f"{name!r} is left out: {series.dtype} is neither number nor text"
    if not included:
        refuse_mistakes(data, name)
    texts = as_texts(series)
    categories = sorted({*texts.tolist()} - {""})
    if not included and are_identifiers(len(categories), data.samples):
        note = f"{name!r} is left out: {len(categories)} of {data.samples} strings are different"
        return None, f"{note}{numbers_among(data, name)}; --include {name} uses it"
    return Column(name, "category", tuple(categories)), f"{name!r} has {len(categories)} categories"


def targets_of(data: Table | Vectors, schema: Schema) -> np.ndarray | None:
    """The targets, in their own type.

    Parameters
    ----------
    data : Table or Vectors
    schema : Schema

    Returns
    -------
    ndarray of shape (samples,), or None if the data have no target

    Examples
    --------
    >>> import polars
    >>> from maxmargin.data import Table, schema_of, targets_of
    >>> table = Table("fruit", polars.DataFrame({"mass": [1.0, 3.0], "ripe": ["no", "yes"]}))
    >>> targets_of(table, schema_of(table)[0]).tolist()
    ['no', 'yes']
    """
    if isinstance(data, Vectors):
        return data.y
    if schema.target is None or schema.target not in data.frame.columns:
        return None
    with polars_errors(f"the target {schema.target!r} of {data.name} is neither number nor text"):
        return _targets_of_table(data, schema)


def _targets_of_table(data: Table, schema: Schema) -> np.ndarray:
    assert schema.target is not None
    gone = missing(data, schema.target)
    if gone.any():
        first = line_of(data, int(np.flatnonzero(gone)[0]))
        which = (
            f"line {first}" if gone.sum() == 1 else f"{int(gone.sum())} rows, first line {first}"
        )
        raise DataError(
            f"the target {schema.target!r} of {data.name} is missing in {which}: remove these rows"
        )
    series = data.frame[schema.target]
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        values = series.to_numpy()
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise DataError(f"the target {schema.target!r} of {data.name} contains infinity")
        return np.array(values)
    return as_texts(series).astype(np.str_)


def standardised(schema: Schema, X: Any) -> Schema:
    """The schema with scaling: mean 0 and deviation 1 of numbers, maximum 1 of sparse features.

    Parameters
    ----------
    schema : Schema
    X : array or sparse matrix of shape (samples, features)

    Returns
    -------
    Schema

    Examples
    --------
    >>> import polars
    >>> from maxmargin.data import Table, schema_of, standardised
    >>> table = Table("fruit", polars.DataFrame({"mass": [1.0, 3.0], "ripe": ["no", "yes"]}))
    >>> schema = schema_of(table)[0]
    >>> schema = standardised(schema, schema.features(table))
    >>> schema.center, schema.scale, schema.features(table).ravel()
    (array([2.]), array([1.]), array([-1.,  1.]))
    """
    if sparse.issparse(X):
        largest = abs(X).max(axis=0).toarray().ravel()
        return replace(schema, scale=np.where(largest > 0, largest, 1.0))
    center, scale = X.mean(axis=0), X.std(axis=0)
    constant = scale <= 1e-12 * np.maximum(np.abs(center), 1e-300)
    kinds = [np.full(column.width, column.kind == "category") for column in schema.columns]
    fixed = constant | np.concatenate(kinds) if kinds else constant
    return replace(schema, center=np.where(fixed, 0.0, center), scale=np.where(fixed, 1.0, scale))
