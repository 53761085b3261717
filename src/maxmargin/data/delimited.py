"""Delimited text as a table: encoding, separator, header, and cells that polars takes for texts.

spaces around cells      removed
0,5 between semicolons   0.5
blank lines              left out
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sources import GLANCE, DataError
from .tables.names import listed
from .tables.rules import RULES

if TYPE_CHECKING:
    import polars

# What stands for a missing value in a text.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?")


class Delimited(NamedTuple):
    """A table, whether its columns have names, the line of each row, and what was guessed."""

    frame: polars.DataFrame
    named: bool
    lines: NDArray[np.int64]
    notes: tuple[str, ...]


def read_delimited(content: bytes, name: str, separator: str | None = None) -> Delimited:
    """The table in a text; the separator is guessed if not given."""
    import polars

    content, notes = as_utf8(content, name)
    lines = first_lines(content)
    if not lines:
        raise DataError(f"{name} is empty")
    if separator is None:
        separator = separator_of(lines)
    if separator not in ",\t":
        notes.append(f"columns are separated by {separator!r}")
    header = has_header(lines, separator)
    options: dict[str, Any] = {"separator": separator, "has_header": header}
    options |= {"null_values": list(MISSING), "infer_schema_length": None, "try_parse_dates": True}
    numbers_are_texts = False
    try:
        frame = polars.read_csv(io.BytesIO(content), **options)
    except polars.exceptions.ComputeError:
        with suppress(csv.Error):
            refuse_long_lines(content, name, separator)
        # Older versions of polars fail at integers of more than 64 bits.
        frame = polars.read_csv(io.BytesIO(content), **options, infer_schema=False)
        numbers_are_texts = True
    frame = frame.rename({name: name.strip() for name in frame.columns})
    if header:
        notes += duplicated(frame.columns)
    else:
        notes.append("the first line holds values, not names")
    line = np.arange(frame.height, dtype=np.int64) + 1 + header
    if frame.width > 1 and (b"\n\n" in content or b"\n\r\n" in content):
        blank = frame.select(polars.all_horizontal(polars.all().is_null())).to_series()
        if blank.any():
            notes.append(f"{blank.sum():,} blank lines are left out")
            frame, line = frame.filter(~blank), line[~blank.to_numpy()]
            numbers_are_texts = True  # to older versions of polars
    frame, with_commas = with_plain_cells(frame, separator != ",", numbers_are_texts)
    if with_commas:
        notes.append(f"decimal commas: {listed(with_commas)}")
    return Delimited(frame, header, line, tuple(notes))


def refuse_long_lines(content: bytes, name: str, separator: str) -> None:
    """Raise `DataError` for the first line with more cells than the first one."""
    rows = csv.reader(io.StringIO(content.decode(), newline=""), delimiter=separator)
    width = 0
    for row in rows:
        width = width or len(row)
        if len(row) > width:
            raise DataError(
                f"line {rows.line_num} of {name} has {len(row)} cells, and the first has {width}: "
                f"a cell that contains {separator!r} needs quotes"
            )


def as_utf8(content: bytes, name: str) -> tuple[bytes, list[str]]:
    """The text in UTF-8, and a note if its encoding was guessed."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return content.decode("utf-16").encode(), []
        except UnicodeDecodeError as error:
            raise DataError(f"{name} begins like UTF-16, but is not: {error}") from error
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1").encode(), ["the text is not UTF-8: read as Latin-1"]
    return content, []


def first_lines(content: bytes) -> list[str]:
    """The lines that are not blank among the first 64 kB; two of them, if there are, at least."""
    lines: list[str] = []
    start = 0
    while start < len(content) and (start < GLANCE or len(lines) < 2):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        line = content[start:end].decode(errors="ignore").strip("\r")
        lines += [line] if line.strip() else []
        start = end + 1
    return lines


def separator_of(lines: list[str]) -> str:
    """What separates columns: the character that all first lines have equally often."""

    def evidence(separator: str) -> tuple[bool, int]:
        counts = [line.count(separator) for line in lines[:20]]
        return min(counts) > 0 and min(counts) == max(counts), min(counts)

    return max((",", ";", "\t", "|"), key=evidence)


def has_header(lines: list[str], separator: str) -> bool:
    """Whether the first line names the columns: it holds no number, or a name above a number."""
    rows = [[c.strip().strip('"') for c in line.split(separator)] for line in lines[:2]]
    first, second = rows[0], rows[-1]
    if not any(is_number(cell) for cell in first):
        return True
    return len(first) == len(second) and any(
        above not in MISSING and not is_number(above) and is_number(below)
        for above, below in zip(first, second)
    )


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() not in ("nan", "inf", "infinity")


def duplicated(names: list[str]) -> list[str]:
    """Notes about columns that polars has renamed since they share a name."""
    notes = []
    for name in names:
        original = re.sub(r"_duplicated_\d+$", "", name)
        if original != name and original in names:
            notes.append(f"several columns are named {original!r}: one is called {name!r} here")
    return notes


def with_plain_cells(
    frame: polars.DataFrame, decimal_commas: bool, numbers_are_texts: bool = False
) -> tuple[polars.DataFrame, list[str]]:
    """The table with numbers where texts are numbers between spaces or with decimal commas (or, if
    asked for, plain ones), and the names of columns with commas."""
    import polars

    changed, with_commas = [], []
    for series in frame.select(polars.col(polars.String)):
        plain = series.str.strip_chars()
        plain = plain.set(plain.is_in(MISSING), None)
        if decimal_commas and plain.str.contains(",", literal=True).any():
            points = plain.str.replace(",", ".", literal=True)
            numbers = points.cast(polars.Float64, strict=False)
            present = plain.len() - plain.null_count()
            if numbers.len() - numbers.null_count() >= RULES.mostly_numbers * present:
                with_commas.append(series.name)
                plain = points
        if numbers_are_texts or not plain.equals(series, null_equal=True):
            changed.append(as_numbers(plain))
    return frame.with_columns(changed), with_commas


def as_numbers(series: Any) -> Any:
    """A column of texts as numbers if all of them are."""
    import polars

    for kind in (polars.Int64, polars.Float64):
        numbers = series.cast(kind, strict=False)
        if numbers.null_count() == series.null_count() < series.len():
            return numbers
    return series
