"""C="auto" of linear machines: cross-validation along paths of C with warm starts.

    C = unit · 10^k,  k = −4, −3.5, … 4

A unit is 1/mean‖x‖², times the spread of the targets for the loss |y − f|: then neither the scale
of the features nor that of the targets matters. Ties go to the smallest C.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_array

STEPS = 10.0 ** np.arange(-4.0, 4.01, 0.5)


def chosen_C(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The C with the best score in cross-validation, which may use 70 % of a time limit."""
    if not (sparse.issparse(X) or isinstance(X, list | tuple) or hasattr(X, "__array__")):
        raise ValueError("C='auto' needs samples in memory, got chunks of a file: give a number")
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    y = np.asarray(y).ravel()
    if y.shape[0] != X.shape[0]:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[X.shape[0], y.size]}"
        )
    if X.shape[0] < 2 * 2 or np.unique(y).size < 2:
        return unit(model, X, y)
    values = unit(model, X, y) * STEPS
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    splits = list(_splits(model, X, y))
    scores = np.zeros(values.size)
    limit = model.max_seconds
    each = None if limit is None else 0.7 * limit / (len(splits) * values.size)
    # Smaller gaps do not change scores.
    plain = clone(model).set_params(
        C=1.0, tol=max(1e-4, model.tol), callback=None, warm_start=False, verbose=0
    )
    plain.set_params(max_seconds=each)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for train, test in splits:
            if is_classifier(model) and np.unique(y[train]).size < 2:
                continue
            own = None if weight is None else weight[train]
            for place, fitted in enumerate(plain.path(X[train], y[train], values, own)):
                scores[place] += test.size * _score(fitted, X[test], y[test])
    return float(values[np.argmax(scores >= scores.max() - 1e-12 * abs(scores.max()))])


def unit(model: Any, X: Any, y: NDArray[Any]) -> float:
    """The unit of C."""
    squares = X.multiply(X).sum() if sparse.issparse(X) else np.einsum("ij,ij", X, X)
    square = float(squares) / X.shape[0]
    size = 1.0 / square if np.isfinite(square) and square > 0 else 1.0
    if getattr(model, "loss", "") == "epsilon_insensitive":
        size *= float(np.std(y.astype(np.float64))) or 1.0
    return size


def _splits(model: Any, X: Any, y: NDArray[Any], folds: int = 5) -> Any:
    seed = model._seed()
    if is_classifier(model):
        rarest = int(np.unique(y, return_counts=True)[1].min())
        if rarest >= 2:
            k = min(folds, rarest)
            return StratifiedKFold(k, shuffle=True, random_state=seed).split(X, y)
    return KFold(min(folds, X.shape[0]), shuffle=True, random_state=seed).split(X)


def _score(model: Any, X: Any, y: NDArray[Any]) -> float:
    if not is_classifier(model):
        away = y - model.predict(X)
        return -float(away @ away) / y.size
    if model.class_weight == "balanced":
        return float(balanced_accuracy_score(y, model.predict(X)))
    return float(np.mean(model.predict(X) == y))
