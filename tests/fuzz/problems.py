"""Random problems: an estimator, its parameters, and data with unpleasant features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from .settings import DRAWERS, common_limits

# How often each estimator is drawn.
ESTIMATORS = {
    "SVC": 20,
    "NuSVC": 10,
    "SVR": 15,
    "NuSVR": 10,
    "OneClassSVM": 8,
    "LinearSVC": 12,
    "LinearSVR": 8,
    "LogisticRegression": 8,
    "RidgeRegression": 5,
    "OnlineSVC": 8,
    "SVCSearch": 0.3,
    "AutoSVC": 0.3,
}
CLASSIFIERS = (
    "SVC", "NuSVC", "LinearSVC", "LogisticRegression", "OnlineSVC", "SVCSearch", "AutoSVC",
)  # fmt: skip
KERNEL_MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
LINEAR_MACHINES = ("LinearSVC", "LinearSVR", "LogisticRegression", "RidgeRegression")
# What is tried beside the fit itself; see `checks`.
EXTRAS = (
    "copies", "absence", "shuffle", "thread", "fork", "file", "sklearn", "warm_start", "pickle",
)  # fmt: skip
# Beyond this the entries of float32 inputs overflow.
LARGEST_SINGLE = 1e37


@dataclass
class Case:
    """One problem.

    Attributes
    ----------
    estimator : str
    parameters : dict
    X : array, CSR matrix or list
    y, weight : array or None
    extras : tuple of str
        What to try beside the fit.
    call : dict
        Parameters of what is called after `fit`, of estimators that have more than one step.
    label : str
        How to draw it again.
    """

    estimator: str
    parameters: dict[str, Any]
    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None
    extras: tuple[str, ...] = ()
    call: dict[str, Any] = field(default_factory=dict)
    label: str = ""

    @property
    def size(self) -> int:
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)


def draw(seed: int, number: int, only: tuple[str, ...] = ()) -> Case:
    """The case of that number; the same on every machine."""
    rng = np.random.default_rng([seed, number])
    shares = {name: share for name, share in ESTIMATORS.items() if not only or name in only}
    odds = np.array(list(shares.values()), dtype=float)
    estimator = str(rng.choice(list(shares), p=odds / odds.sum()))
    n = int(rng.choice([2, 3, 4, 5, 8, rng.integers(6, 61), rng.integers(10, 41)]))
    if estimator in ("AutoSVC", "SVCSearch"):
        n = max(n, 20)
    X = inputs(rng, n, wild=rng.random() < 0.2)
    y = targets(rng, estimator, X)
    X, y = with_copies(rng, X, y)
    parameters = DRAWERS[estimator](rng, y)
    weight = weights(rng, X.shape[0])
    if parameters.get("kernel") == "precomputed":
        X = gram_matrix(rng, X)
    else:
        X = in_some_form(rng, X)
    if y is not None:
        y = labels(rng, y) if estimator in CLASSIFIERS else y
    common_limits(rng, estimator, parameters)
    extras = tuple(str(e) for e in rng.permutation(EXTRAS)[: rng.choice([0, 1, 2])])
    call = {}
    if estimator == "OnlineSVC":
        call = {"way": str(rng.choice(["fit", "partial_fit", "fit_active"], p=[0.6, 0.3, 0.1]))}
        if parameters.get("class_weight") and call["way"] != "fit":
            del parameters["class_weight"]  # which needs all labels at once
    label = f"--seed {seed} --case {number}" + (f" --only {','.join(only)}" if only else "")
    return Case(estimator, parameters, X, y, weight, extras, call, label)


# ---- data ----------------------------------------------------------------------------------


def inputs(rng: np.random.Generator, n: int, wild: bool) -> np.ndarray:
    """Vectors; the wild ones have scales between 1e-150 and 1e150."""
    d = int(rng.choice([1, 2, 3, 5, rng.integers(1, 13), 30], p=[0.2, 0.25, 0.2, 0.15, 0.15, 0.05]))
    kind = rng.choice(["normal", "grid", "uniform", "binary", "line"])
    if kind == "grid":
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == "binary":
        X = (rng.random((n, d)) < 0.3).astype(float)
    elif kind == "uniform":
        X = rng.random((n, d))
    elif kind == "line":
        X = np.outer(rng.normal(size=n), rng.normal(size=d))
    else:
        X = rng.normal(size=(n, d))
    reach = 150.0 if wild else rng.choice([0.0, 1.0, 4.0, 10.0], p=[0.4, 0.2, 0.2, 0.2])
    if rng.random() < 0.3:
        X *= 10.0 ** rng.uniform(-reach, reach, d)
    else:
        X *= 10.0 ** rng.uniform(-reach, reach)
    if rng.random() < 0.2:
        column = rng.integers(d)
        X[:, column] += np.abs(X).max() * 10.0 ** rng.choice([0.0, 2.0, 5.0, 8.0])
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 1e8, -1e4])
    return X


def targets(rng: np.random.Generator, estimator: str, X: np.ndarray) -> np.ndarray | None:
    """Codes of classes, or numbers."""
    n, d = X.shape
    scale = np.abs(X).max(axis=0)
    Z = np.divide(X, scale, out=np.zeros_like(X), where=scale > 0)
    signal = Z @ rng.normal(size=d)
    if estimator == "OneClassSVM":
        return None
    if estimator in CLASSIFIERS:
        count = 2 if rng.random() < 0.55 else int(rng.integers(2, 7))
        if rng.random() < 0.15:
            codes = np.arange(n) % count
        else:
            noise = rng.choice([0.0, 0.3, 3.0]) * (np.std(signal) + 1e-300)
            order = np.argsort(signal + noise * rng.normal(size=n), kind="stable")
            codes = np.empty(n, dtype=int)
            codes[order] = np.arange(n) * count // n
        if rng.random() < 0.15:
            codes = np.zeros(n, dtype=int)
            alone = rng.permutation(n)[: count - 1]
            codes[alone] = 1 + np.arange(alone.size)
        if np.unique(codes).size < 2:
            codes[0], codes[-1] = 0, 1
        return codes
    noise = rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=n)
    kind = rng.choice(["plain", "around", "constant", "scaled"], p=[0.5, 0.25, 0.05, 0.2])
    if kind == "constant":
        return np.full(n, float(rng.choice([0.0, 1.0, 1e6])))
    if kind == "around":
        return 10.0 ** rng.uniform(3, 7) + (signal + noise) * 10.0 ** rng.uniform(-5, 1)
    if kind == "scaled":
        return (signal + noise) * 10.0 ** rng.uniform(-8, 8)
    return signal + noise


def with_copies(
    rng: np.random.Generator, X: np.ndarray, y: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Sometimes with some samples repeated, with their targets or those of others."""
    if rng.random() > 0.3:
        return X, y
    places = rng.integers(0, len(X), rng.integers(1, len(X) + 1))
    more = X[places]
    if y is None:
        return np.concatenate([X, more]), None
    own = rng.random() < 0.7
    return np.concatenate([X, more]), np.concatenate([y, y[places] if own else y[::-1][places]])


def labels(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
    """Codes of classes as numbers or words."""
    kind = rng.choice(["codes", "words", "signs", "floats"])
    if kind == "words":
        return np.array([f"class {code}" for code in codes])
    if kind == "signs":
        return np.where(codes > 0, codes, -1)
    return codes.astype(float) * 2.0 - 3.0 if kind == "floats" else codes


def weights(rng: np.random.Generator, n: int) -> np.ndarray | None:
    kind = rng.choice(["none", "whole", "zeros", "wide", "scaled"], p=[0.55, 0.15, 0.1, 0.1, 0.1])
    if kind == "none":
        return None
    if kind == "whole":
        return rng.integers(0, 4, n).astype(float) + (rng.random(n) < 0.2)
    if kind == "zeros":
        return (rng.random(n) < 0.7).astype(float)
    if kind == "wide":
        return 10.0 ** rng.uniform(-8, 8, n)
    return rng.random(n) * 10.0 ** rng.uniform(-6, 6)


def gram_matrix(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    """A kernel matrix of the samples, sometimes not positive semi-definite."""
    scale = np.abs(X).max() or 1.0
    Z = X / scale
    K = Z @ Z.T
    if rng.random() < 0.5:
        square = np.diagonal(K)
        K = np.exp(-np.maximum(square[:, None] + square - 2 * K, 0.0))
    if rng.random() < 0.3:
        K = np.tanh(K + rng.normal() * 0.3)
    if rng.random() < 0.2:
        noise = rng.normal(size=K.shape)
        K = K + 0.3 * (noise + noise.T)
    return 0.5 * (K + K.T) * 10.0 ** rng.choice([0.0, 0.0, rng.uniform(-8, 8)])


def in_some_form(rng: np.random.Generator, X: np.ndarray) -> Any:
    """The same numbers in one of the containers that users have them in."""
    form = rng.choice(
        ["plain", "single", "fortran", "frozen", "sparse", "list"],
        p=[0.4, 0.1, 0.1, 0.1, 0.25, 0.05],
    )
    if form == "single" and np.abs(X).max() < LARGEST_SINGLE:
        return X.astype(np.float32)
    if form == "fortran":
        return np.asfortranarray(X)
    if form == "frozen":
        X = X.copy()
        X.flags.writeable = False
        return X
    if form == "list":
        return X.tolist()
    return in_rows(rng, X) if form == "sparse" else X


def in_rows(rng: np.random.Generator, X: np.ndarray) -> Any:
    """CSR with some of: explicit zeros, unsorted and repeated indices, empty rows, read-only."""
    X = X * (rng.random(X.shape) < rng.choice([0.2, 0.6, 1.0]))
    if rng.random() < 0.3:
        X[rng.integers(len(X))] = 0.0
    kept = (X != 0) | (rng.random(X.shape) < rng.choice([0.0, 0.3]))
    row, column = np.nonzero(kept)
    value = X[row, column]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(X)))])
    if rng.random() < 0.3:
        order = np.lexsort((rng.random(row.size), row))
        column, value = column[order], value[order]
    if rng.random() < 0.2 and row.size:
        column, value, indptr = halves(column, value, indptr)
    container = sparse.csr_array if rng.random() < 0.5 else sparse.csr_matrix
    if rng.random() < 0.15 and np.abs(value).max(initial=0.0) < LARGEST_SINGLE:
        value = value.astype(np.float32)
    matrix = container((value, column.astype(np.int32), indptr.astype(np.int32)), shape=X.shape)
    if rng.random() < 0.2:
        for array in (matrix.data, matrix.indices, matrix.indptr):
            array.flags.writeable = False
    return matrix


def halves(
    column: np.ndarray, value: np.ndarray, indptr: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every entry as two entries of half the value."""
    return np.repeat(column, 2), np.repeat(value * 0.5, 2), indptr * 2
