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
    "SoftmaxRegression": "estimators",
    "SVCSearch": "tuning",
    "SVR": "estimators",
    "SVRSearch": "tuning",
}
# Parts of the package that users work with, imported likewise.
_MODULES = ("data", "dual", "kernels", "models", "report", "solvers", "tuning")

__all__ = [
    "SVC",
    "SVR",
    "AutoSVC",
    "AutoSVR",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelRidge",
    "Lasso",
    "LeastSquaresSVC",
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
    "SVRSearch",
    "SoftmaxRegression",
    "release_memory",
    "solve",
]

if TYPE_CHECKING:
    from . import data as data
    from . import dual as dual
    from . import kernels as kernels
    from . import models as models
    from . import report as report
    from . import solvers as solvers
    from . import tuning as tuning
    from .estimators import (
        SVC,
        SVR,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        KernelNeighborsClassifier,
        KernelNeighborsRegressor,
        KernelRidge,
        Lasso,
        LeastSquaresSVC,
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
        SoftmaxRegression,
    )
    from .runtime.buffers import release_memory
    from .solvers import solve
    from .tuning import AutoSVC, AutoSVR, SVCSearch, SVRSearch


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
