"""Cells of a column: strings and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..readers import Table
from ..sources import DataError


def missing(data: Table, name: str) -> NDArray[Any]:
    """Which values of a column are missing."""
    series = data.frame[name]
    if series.dtype.is_float():
        # Expressions of polars take a hundred times as long, which tells in wide tables.
        return np.asarray(np.isnan(series.to_numpy()))
    if not series.null_count():
        return np.zeros(data.samples, dtype=bool)
    return np.array(series.is_null().to_numpy(), dtype=bool)


def is_text(series: Any) -> bool:
    """Whether a column can be taken as texts: strings, categories, numbers and times."""
    kind = series.dtype
    return not (kind.is_nested() or kind.is_object() or str(kind) in ("Binary", "Unknown"))


def as_texts(series: Any) -> NDArray[Any]:
    """A column as texts, empty where a value is missing."""
    import polars

    if not is_text(series):
        raise DataError(f"column {series.name!r} must hold numbers or texts, got {series.dtype}")
    return np.array(series.cast(polars.String).fill_null("").to_list(), dtype=object)
