"""Costs of nodes, and the search for the split that lowers them most.

A cost is a sum over the samples of a node, each counted with its weight:

    squared error   c = Σ_i w_i (t_i − t̂)²          t̂ the mean of the node
    Gini            c = W Σ_k p_k (1 − p_k)          W = Σ_i w_i, p_k the share of class k
    entropy         c = −W Σ_k p_k log p_k           0·log 0 = 0, natural logarithm

A split of T into L and R gains c_T − c_L − c_R, which is never negative. With S the sum of w_i t_i,
S_k the weight of class k, and h(x) = x log x, the gains are

    squared error   (S_L W − S W_L)² / (W W_L W_R)
    Gini            Σ_k S_Lk² / W_L + Σ_k S_Rk² / W_R − Σ_k S_k² / W
    entropy         Σ_k h(S_Lk) − h(W_L) + Σ_k h(S_Rk) − h(W_R) − Σ_k h(S_k) + h(W)

Gini is the squared error of one-hot targets. For two classes one column determines the other, so
that the first formula with t = 0, 1 gives half the gain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....runtime.jit import inlined
from .columns import Array, Columns

# The first two need the sum of targets, the others the weight of each class.
SQUARED_ERROR, TWO_CLASS_GINI, GINI, ENTROPY = range(4)


class Targets(NamedTuple):
    """Targets and weights of the samples.

    Attributes
    ----------
    label : ndarray of int32, shape (n_samples,)
        The class of each sample; empty for regression.
    target : ndarray of float64, shape (n_samples,)
        The value of each sample, for two classes 0 or 1; else empty.
    weight : ndarray of float64, shape (n_samples,)
        Positive.
    copies : ndarray of int64, shape (n_samples,)
        How many samples each one stands for, as counted by limits.
    unit : bool
        Whether all weights and copies are 1.
    xlogx : ndarray of float64
        x log x of 0, 1, 2, …, total weight if the weights are whole numbers; else empty.
    """

    label: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    copies: np.ndarray
    unit: bool
    xlogx: np.ndarray


class Limits(NamedTuple):
    """Limits on growth; see the parameters of the estimators.

    Attributes
    ----------
    max_depth, min_samples_split, min_samples_leaf : int
    min_weight_leaf : float
        Positive.
    max_leaves : int
        0 for depth-first growth without such a limit.
    min_gain : float
    max_features : int
        Features to draw at each node; at least the number of features for all.
    """

    max_depth: int
    min_samples_split: int
    min_samples_leaf: int
    min_weight_leaf: float
    max_leaves: int
    min_gain: float
    max_features: int


class Whole(NamedTuple):
    """Properties of a whole node for the search for a split.

    Attributes
    ----------
    samples : int
    copies : int
        Number of samples, counting copies.
    weight : float
    shift : float
        Subtracted from the targets.
    total : float
        Σ w_i (t_i − shift), Σ_k S_k² or Σ_k h(S_k), as the criterion needs it.
    tie : float
        Gains within this are equal.
    """

    samples: int
    copies: int
    weight: float
    shift: float
    total: float
    tie: float


class Side(NamedTuple):
    """The entries that move to one side, in order.

    Attributes
    ----------
    first, end, step : int
        The entries, upwards (step 1) or downwards (step -1, `end` below the last one).
    neighbour : int
        The rank that follows the last entry.
    missing, missing_end : int
        Entries that are there from the start.
    """

    first: int
    end: int
    step: int
    neighbour: Any
    missing: int
    missing_end: int


class Found(NamedTuple):
    """The best split that a sweep finds: between two ranks that follow one another."""

    gain: float
    here: Any
    after: Any


@inlined
def h(x: float, table: Array) -> float:
    """x log x, from the table if there is one."""
    if table.size > 0:
        return float(table[int(x)])
    return x * np.log(x) if x > 0.0 else 0.0


@inlined
def sweep(
    kind: int,
    columns: Columns,
    targets: Targets,
    limits: Limits,
    whole: Whole,
    sums: Array,
    moved: Array,
    side: Side,
) -> Found:
    """Move samples to one side and keep the best split. Among ties it keeps the first going up and
    the last going down, which is the lowest value.

    Parameters
    ----------
    kind : int
    columns : Columns
    targets : Targets
    limits : Limits
    whole : Whole
    sums : ndarray, shape (n_classes,)
        The weight of each class in the node.
    moved : ndarray, shape (2, n_classes)
        Memory for the weight of each class that has been moved, and that has not.
    side : Side
    """
    if kind <= TWO_CLASS_GINI:
        found: Found = sweep_sums(kind, columns, targets, limits, whole, side)
    else:
        found = sweep_classes(kind, columns, targets, limits, whole, sums, moved, side)
    return found


@inlined
def sweep_sums(
    kind: int, columns: Columns, targets: Targets, limits: Limits, whole: Whole, side: Side
) -> Found:
    index, rank = columns.sample, columns.rank
    target, weight, copies, unit = targets.target, targets.weight, targets.copies, targets.unit
    W, S, shift = whole.weight, whole.total, whole.shift
    factor = 2.0 if kind == TWO_CLASS_GINI else 1.0
    tie = whole.tie * side.step
    s, w, count = 0.0, 0.0, 0
    for p in range(side.missing, side.missing_end):
        i = np.uint64(index[p])
        s += weight[i] * (target[i] - shift)
        w += weight[i]
        count += copies[i]
    best = Found(-np.inf, -1, -1)
    p = side.first
    while p != side.end:
        i = np.uint64(index[np.uint64(p)])
        if unit:
            s += target[i] - shift
            w += 1.0
            count += 1
        else:
            s += weight[i] * (target[i] - shift)
            w += weight[i]
            count += copies[i]
        here = np.int64(rank[np.uint64(p)])
        p += side.step
        after = side.neighbour if p == side.end else np.int64(rank[np.uint64(p)])
        if after != here and allowed(limits, whole, count, w):
            D = s * W - w * S
            gain = factor * (D / (w * W)) * (D / (W - w))
            if gain > best.gain + tie:
                best = Found(max(gain, best.gain), here, after)
    return best


@inlined
def sweep_classes(
    kind: int,
    columns: Columns,
    targets: Targets,
    limits: Limits,
    whole: Whole,
    sums: Array,
    moved: Array,
    side: Side,
) -> Found:
    index, rank = columns.sample, columns.rank
    label, weight, copies, unit = targets.label, targets.weight, targets.copies, targets.unit
    table, W = targets.xlogx, whole.weight
    tie = whole.tie * side.step
    on, off = moved[0], moved[1]
    for c in range(sums.size):
        on[c] = 0.0
        off[c] = sums[c]
    at_node = whole.total / W if kind == GINI else whole.total - h(W, table)
    # Σ_k S_k², or Σ_k h(S_k), of the two sides
    a, b = 0.0, whole.total
    w, count = 0.0, 0
    best = Found(-np.inf, -1, -1)
    missing = side.missing_end - side.missing
    p = side.missing if missing > 0 else side.first
    while missing > 0 or p != side.end:
        i = np.uint64(index[np.uint64(p)])
        k: Any = np.uint64(label[i])
        own = 1.0 if unit else weight[i]
        x, y = on[k], off[k]
        if kind == GINI:
            a += own * (2.0 * x + own)
            b -= own * (2.0 * y - own)
        else:
            a += h(x + own, table) - h(x, table)
            b += h(y - own, table) - h(y, table)
        on[k], off[k] = x + own, y - own
        w += own
        count += 1 if unit else copies[i]
        if missing > 0:
            missing -= 1
            p = p + 1 if missing > 0 else side.first
            continue
        here = np.int64(rank[np.uint64(p)])
        p += side.step
        after = side.neighbour if p == side.end else np.int64(rank[np.uint64(p)])
        if after != here and allowed(limits, whole, count, w):
            if kind == GINI:
                gain = a / w + b / (W - w) - at_node
            else:
                gain = (a - h(w, table)) + (b - h(W - w, table)) - at_node
            if gain > best.gain + tie:
                best = Found(max(gain, best.gain), here, after)
    return best


@inlined
def allowed(limits: Limits, whole: Whole, count: int, w: float) -> bool:
    """Whether both sides are large enough."""
    return (
        count >= limits.min_samples_leaf
        and whole.copies - count >= limits.min_samples_leaf
        and w >= limits.min_weight_leaf
        and whole.weight - w >= limits.min_weight_leaf
    )


@inlined
def tie_of(kind: int, cost: float, weight: float) -> float:
    """The rounding of gains, from the cost and the weight of a node: closer gains are equal."""
    if kind == SQUARED_ERROR:
        return 1e-14 * cost
    return 1e-14 * cost + 1e-15 * weight
