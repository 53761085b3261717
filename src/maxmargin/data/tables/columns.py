"""One column of a table: its kind, its missing values, and the features it becomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..readers import Table
from ..sources import DataError
from .cells import as_texts, missing
from .rules import RULES
from .traps import in_lines, line_of, no_numbers

KINDS = ("number", "time", "category")


@dataclass(frozen=True)
class Column:
    """A column of a table, and how it becomes numbers.

    Attributes
    ----------
    name : str
    kind : {"number", "time", "category"}
        Times are days since 1970; a category is 1 in a feature of its own.
    categories : tuple of str
    fill : float, str or None
        What stands for a missing value; None refuses it.

    Examples
    --------
    >>> from maxmargin.data import Column
    >>> Column("colour", "category", ("blue", "red")).width
    2
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float | str | None = None

    @property
    def width(self) -> int:
        return len(self.categories) if self.kind == "category" else 1

    @property
    def fills(self) -> np.ndarray:
        """What stands for a missing value, as features; NaN for nothing."""
        if self.fill is None:
            return np.full(self.width, np.nan)
        if self.kind == "category":
            return np.array([float(category == self.fill) for category in self.categories])
        return np.array([float(self.fill)])

    def check(self) -> None:
        """Raise ValueError where the parts do not fit together."""
        if self.kind not in KINDS:
            raise ValueError(f"the kind of a column must be one of {KINDS}, got {self.kind!r}")
        if len(set(self.categories)) < len(self.categories):
            raise ValueError(f"column {self.name!r} has a category twice")
        if self.kind == "category":
            fits = self.fill is None or isinstance(self.fill, str)
        else:
            fits = not self.categories and not isinstance(self.fill, str)
            fits = fits and np.isfinite(0.0 if self.fill is None else self.fill)
        if not fits:
            raise ValueError(f"column {self.name!r} of kind {self.kind} cannot hold {self.fill!r}")


def filled(data: Table, column: Column, notes: list[str]) -> Column:
    """The column with missing values filled in."""
    gone = missing(data, column.name)
    if column.kind == "category":
        texts = as_texts(data.frame[column.name])
        present, counts = np.unique(texts[~gone], return_counts=True)
        fill: Any = str(present[np.argmax(counts)]) if present.size else ""
    else:
        present = numbers(data, column)[~gone]
        fill = float(np.median(present)) if present.size else 0.0
    if gone.any():
        shown = f"{fill:.6g}" if isinstance(fill, float) else repr(fill)
        notes.append(filled_in_words(column.name, int(gone.sum()), shown))
    return replace(column, fill=fill)


def filled_in_words(name: str, count: int, fill: str) -> str:
    """A line for people about missing values that were filled in."""
    if count == 1:
        return f"1 missing value of {name!r} becomes {fill}"
    return f"{count} missing values of {name!r} become {fill}"


def encoded(data: Table, column: Column) -> Any:
    """The features of a column."""
    gone = missing(data, column.name)
    if column.kind == "category":
        texts = as_texts(data.frame[column.name])
        texts[gone] = "" if column.fill is None else column.fill
        places = {category: place for place, category in enumerate(column.categories)}
        codes = np.array([places.get(text, -1) for text in texts])
        rows = np.flatnonzero(codes >= 0)
        shape = (data.samples, column.width)
        one_hot = sparse.csr_array((np.ones(rows.size), (rows, codes[rows])), shape=shape)
        return one_hot if column.width > RULES.largest_dense else one_hot.toarray()
    values = numbers(data, column)
    values[gone] = np.nan if column.fill is None else column.fill
    infinite = np.flatnonzero(~np.isfinite(values))
    if infinite.size:
        more = f" and {infinite.size - 1} more" if infinite.size > 1 else ""
        raise DataError(
            f"column {column.name!r} of {data.name} contains infinite values, "
            f"in line {line_of(data, int(infinite[0]))}{more}"
        )
    return values[:, None]


def numbers(data: Table, column: Column) -> np.ndarray:
    """A column as float64, NaN where a value is missing."""
    series = data.frame[column.name]
    if series.dtype.is_temporal():
        import polars

        if str(series.dtype).startswith(("Time", "Duration")):
            series = series.to_physical()
        else:
            series = series.cast(polars.Datetime("us")).to_physical() / 86_400e6
    elif not (series.dtype.is_numeric() or str(series.dtype) in ("Boolean", "Null")):
        wrong = no_numbers(series) if str(series.dtype) == "String" else []
        sample = in_lines(data, wrong) if wrong else f"{str(series[0])!r}"
        raise DataError(
            f"column {column.name!r} of {data.name} must hold numbers, as it did in training; "
            f"it holds {sample}"
        )
    import polars

    return series.cast(polars.Float64).to_numpy().astype(np.float64)


def refuse_missing(data: Table, columns: Any) -> None:
    counts = {column.name: int(missing(data, column.name).sum()) for column in columns}
    counts = {name: count for name, count in counts.items() if count}
    if counts:
        worst = sorted(counts.items(), key=lambda item: -item[1])
        named = ", ".join(f"{name} ({count})" for name, count in worst[:8])
        raise DataError(
            f"{sum(counts.values())} values are missing in {data.name}: {named}"
            f"{', …' if len(worst) > 8 else ''}. `train --impute median` fills them in; "
            "--drop leaves a column out"
        )
