"""Columns and targets that would mislead a machine: found, named, and left out or refused.

    a column that numbers the rows, or has one value     left out
    a column of whole numbers that rise with every row   left out
    a column that is the target in other words           left out
    a column that nearly tells the target                said
    a column of numbers with a few other cells           refused, with the line
    a target of dates, or of texts that hardly repeat    refused

A column listed as included is taken in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..readers import Table
from ..sources import DataError
from . import rules


class Rules(NamedTuple):
    """When a column is suspected of telling the target."""

    # Rows below which nothing is concluded.
    fewest_rows: int = 20
    # Part of the different rows in which such a column has different values.
    unique: float = 0.95
    # Rows that may be out of order where a column nearly tells the target, as a part of those
    # outside the largest class.
    out_of_order: float = 0.02
    # Correlations of a measurement with a column that is it, and that nearly is, of values or of
    # ranks, and the rows that ranks are compared of.
    same: float = 1.0 - 1e-12
    nearly_same: float = 0.9999
    ranked_rows: int = 20_000


RULES = Rules()

# Names of columns that number rows, or end with them after "_".
NUMBERING = (
    "id",
    "index",
    "idx",
    "row",
    "rownum",
    "number",
    "nr",
    "no",
    "key",
    "uid",
    "unnamed: 0",
)


def columns_left_out(
    data: Table, names: Sequence[str], target: str | None, included: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """Reasons for leaving columns out, by name, and notes about others."""
    reasons: dict[str, str] = {}
    warnings: list[str] = []
    if data.samples < RULES.fewest_rows:
        return reasons, warnings
    goal = None if target is None else _values(data.frame[target])

    def distinct() -> int:
        """Number of rows, each counted once where it was copied."""
        return int(data.frame.select([*names, *([] if target is None else [target])]).n_unique())

    for name in names:
        if name == target or name in included:
            continue
        series = data.frame[name]
        values = _values(series)
        if values is None:
            if series.null_count() == series.len():
                reasons[name] = "it is empty"
            continue
        if numbers_rows(name, series, values, distinct):
            reasons[name] = "it numbers the rows"
        elif rises(series, values):
            reasons[name] = "its whole numbers rise or fall with every row, as ids do"
        elif values.size and (values == values[0]).all() and not series.null_count():
            reasons[name] = f"all its values are {shown(values[0])}"
        elif goal is not None and goal.size == values.size and not series.null_count():
            found = resemblance(values, goal)
            if found == "same":
                reasons[name] = f"it is the target {target!r} in other words"
            elif found:
                warnings.append(
                    f"{name!r} alone nearly tells the target: is it known before the target is? "
                    f"--drop {name} leaves it out"
                )
    if len(reasons) < len(names):
        return reasons, warnings
    # Better to learn from what is there than from nothing.
    varied = [name for name in names if data.frame[name].n_unique() > 1]
    if names and not varied:
        why = "; ".join(f"{name!r}: {reasons[name]}" for name in names[:8])
        raise DataError(
            f"{data.name} has no columns to learn from: {why}. --include {names[0]} uses it "
            "all the same"
        )
    warnings += [f"{name!r} is used for want of others: {reasons.pop(name)}" for name in varied]
    return reasons, warnings


def numbers_rows(name: str, series: Any, values: NDArray[Any], distinct: Callable[[], int]) -> bool:
    """Whether a column of whole numbers counts the rows, or is called so and repeats only where
    rows were copied."""
    if not series.dtype.is_integer() or series.null_count():
        return False
    steps = np.diff(values)
    called = name.strip().lower()
    named = called in NUMBERING or called.rsplit("_", 1)[-1] in NUMBERING or called.endswith(" id")
    if (steps == 1).all() or (steps == -1).all():
        return named or values.size >= 2 * RULES.fewest_rows
    return named and bool(np.unique(values).size >= RULES.unique * distinct())


def rises(series: Any, values: NDArray[Any]) -> bool:
    """Whether a column of whole numbers rises or falls with every row, by steps that differ."""
    if not series.dtype.is_integer() or series.null_count() or values.size < 2 * RULES.fewest_rows:
        return False
    steps = np.diff(values.astype(np.float64))
    return bool(((steps > 0).all() or (steps < 0).all()) and (steps != steps[0]).any())


def resemblance(values: NDArray[Any], target: NDArray[Any]) -> str:
    """ "same" for the target in other words, "nearly" for what nearly sorts it, or nothing."""
    if is_measurement(target):
        if values.dtype.kind not in "iufb" or np.ptp(values) == 0:
            return ""
        with np.errstate(all="ignore"):
            r = abs(float(np.corrcoef(values.astype(float), target.astype(float))[0, 1]))
        if r >= RULES.same:
            return "same"
        return "nearly" if max(r, rank_correlation(values, target)) >= RULES.nearly_same else ""
    codes, own = (np.unique(each, return_inverse=True)[1].ravel() for each in (values, target))
    classes, kinds = int(own.max()) + 1, int(codes.max()) + 1
    if kinds == classes >= 2 and np.unique(codes * classes + own).size == classes:
        return "same"
    others = own.size - int(np.bincount(own).max())
    ordered = values.dtype.kind in "iuf"
    if not ordered and kinds - classes > RULES.out_of_order * others:
        return ""
    counts = np.zeros((kinds, classes), dtype=np.int64)
    np.add.at(counts, (codes, own), 1)
    mixed = own.size - int(counts.max(axis=1).sum())
    changes = int(np.count_nonzero(np.diff(counts.argmax(axis=1))))
    # A row among those of another class costs two changes, a text of its own costs one row.
    surplus = (changes - (classes - 1)) / 2 if ordered else kinds - classes
    out_of_order = mixed + max(surplus, 0)
    return "nearly" if out_of_order <= RULES.out_of_order * others else ""


def rank_correlation(values: NDArray[Any], target: NDArray[Any]) -> float:
    """The size of Spearman's correlation, of evenly spaced rows if there are many."""
    step = 1 + values.size // RULES.ranked_rows
    first, second = rankdata(values[::step]), rankdata(target[::step])
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return abs(float(np.corrcoef(first, second)[0, 1]))


def is_measurement(target: NDArray[Any]) -> bool:
    return target.dtype.kind in "iuf" and np.unique(target).size > RULES.fewest_rows


def refuse_mistakes(data: Table, name: str) -> None:
    """Raise `DataError` for a column of texts that are numbers but for a few cells."""
    found = mistakes(data, name)
    if found:
        raise DataError(
            f"column {name!r} of {data.name} holds numbers, except for {in_lines(data, found)}: "
            f"correct this, leave the cell empty and use --impute median, or --drop {name}"
        )


def mistakes(data: Table, name: str) -> list[tuple[int, str]]:
    """Rows and texts of the cells that are no numbers in a column where nearly all are."""
    import polars

    series = data.frame[name]
    if series.dtype != polars.String:
        return []
    as_numbers = series.str.strip_chars().cast(polars.Float64, strict=False)
    present, valid = series.len() - series.null_count(), series.len() - as_numbers.null_count()
    if (
        valid < RULES.fewest_rows
        or valid == present
        or valid < rules.RULES.mostly_numbers * present
    ):
        return []
    return no_numbers(series)


def no_numbers(series: Any) -> list[tuple[int, str]]:
    """Rows and texts of the cells of a column of texts that are no numbers."""
    import polars

    as_numbers = series.str.strip_chars().cast(polars.Float64, strict=False)
    wrong = (as_numbers.is_null() & series.is_not_null()).arg_true().to_list()
    return [(int(row), str(series[int(row)])) for row in wrong]


def numbers_among(data: Table, name: str) -> str:
    """A hint for a column of texts of which at least half are numbers, or nothing."""
    import polars

    series = data.frame[name]
    if series.dtype != polars.String:
        return ""
    others = no_numbers(series)
    present = series.len() - series.null_count()
    if not others or 2 * len(others) > present:
        return ""
    return f"; {present - len(others)} are numbers, {in_lines(data, others)} are not"


def in_lines(data: Table, cells: list[tuple[int, str]]) -> str:
    """The first cell with its line, and how many more there are."""
    row, text = cells[0]
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    return f"{text!r} in line {line_of(data, row)}{more}"


def line_of(data: Table, row: int) -> int:
    """The line of a row in its file."""
    return row + 1 + data.named if data.lines is None else int(data.lines[row])


def are_identifiers(different: int, samples: int) -> bool:
    """Whether so many different texts are names of the samples."""
    limits = rules.RULES
    return different >= max(limits.identifier_share * samples, limits.fewest_identifiers)


def refuse_target(data: Table, name: str, included: Sequence[str]) -> None:
    """Raise `DataError` for a target from which nothing can be learned."""
    if name in included or data.samples < RULES.fewest_rows:
        return
    refuse_mistakes(data, name)
    series = data.frame[name]
    way_out = f"--target chooses another, --include {name} takes it all the same"
    if series.dtype.is_temporal():
        raise DataError(
            f"the target {name!r} of {data.name} holds dates or times, each of which would be a "
            f"class: {way_out}"
        )
    values = _values(series)
    if values is None or series.null_count():
        return
    if numbers_rows(name, series, values, lambda: data.samples):
        raise DataError(f"the target {name!r} of {data.name} numbers the rows: {way_out}")
    if values.dtype.kind == "U":
        different = np.unique(values).size
        if are_identifiers(different, values.size):
            rows = "every row" if different == values.size else f"{different} of {values.size} rows"
            raise DataError(
                f"the target {name!r} of {data.name} is different in {rows}, so there is nothing "
                f"to learn: {way_out}"
            )


def shown(value: Any) -> str:
    """A value as people write it."""
    return f"{value:g}" if isinstance(value, float | np.floating) else repr(value.item())


def _values(series: Any) -> NDArray[Any] | None:
    """A column as an array of numbers or texts; None where it is neither, or has nothing."""
    import polars

    if series.null_count() == series.len():
        return None
    if series.dtype == polars.Boolean:
        return np.asarray(series.drop_nulls().to_numpy(), dtype=np.int64)
    if series.dtype.is_numeric():
        return np.asarray(series.drop_nulls().to_numpy())
    if series.dtype == polars.String:
        return np.array(series.drop_nulls().to_list(), dtype=np.str_)
    return None
