"""Growing a tree: nodes are split until limits or pure nodes stop the growth.

Order of calls, in `grow`:

1. `describe` each new node: weight, mean, cost, and whether it may be split at all;
2. `search` its best split over the features that are not constant in it;
3. take the next node: the newest (depth-first), or the one with the largest gain (best-first);
4. `divide` its samples, then the entries of its features, with stable partitions, so that the
   entries of both children stay sorted; continue at 1 with both.

The entries of a node are a table of rows (feature, first entry, end), without the features that are
constant: these stay constant below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....runtime.jit import called, compiled, inlined
from ..tree import LEAF
from .columns import Array, Columns
from .criteria import ENTROPY, SQUARED_ERROR, Limits, Targets
from .search import NO_FEATURE, Split, search

# A node, in the order of creation: children come after their parents. Values of rank `lower` or
# below go to the left, `upper` is the next rank there is. `begin` and `end` are places in the final
# order of samples, `copies` counts them. `reference` is the target of one of them, `offset` the sum
# of w_i (t_i − reference).
NODE = np.dtype(
    [
        ("left", np.int64),
        ("right", np.int64),
        ("feature", np.int64),
        ("lower", np.int64),
        ("upper", np.int64),
        ("missing_left", np.int64),
        ("depth", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
        ("copies", np.int64),
        ("weight", np.float64),
        ("reference", np.float64),
        ("offset", np.float64),
        ("cost", np.float64),
        ("gain", np.float64),
    ]
)


@compiled
def grow(
    kind: int,
    classes: int,
    columns: Columns,
    targets: Targets,
    limits: Limits,
    seed: int,
    nodes: Array,
) -> tuple[int, Array]:
    """Write the nodes of a tree for the samples of the columns.

    Parameters
    ----------
    kind : int
        The criterion.
    classes : int
    columns : Columns
        Its entries are reordered.
    targets : Targets
    limits : Limits
    seed : int
    nodes : ndarray of NODE
        Memory for the largest possible number of nodes.

    Returns
    -------
    total : int
        The number of nodes.
    samples : ndarray of int32
        Ordered such that the samples of every node are contiguous.
    """
    n, d = targets.weight.size, columns.implicit.size
    samples = np.arange(n).astype(np.int32)
    side = np.empty(n, dtype=np.uint8)
    spare = np.empty((2, n), dtype=np.int32)
    sums, moved = np.zeros((2, classes)), np.zeros((2, classes))
    random = np.array([seed], dtype=np.uint64)
    divisible, counts = np.zeros(2, dtype=np.bool_), np.zeros(2, dtype=np.int64)
    # Tables of nodes that wait, one after the other; those of a node and of its children.
    tables, top = np.empty((2 * d + 2, 3), dtype=np.int64), 0
    parent, sided = np.empty((d, 3), dtype=np.int64), np.empty((2, d, 3), dtype=np.int64)
    table_of = np.zeros((nodes.size, 2), dtype=np.int64)
    heap, waiting = np.empty(nodes.size, dtype=np.int64), 0

    fresh, total, leaves, rows = 1, 1, 1, d
    nodes[0]["begin"], nodes[0]["end"], nodes[0]["depth"] = 0, n, 0
    while True:
        for hand in range(fresh):
            node = nodes[total - fresh + hand]
            divisible[hand] = describe(kind, targets, limits, node, samples, sums[hand])
        if total == 1:
            counts[0] = first_table(columns, n, sided[0])
        elif divisible[0] or divisible[1]:
            divide_entries(
                nodes[total - 2 : total], parent[:rows], columns, side, spare, sided, counts
            )
        if top + 2 * rows > tables.shape[0]:
            tables = enlarged(tables, top, 2 * (top + 2 * rows))
        for hand in range(fresh):
            number = total - fresh + hand
            node, rows = nodes[number], counts[hand]
            if divisible[hand]:
                table = sided[hand, :rows]
                split = search(
                    kind, columns, targets, limits, node, sums[hand], moved, table, random
                )
                if accept(node, split, limits):
                    copy_rows(tables, top, table)
                    table_of[number, 0], table_of[number, 1] = top, rows
                    top += rows
                    waiting = push(heap, waiting, number, nodes, limits)
        if waiting == 0 or leaves == limits.max_leaves:
            return total, samples
        number = pop(heap, waiting, nodes, limits)
        waiting -= 1
        first, rows = table_of[number, 0], table_of[number, 1]
        copy_rows(parent, 0, tables[first : first + rows])
        if limits.max_leaves == 0:  # the table of the youngest node is the last one
            top = first
        divide(nodes, number, total, parent[:rows], columns, samples, side, spare[0])
        fresh, total, leaves = 2, total + 2, leaves + 1


@called
def enlarged(tables: Array, used: int, size: int) -> Array:
    larger = np.empty((size, 3), dtype=np.int64)
    copy_rows(larger, 0, tables[:used])
    return larger


@inlined
def copy_rows(target: Array, place: int, table: Array) -> None:
    for row in range(table.shape[0]):
        for part in range(3):
            target[place + row, part] = table[row, part]


@inlined
def describe(
    kind: int, targets: Targets, limits: Limits, node: Any, samples: Array, sums: Array
) -> bool:
    """Weight, copies and cost of a node; whether it is impure and limits allow to split it.

    For classes, `sums` becomes the weight of each.
    """
    label, target, weight = targets.label, targets.target, targets.weight
    own = samples[node["begin"] : node["end"]]
    W, copies, mixed, cost = 0.0, 0, False, 0.0
    for sample in own:
        i = np.uint64(sample)
        W += weight[i]
        copies += targets.copies[i]
    if kind == SQUARED_ERROR:
        reference, offset = target[own[0]], 0.0
        for sample in own:
            i = np.uint64(sample)
            t = target[i] - reference
            mixed |= t != 0.0
            offset += weight[i] * t
        node["reference"], node["offset"] = reference, offset
        if mixed:
            mean = offset / W
            for sample in own:
                i = np.uint64(sample)
                t = target[i] - reference - mean
                cost += weight[i] * t * t
    else:
        sums[:] = 0.0
        first = label[own[0]]
        for sample in own:
            i = np.uint64(sample)
            mixed |= label[i] != first
            sums[np.uint64(label[i])] += weight[i]
        if mixed:
            for S in sums:
                if kind != ENTROPY:
                    cost += S * (W - S) / W
                elif S > 0.0:
                    cost -= S * np.log(S / W)
    node["weight"], node["copies"], node["cost"] = W, copies, cost
    node["left"] = node["right"] = LEAF
    node["feature"] = NO_FEATURE
    return (
        mixed
        and node["depth"] < limits.max_depth
        and copies >= limits.min_samples_split
        and copies >= 2 * limits.min_samples_leaf
        and limits.min_weight_leaf <= W / 2.0
    )


@inlined
def first_table(columns: Columns, n: int, table: Array) -> int:
    """The table of the root; the number of its rows."""
    rows = 0
    for f in range(columns.implicit.size):
        first, end = columns.start[f], columns.start[f + 1]
        if varies(columns.rank, first, end, n):
            table[rows, 0], table[rows, 1], table[rows, 2] = f, first, end
            rows += 1
    return rows


@inlined
def varies(rank: Array, first: int, end: int, n: int) -> bool:
    """Whether a feature has two values, or one and missing ones, in a node of n samples."""
    return end > first and (end - first < n or rank[first] != rank[end - 1])


@inlined
def accept(node: Any, split: Split, limits: Limits) -> bool:
    """Note the best split of a node, if it is good enough."""
    if split.feature < 0 or split.gain < limits.min_gain:
        return False
    node["gain"], node["feature"] = split.gain, split.feature
    node["lower"], node["upper"] = split.lower, split.upper
    node["missing_left"] = split.missing_left
    return True


@inlined
def divide(
    nodes: Array,
    number: int,
    total: int,
    table: Array,
    columns: Columns,
    samples: Array,
    side: Array,
    spare: Array,
) -> None:
    """Sort the samples of a node by the side they go to, and create its children."""
    node = nodes[number]
    f, lower, begin, end = node["feature"], node["lower"], node["begin"], node["end"]
    for p in range(begin, end):
        side[np.uint64(samples[p])] = columns.implicit[f] <= lower
    missing = columns.level_start[f + 1] - columns.level_start[f]
    row = 0
    while table[row, 0] != f:
        row += 1
    had_missing = False
    for p in range(table[row, 1], table[row, 2]):
        here = columns.rank[p]
        if here == missing:
            had_missing = True
            side[np.uint64(columns.sample[p])] = node["missing_left"]
        else:
            side[np.uint64(columns.sample[p])] = here <= lower
    middle: Any = begin
    others: Any = 0
    for p in range(begin, end):
        i = samples[p]
        samples[middle] = i
        spare[others] = i
        goes_left: Any = np.int64(side[np.uint64(i)])
        middle += goes_left
        others += 1 - goes_left
    for p in range(others):
        samples[middle + p] = spare[p]
    if not had_missing:
        node["missing_left"] = middle - begin > end - middle
    node["left"], node["right"] = total, total + 1
    left, right = nodes[total], nodes[total + 1]
    left["begin"], left["end"], left["depth"] = begin, middle, node["depth"] + 1
    right["begin"], right["end"], right["depth"] = middle, end, node["depth"] + 1


@inlined
def divide_entries(
    children: Array,
    table: Array,
    columns: Columns,
    side: Array,
    spare: Array,
    sided: Array,
    counts: Array,
) -> None:
    """Divide the entries of each feature; the tables of the left and the right child."""
    index, rank = columns.sample, columns.rank
    n_left = children[0]["end"] - children[0]["begin"]
    n_right = children[1]["end"] - children[1]["begin"]
    spare_index, spare_rank = spare[0], spare[1]
    rows_left = rows_right = 0
    for row in range(table.shape[0]):
        f, first, end = table[row]
        middle: Any = first
        others: Any = 0
        for p in range(first, end):
            i, r = index[p], rank[p]
            index[middle], rank[middle] = i, r
            spare_index[others], spare_rank[others] = i, r
            goes_left: Any = np.int64(side[np.uint64(i)])
            middle += goes_left
            others += 1 - goes_left
        for p in range(others):
            index[middle + p], rank[middle + p] = spare_index[p], spare_rank[p]
        if varies(rank, first, middle, n_left):
            left = sided[0, rows_left]
            left[0], left[1], left[2] = f, first, middle
            rows_left += 1
        if varies(rank, middle, end, n_right):
            right = sided[1, rows_right]
            right[0], right[1], right[2] = f, middle, end
            rows_right += 1
    counts[0], counts[1] = rows_left, rows_right


@inlined
def precedes(a: int, b: int, nodes: Array, limits: Limits) -> bool:
    """Whether node a should be split before node b."""
    if limits.max_leaves == 0:
        return a > b
    difference = nodes[a]["gain"] - nodes[b]["gain"]
    return difference > 0.0 or (difference == 0.0 and a < b)


@inlined
def push(heap: Array, size: int, number: int, nodes: Array, limits: Limits) -> int:
    place = size
    while place > 0 and precedes(number, heap[(place - 1) // 2], nodes, limits):
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = number
    return size + 1


@inlined
def pop(heap: Array, size: int, nodes: Array, limits: Limits) -> int:
    """Take the first node off the heap."""
    first, last = int(heap[0]), heap[size - 1]
    place, child = 0, 1
    while child < size - 1:
        if child + 1 < size - 1 and precedes(heap[child + 1], heap[child], nodes, limits):
            child += 1
        if precedes(last, heap[child], nodes, limits):
            break
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = last
    return first
