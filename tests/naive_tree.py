"""The slow obvious version of decision trees: all candidates of all nodes, in exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class NaiveNode(NamedTuple):
    """A node with all below it; leaves have no feature."""

    rows: tuple
    cost: float
    feature: int = -2
    threshold: float = -2.0
    missing_left: bool = False
    left: NaiveNode | None = None
    right: NaiveNode | None = None


class Candidate(NamedTuple):
    difference: Fraction
    feature: int
    threshold: float
    missing_left: bool
    left: tuple
    right: tuple


def naive_cost(criterion, targets):
    """The criterion of a list of targets, summed over them."""
    if not targets:
        return Fraction(0)
    n = len(targets)
    if criterion == "squared_error":
        targets = [Fraction(t) for t in targets]
        mean = sum(targets) / n
        return sum((t - mean) ** 2 for t in targets)
    shares = [Fraction(targets.count(k), n) for k in sorted(set(targets))]
    if criterion == "gini":
        return n * sum(p * (1 - p) for p in shares)
    with localcontext(prec=50):
        terms = [Decimal(p.numerator) / p.denominator for p in shares]
        return Fraction(-n * sum(p * p.ln() for p in terms))


def naive_candidates(criterion, X, y, rows, min_samples_leaf):
    """All splits of a node, by feature, then missing values right, left, alone, then by value."""
    cost = naive_cost(criterion, [y[i] for i in rows])
    for f in range(X.shape[1]):
        values = sorted({float(X[i, f]) for i in rows if not np.isnan(X[i, f])})
        has_missing = any(np.isnan(X[i, f]) for i in rows)
        for missing_left in (False, True) if has_missing else (False,):
            thresholds = [(a / 2 + b / 2) for a, b in pairwise(values)]
            yield from (
                naive_candidate(criterion, X, y, rows, min_samples_leaf, cost, f, v, missing_left)
                for v in thresholds
            )
        if has_missing and values:
            yield naive_candidate(criterion, X, y, rows, min_samples_leaf, cost, f, np.inf, False)


def naive_candidate(criterion, X, y, rows, min_samples_leaf, cost, f, threshold, missing_left):
    goes_left = [X[i, f] <= threshold or (np.isnan(X[i, f]) and missing_left) for i in rows]
    left = tuple(i for i, yes in zip(rows, goes_left) if yes)
    right = tuple(i for i, yes in zip(rows, goes_left) if not yes)
    if min(len(left), len(right)) < min_samples_leaf:
        return None
    sides = sum(naive_cost(criterion, [y[i] for i in part]) for part in (left, right))
    # Entropy has 50 digits, and equal costs must be equal.
    return Candidate(round(sides - cost, 40), f, threshold, missing_left, left, right)


def naive_tree(
    criterion,
    X,
    y,
    *,
    rows=None,
    depth=0,
    max_depth=np.inf,
    min_samples_split=2,
    min_samples_leaf=1,
):
    """The tree of all samples, grown by the definition. The first of the best candidates is it."""
    y = [value.item() for value in np.asarray(y)]
    rows = tuple(range(len(y))) if rows is None else rows
    cost = naive_cost(criterion, [y[i] for i in rows])
    leaf = NaiveNode(rows, float(cost))
    pure = len({y[i] for i in rows}) == 1
    if pure or depth >= max_depth or len(rows) < min_samples_split:
        return leaf
    candidates = list(filter(None, naive_candidates(criterion, X, y, rows, min_samples_leaf)))
    if not candidates:
        return leaf
    best = min(candidates, key=lambda candidate: candidate.difference)
    left, right = (
        naive_tree(
            criterion,
            X,
            np.array(y),
            rows=part,
            depth=depth + 1,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
        )
        for part in (best.left, best.right)
    )
    return NaiveNode(
        rows, float(cost), best.feature, best.threshold, best.missing_left, left, right
    )


def naive_nodes(node):
    """A tree as a list, a node before its left and right parts."""
    if node.left is None:
        return [node]
    return [node, *naive_nodes(node.left), *naive_nodes(node.right)]
