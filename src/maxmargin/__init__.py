"""maxmargin: exact, certified, self-tuning support vector machines."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Where each public name lives; it is imported when it is first used.
_PLACES = {
    "release_memory": "runtime.buffers",
    "solve": "solvers",
    "AutoSVC": "tuning",
    "AutoSVR": "tuning",
    "KernelRidge": "estimators",
    "Lasso": "estimators",
    "LeastSquaresSVC": "estimators",
    "DecisionTreeClassifier": "estimators",
    "DecisionTreeRegressor": "estimators",
    "LinearSVC": "estimators",
    "LinearSVR": "estimators",
    "LogisticRegression": "estimators",
    "NuSVC": "estimators",
    "NuSVR": "estimators",
    "OneClassSVM": "estimators",
    "OnlineSVC": "estimators",
    "RidgeRegression": "estimators",
    "SVC": "estimators",
    "SoftmaxRegression": "estimators",
    "SVCSearch": "tuning",
    "SVR": "estimators",
    "SVRSearch": "tuning",
}

__all__ = [
    "SVC",
    "SVR",
    "AutoSVC",
    "AutoSVR",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "KernelRidge",
    "Lasso",
    "LeastSquaresSVC",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OnlineSVC",
    "RidgeRegression",
    "SVCSearch",
    "SVRSearch",
    "SoftmaxRegression",
    "release_memory",
    "solve",
]

if TYPE_CHECKING:
    from .estimators import (
        SVC,
        SVR,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        KernelRidge,
        Lasso,
        LeastSquaresSVC,
        LinearSVC,
        LinearSVR,
        LogisticRegression,
        NuSVC,
        NuSVR,
        OneClassSVM,
        OnlineSVC,
        RidgeRegression,
        SoftmaxRegression,
    )
    from .runtime.buffers import release_memory
    from .solvers import solve
    from .tuning import AutoSVC, AutoSVR, SVCSearch, SVRSearch


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
