"""Statistics of all samples that are needed to set up a problem, from sums over parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...dual.problem import Float
from ...kernels.base import count
from ...runtime.sizes import BLOCK_ENTRIES
from .shard import Part


class Summary(NamedTuple):
    """Statistics of a part.

    Attributes
    ----------
    samples, features : int
    weight : float
        Sum of the weights.
    labels, label_weights : arrays
        The labels of the part, and the weight of each; empty for targets.
    total, squares : float
        Weighted sums of the entries of X and of their squares.
    least, most : float
        Of the targets.
    largest : float
        Absolute value of an entry of X; NaN or infinity where one is.
    nbytes : int
        Of the inputs.
    """

    samples: int
    features: int
    weight: float
    labels: Any
    label_weights: Any
    total: float
    squares: float
    least: float
    most: float
    largest: float
    nbytes: int


def summary(part: Part, classes: bool) -> Summary:
    """The `Summary` of a part, with labels if there are classes."""
    X, y = part.X, part.y
    n = count(X)
    weight = np.ones(n) if part.weight is None else np.asarray(part.weight, dtype=np.float64)
    if weight.shape != (n,) or (y is not None and np.shape(y) != (n,)):
        raise ValueError(
            f"a shard has {n} samples in X, {np.shape(y)} targets and {weight.shape} weights: "
            "give X, y and sample_weight with the same chunks"
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight contains NaN or infinity")
    weight = np.maximum(weight, 0.0)
    labels: Any = np.empty(0)
    sums: Any = np.empty(0)
    least, most = np.inf, -np.inf
    if classes and n:
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        sums = np.bincount(codes, weight, minlength=labels.size)
    elif y is not None and n:
        present = np.asarray(y, dtype=np.float64)
        if not np.isfinite(present).all():
            raise ValueError("y contains NaN or infinity")
        present = present[weight > 0]
        least, most = present.min(initial=np.inf), present.max(initial=-np.inf)
    total, squares, largest = _moments(X, weight)
    entries = X.data if sparse.issparse(X) else X
    width = int(X.shape[1]) if getattr(X, "ndim", 1) == 2 else 0
    return Summary(
        samples=n,
        features=width,
        weight=float(weight.sum()),
        labels=labels,
        label_weights=sums,
        total=total,
        squares=squares,
        least=float(least),
        most=float(most),
        largest=largest,
        nbytes=int(getattr(entries, "nbytes", 0)),
    )


def _moments(X: Any, weight: Float) -> tuple[float, float, float]:
    """Weighted sums of the entries and of their squares, and the largest one."""
    if getattr(X, "ndim", 1) != 2:
        return 0.0, 0.0, 0.0
    total, squares, largest = 0.0, 0.0, 0.0
    step = max(1, BLOCK_ENTRIES // max(1, X.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, X.shape[0], step):
            block, own = X[start : start + step].astype(np.float64), weight[start : start + step]
            total += float(np.sum(own @ block))
            squared = block.power(2) if sparse.issparse(block) else np.square(block)
            squares += float(np.sum(own @ squared))
            entries = squared.data if sparse.issparse(block) else squared
            largest = float(np.maximum(largest, entries.max(initial=0.0)))
    return total, squares, float(np.sqrt(largest))
