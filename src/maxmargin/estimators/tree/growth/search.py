"""The search for the best split of a node over all its features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....runtime.jit import inlined
from .columns import Array, Columns
from .criteria import (
    GINI,
    SQUARED_ERROR,
    TWO_CLASS_GINI,
    Limits,
    Side,
    Targets,
    Whole,
    h,
    sweep,
    tie_of,
)

NO_FEATURE = -2


class Split(NamedTuple):
    """The best split of a node: a gain of -inf if there is none."""

    gain: float
    feature: int
    lower: int
    upper: int
    missing_left: int


@inlined
def search(
    kind: int,
    columns: Columns,
    targets: Targets,
    limits: Limits,
    node: Any,
    sums: Array,
    moved: Array,
    table: Array,
    random: Array,
) -> Split:
    """The best split over the features of a table, the first among equals.

    If features are drawn and none of them can be split, all are tried.
    """
    W, shift, total = node["weight"], 0.0, 0.0
    if kind == SQUARED_ERROR:
        shift, total = node["reference"], node["offset"]
    elif kind == TWO_CLASS_GINI:
        total = sums[1]
    else:
        for S in sums:
            total += S * S if kind == GINI else h(S, targets.xlogx)
    tie = tie_of(kind, node["cost"], W)
    whole = Whole(node["end"] - node["begin"], node["copies"], W, shift, total, tie)
    best = Split(-np.inf, NO_FEATURE, -1, -1, 0)
    rows = table.shape[0]
    to_draw = min(limits.max_features, rows)
    while best.feature < 0 and to_draw > 0:
        left = to_draw
        for row in range(rows):
            if left < rows - row and uniform(random) * (rows - row) >= left:
                continue
            left -= 1
            split = best_in_row(kind, columns, targets, limits, whole, sums, moved, table[row])
            if split.gain > best.gain + tie:
                best = split
        to_draw = rows if to_draw < rows else 0
    return best


@inlined
def best_in_row(
    kind: int,
    columns: Columns,
    targets: Targets,
    limits: Limits,
    whole: Whole,
    sums: Array,
    moved: Array,
    row: Array,
) -> Split:
    """The best split of a node by one feature.

    Upwards, entries move to the left, up to the implicit value; downwards, they move to the right
    down to it. Missing values go to the right, then to the left, then are split off by themselves.
    """
    f, first, end = row
    rank = columns.rank
    implicit: Any = np.int64(columns.implicit[f]) if end - first < whole.samples else -1
    missing = columns.level_start[f + 1] - columns.level_start[f]
    finite = end
    if rank[end - 1] == missing:
        finite = first_above(rank, first, end, missing - 1)
    middle = finite
    if implicit >= 0:
        middle = first_above(rank, first, finite, implicit)
    best = Split(-np.inf, f, -1, -1, 0)
    neighbour: Any = -1
    for attempt in range(2 if finite == end else 5):
        missing_left, down = attempt // 2, attempt % 2
        if attempt == 4:
            span, neighbour, with_missing = (finite, end, 1), -1, False
        elif down:
            span, neighbour = (finite - 1, middle - 1, -1), implicit
            with_missing = missing_left == 0
        else:
            neighbour = implicit if implicit >= 0 else np.int64(rank[middle - 1])
            span, with_missing = (first, middle, 1), missing_left == 1
        if span[0] == span[1]:
            continue
        along = (finite, end) if with_missing else (0, 0)
        side = Side(span[0], span[1], span[2], neighbour, along[0], along[1])
        found = sweep(kind, columns, targets, limits, whole, sums, moved, side)
        if found.gain > best.gain + whole.tie:
            if attempt == 4:
                best = Split(found.gain, f, missing - 1, missing, 0)
            elif down:
                best = Split(found.gain, f, found.after, found.here, missing_left)
            else:
                best = Split(found.gain, f, found.here, found.after, missing_left)
    return best


@inlined
def first_above(rank: Array, first: int, end: int, level: int) -> int:
    """The first of sorted entries whose rank is above a level."""
    while first < end:
        middle = (first + end) // 2
        if rank[middle] > level:
            end = middle
        else:
            first = middle + 1
    return first


@inlined
def uniform(random: Array) -> float:
    """A random number in [0, 1) by splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
