"""Smaller cases that fail in the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .checks import examine
from .extras import with_samples
from .problems import Case

# CPU seconds spent on making a case smaller.
PATIENCE = 20.0


def shrunk(case: Case, check: str, seconds: float = PATIENCE) -> Case:
    """The smallest case found for which that check still fails."""
    began = time.process_time()
    improved = True
    while improved:
        improved = False
        for smaller in simpler(case):
            if time.process_time() - began > seconds:
                return case
            if fails(smaller, check):
                case, improved = smaller, True
                break
    return case


def fails(case: Case, check: str) -> bool:
    try:
        return any(failure.check == check for failure in examine(case))
    except Exception:
        return False


def simpler(case: Case) -> Iterator[Case]:
    """Cases with less in them, those with much less first."""
    n = case.size
    if len(case.extras) > 1:
        for extra in case.extras:
            yield replace(case, extras=(extra,))
    if case.extras:
        yield replace(case, extras=())
    if case.weight is not None:
        yield replace(case, weight=None)
    pieces = 2
    while pieces <= n:
        for part in np.array_split(np.arange(n), pieces):
            kept = np.setdiff1d(np.arange(n), part)
            if kept.size >= 2:
                weight = None if case.weight is None else case.weight[kept]
                yield with_samples(case, kept, weight)
        pieces *= 2
    for name in case.parameters:
        if name not in ("kernel", "C", "nu", "alpha"):
            yield replace(case, parameters={k: v for k, v in case.parameters.items() if k != name})
    yield from plainer_inputs(case)


def plainer_inputs(case: Case) -> Iterator[Case]:
    X: Any = case.X
    if sparse.issparse(X):
        yield replace(case, X=X.toarray())
        return
    array = np.asarray(X)
    if isinstance(X, list) or not (array.flags.c_contiguous and array.flags.writeable):
        yield replace(case, X=np.array(array, order="C"))
    if array.dtype == np.float32:
        yield replace(case, X=array.astype(np.float64))
    if case.parameters.get("kernel") == "precomputed":
        return
    if array.shape[1] > 1:
        for column in range(array.shape[1]):
            yield replace(case, X=np.delete(array, column, axis=1))
    for digits in (1, 3):
        rounded = np.array([[float(f"{x:.{digits}g}") for x in row] for row in array.tolist()])
        if (rounded != array).any():
            yield replace(case, X=rounded.astype(array.dtype))
    if case.y is not None and case.y.dtype.kind == "f":
        rounded = np.array([float(f"{x:.3g}") for x in case.y.tolist()])
        if (rounded != case.y).any():
            yield replace(case, y=rounded)
