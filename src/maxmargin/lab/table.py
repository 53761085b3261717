"""Text of a CSV file to points in the plane: two columns and a class."""

from __future__ import annotations

import csv
import io
import math
from typing import Any, NamedTuple

import numpy as np

from .examples import rows_of
from .rooms.fields import RequestError

DELIMITERS = ",;\t"


class Columns(NamedTuple):
    """A table by columns; `names` are made up where the file has none."""

    names: list[str]
    cells: list[list[str]]

    @property
    def rows(self) -> int:
        return len(self.cells[0])


def read_columns(text: str, most: int = 500) -> Columns:
    """Cells of a CSV text, checked to be a table of up to `most` columns."""
    lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
    if not lines:
        raise RequestError("the file is empty: a table with two columns of numbers is needed")
    delimiter = max(DELIMITERS, key=lines[0].count)
    try:
        rows = [
            [cell.strip() for cell in row]
            for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter, strict=True)
        ]
    except csv.Error as error:
        raise RequestError(f"the file is not a CSV table: {error}") from None
    width = len(rows[0])
    if not 2 <= width <= most:
        raise RequestError(
            f"the table must have 2 to {most} columns, got {width}: separate them by "
            "commas, semicolons or tabs"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise RequestError(f"line {number} has {len(row)} cells, the first one {width}")
    named = not any(_number(cell) is not None for cell in rows[0])
    names = rows[0] if named else [f"column {k + 1}" for k in range(width)]
    body = rows[1:] if named else rows
    if not body:
        raise RequestError("the table has a header and no rows")
    return Columns([name[:60] for name in names], [list(c) for c in zip(*body)])


def numeric_columns(table: Columns) -> list[int]:
    """Columns whose cells are all numbers."""
    return [
        k for k, cells in enumerate(table.cells) if all(_number(cell) is not None for cell in cells)
    ]


def points_from(
    table: Columns, x: int | None, y: int | None, label: int | None, most: int, classes: int
) -> tuple[list[list[float]], list[str], list[str]]:
    """Points, names of the classes, and notes on what was done.

    Columns that are not chosen are guessed: the first two of numbers, and of the others the last
    with few values.
    """
    numeric = numeric_columns(table)
    names = table.names
    label = _guessed_label(table, numeric, classes) if label is None else label
    features = [k for k in numeric if k != label]
    x = next(iter(features), None) if x is None else x
    y = next((k for k in features if k != x), None) if y is None else y
    if x is None or y is None:
        raise RequestError(
            f"two columns of numbers are needed, got {len(features)}: empty cells and texts count "
            "as no number"
        )
    for k in (x, y):
        if k not in numeric:
            raise RequestError(f"column {names[k]!r} is not numeric: choose another")
    keep, notes = np.arange(table.rows), []
    if table.rows > most:
        keep = np.sort(np.random.default_rng(0).permutation(table.rows)[:most])
        notes.append(f"{most:,} of {table.rows:,} rows are shown, drawn at random")
    X = np.array([[float(table.cells[k][n]) for k in (x, y)] for n in keep])
    deviation = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    notes.append(f"{names[x]} and {names[y]} are scaled to mean 0 and deviation 1")
    cells = [table.cells[label][n] for n in keep] if label is not None else ["all"] * len(keep)
    kinds = sorted(set(cells))
    if len(kinds) > classes:
        raise RequestError(
            f"column {names[label or 0]!r} has {len(kinds)} classes, up to {classes} can be shown: "
            "choose another"
        )
    codes = [kinds.index(cell) for cell in cells]
    points = rows_of(X, codes)
    return points, kinds, notes


def described(table: Columns) -> list[dict[str, Any]]:
    """What the menus say of the columns."""
    numeric = set(numeric_columns(table))
    return [{"name": name, "numeric": k in numeric} for k, name in enumerate(table.names)]


def _guessed_label(table: Columns, numeric: list[int], classes: int) -> int | None:
    few = [k for k, cells in enumerate(table.cells) if 2 <= len(set(cells)) <= classes]
    texts = [k for k in few if k not in numeric]
    if texts:
        return texts[-1]
    return few[-1] if few and len(numeric) > 2 else None


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
