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
    "DecisionTreeClassifier": "estimators",
    "DecisionTreeRegressor": "estimators",
    "KernelNeighborsClassifier": "estimators",
    "KernelNeighborsRegressor": "estimators",
    "LinearRegression": "estimators",
    "LinearSVC": "estimators",
    "LinearSVR": "estimators",
    "LogisticRegression": "estimators",
    "MeanClassifier": "estimators",
    "NuSVC": "estimators",
    "NuSVR": "estimators",
    "OneClassSVM": "estimators",
    "OnlineSVC": "estimators",
    "RidgeRegression": "estimators",
    "SVC": "estimators",
    "SVCSearch": "tuning",
    "SVR": "estimators",
}

__all__ = [
    "SVC",
    "SVR",
    "AutoSVC",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "MeanClassifier",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OnlineSVC",
    "RidgeRegression",
    "SVCSearch",
    "release_memory",
    "solve",
]

if TYPE_CHECKING:
    from .estimators import (
        SVC,
        SVR,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        KernelNeighborsClassifier,
        KernelNeighborsRegressor,
        LinearRegression,
        LinearSVC,
        LinearSVR,
        LogisticRegression,
        MeanClassifier,
        NuSVC,
        NuSVR,
        OneClassSVM,
        OnlineSVC,
        RidgeRegression,
    )
    from .runtime.buffers import release_memory
    from .solvers import solve
    from .tuning import AutoSVC, SVCSearch


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
