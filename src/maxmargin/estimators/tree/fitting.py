"""From checked inputs and targets to a `Tree`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .growth.columns import Columns, sorted_columns
from .growth.criteria import ENTROPY, GINI, SQUARED_ERROR, TWO_CLASS_GINI, Limits, Targets
from .growth.loop import NODE, grow
from .growth.search import NO_FEATURE
from .tree import LEAF, Tree, by_level, preorder, renumbered

CRITERIA = {"gini": GINI, "entropy": ENTROPY, "log_loss": ENTROPY, "squared_error": SQUARED_ERROR}


class Samples(NamedTuple):
    """The targets of samples that are present.

    Attributes
    ----------
    target : ndarray
        Labels 0, 1, … as int32, or values as float64.
    classes : int
        0 for values.
    weight : ndarray of float64
        Positive.
    copies : ndarray of int64
        How often limits count each sample.
    """

    target: np.ndarray
    classes: int
    weight: np.ndarray
    copies: np.ndarray


def copies_of(weight: np.ndarray) -> np.ndarray:
    """Integer weights count as copies; with other weights, each sample counts once."""
    whole = (weight == np.floor(weight)).all() and weight.sum() < 1 << 40
    return weight.astype(np.int64) if whole else np.ones(weight.size, dtype=np.int64)


def grown(X: Any, samples: Samples, criterion: str, limits: Limits, seed: int) -> Tree:
    """The tree for dense or CSC inputs."""
    kind = CRITERIA[criterion]
    if kind == GINI and samples.classes == 2:
        kind = TWO_CLASS_GINI
    columns = sorted_columns(X)
    # Scale targets by a power of two, so that their squares neither overflow nor underflow.
    exponent = 0
    if kind == SQUARED_ERROR:
        exponent = int(np.frexp(np.abs(samples.target).max())[1])
        limits = limits._replace(min_gain=float(np.ldexp(limits.min_gain, -2 * exponent)))
    targets = _targets(samples, kind, exponent)
    n = samples.weight.size
    most = 2 * min(n, limits.max_leaves or n) - 1
    if limits.max_depth < 30:
        most = min(most, (2 << limits.max_depth) - 1)
    nodes = np.empty(most, dtype=NODE)
    total, order = grow(kind, samples.classes, columns, targets, limits, seed, nodes)
    nodes = nodes[:total]
    values = _class_shares(nodes, order, samples) if samples.classes else _means(nodes, exponent)
    return _tree(nodes, values, columns, kind, exponent, bool(limits.max_leaves))


def _targets(samples: Samples, kind: int, exponent: int) -> Targets:
    weight, copies = samples.weight, samples.copies
    label, target = np.empty(0, dtype=np.int32), np.empty(0)
    if samples.classes:
        label = samples.target
    if kind == SQUARED_ERROR:
        target = np.ldexp(samples.target, -exponent)
    elif kind == TWO_CLASS_GINI:
        target = label.astype(np.float64)
    table = np.empty(0)
    whole = (weight == np.floor(weight)).all()
    # A table of x log x of at most 32 MB.
    if kind == ENTROPY and whole and weight.sum() < 1 << 22:
        table = np.arange(weight.sum() + 1.0)
        table[1:] *= np.log(table[1:])
    unit = bool((weight == 1.0).all() and (copies == 1).all())
    return Targets(label, target, weight, copies, unit, table)


def _means(nodes: np.ndarray, exponent: int) -> np.ndarray:
    means = nodes["reference"] + nodes["offset"] / nodes["weight"]
    values: np.ndarray = np.ldexp(means, exponent)
    return values[:, None]


def _class_shares(nodes: np.ndarray, order: np.ndarray, samples: Samples) -> np.ndarray:
    """Class proportions of each node: of leaves from their samples, of others from the leaves."""
    left, right, classes = nodes["left"], nodes["right"], samples.classes
    leaves = np.flatnonzero(left == LEAF)
    leaves = leaves[np.argsort(nodes["begin"][leaves])]
    own = np.repeat(leaves, (nodes["end"] - nodes["begin"])[leaves])
    cells = own * classes + samples.target[order]
    sums = np.bincount(cells, samples.weight[order], minlength=nodes.size * classes)
    sums = sums.reshape(nodes.size, classes)
    for level in reversed(by_level(left, right)):
        splits = level[left[level] != LEAF]
        sums[splits] = sums[left[splits]] + sums[right[splits]]
    shares: np.ndarray = sums / sums.sum(axis=1, keepdims=True)
    return shares


def _tree(
    nodes: np.ndarray,
    values: np.ndarray,
    columns: Columns,
    kind: int,
    exponent: int,
    best_first: bool,
) -> Tree:
    left, right = nodes["left"].copy(), nodes["right"].copy()
    order = np.arange(nodes.size) if best_first else preorder(left, right)
    nodes, values = nodes[order], values[order]
    split = nodes["left"] != LEAF
    nodes["feature"][~split] = NO_FEATURE
    threshold = np.full(nodes.size, -2.0)
    threshold[split] = _thresholds(nodes[split], columns)
    with np.errstate(over="ignore", under="ignore"):
        cost = np.ldexp(nodes["cost"], 2 * exponent)
    unit = np.log(2.0) if kind == ENTROPY else 1.0
    return Tree(
        children_left=renumbered(order, left),
        children_right=renumbered(order, right),
        feature=nodes["feature"].copy(),
        threshold=threshold,
        missing_go_to_left=split & (nodes["missing_left"] == 1),
        impurity=cost / (unit * nodes["weight"]),
        cost=cost,
        n_node_samples=nodes["copies"].copy(),
        weighted_n_node_samples=nodes["weight"].copy(),
        value=values[:, None, :],
        n_features=int(columns.implicit.size),
    )


def _thresholds(splits: np.ndarray, columns: Columns) -> np.ndarray:
    """Midway between two values, infinity where missing values are split from all others."""
    start = columns.level_start[splits["feature"]]
    missing = start + splits["upper"] == columns.level_start[splits["feature"] + 1]
    low = columns.levels[start + splits["lower"]]
    high = columns.levels[np.where(missing, start + splits["lower"], start + splits["upper"])]
    middle = low / 2.0 + high / 2.0
    # Between neighbouring numbers, and where halves round to zero, there is none.
    middle = np.where((middle < low) | (middle >= high), low, middle)
    return np.where(missing, np.inf, middle)


def as_csc(X: Any) -> Any:
    """A CSC matrix without duplicate entries, whose indices are int32."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
        parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64))
        X = sparse.csc_array(X.shape, dtype=X.dtype)
        X.data, X.indices, X.indptr = parts
    return X
