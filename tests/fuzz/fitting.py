"""Fits of a case and values of its function, through the public API."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np

import maxmargin

from .problems import Case


def new(case: Case, **changes: Any) -> Any:
    return getattr(maxmargin, case.estimator)(**{**case.parameters, **changes})


def trained(case: Case, model: Any = None) -> Any:
    """The estimator of the case, fitted in its way."""
    model = new(case) if model is None else model
    X, y, weight = case.X, case.y, case.weight
    if case.estimator == "OneClassSVM":
        return model.fit(X, sample_weight=weight)
    if case.estimator in ("SVCSearch", "AutoSVC"):
        return model.fit(X, y)
    if case.estimator != "OnlineSVC":
        return model.fit(X, y, sample_weight=weight)
    way = case.call.get("way", "fit")
    if way == "fit_active":
        return model.fit_active(X, lambda chosen: y[chosen])
    if way == "partial_fit":
        half = max(1, case.size // 2)
        parts = [np.arange(half), np.arange(half, case.size)]
        for part in parts:
            if part.size:
                rows = [X[i] for i in part] if isinstance(X, list) else X[part]
                weights = None if weight is None else weight[part]
                model.partial_fit(rows, y[part], classes=np.unique(y), sample_weight=weights)
        return model
    return model.fit(X, y, sample_weight=weight)


def described(error: BaseException) -> str:
    """An error with the innermost place in the library that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "maxmargin" in f.filename and "fuzz" not in f.filename]
    where = f" ({own[-1].filename.rpartition('maxmargin/')[2]}:{own[-1].name})" if own else ""
    return f"{type(error).__name__}: {error}{where}"


def values(case: Case, model: Any, X: Any = None) -> np.ndarray:
    """The function at the samples of the case, or at others."""
    X = case.X if X is None else X
    if hasattr(model, "decision_function"):
        if "decision_function_shape" in model.get_params(deep=False):
            model = quiet_copy(model, decision_function_shape="ovo")
        return model.decision_function(X)
    return model.predict(X)


def quiet_copy(model: Any, **changes: Any) -> Any:
    """The same fitted model with another parameter that only prediction looks at."""
    copy = object.__new__(type(model))
    vars(copy).update(vars(model), **changes)
    return copy
