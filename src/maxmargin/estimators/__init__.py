"""What users call: classification, regression and novelty detection."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Where each estimator lives; it is imported when it is first used.
_PLACES = {
    "SVC": "kernel.svc",
    "SVR": "kernel.svr",
    "Certificates": "certificates",
    "DecisionTreeClassifier": "tree.classifier",
    "DecisionTreeRegressor": "tree.regressor",
    "KernelNeighborsClassifier": "baselines.neighbors",
    "KernelNeighborsRegressor": "baselines.neighbors",
    "KernelRidge": "kernel.ridge",
    "Lasso": "linear.glm",
    "LeastSquaresSVC": "kernel.least_squares_svc",
    "LinearRegression": "baselines.regression",
    "LinearSVC": "linear.svm",
    "LinearSVR": "linear.svm",
    "LogisticRegression": "linear.glm",
    "MeanClassifier": "baselines.mean",
    "NuSVC": "kernel.svc",
    "NuSVR": "kernel.svr",
    "OneClassSVM": "kernel.one_class",
    "OnlineSVC": "online.svc",
    "RidgeRegression": "linear.glm",
    "SoftmaxRegression": "linear.softmax",
}

__all__ = [
    "SVC",
    "SVR",
    "Certificates",
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
    "SoftmaxRegression",
]

if TYPE_CHECKING:
    from .baselines.mean import MeanClassifier
    from .baselines.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
    from .baselines.regression import LinearRegression
    from .certificates import Certificates
    from .kernel.least_squares_svc import LeastSquaresSVC
    from .kernel.one_class import OneClassSVM
    from .kernel.ridge import KernelRidge
    from .kernel.svc import SVC, NuSVC
    from .kernel.svr import SVR, NuSVR
    from .linear.glm import Lasso, LogisticRegression, RidgeRegression
    from .linear.softmax import SoftmaxRegression
    from .linear.svm import LinearSVC, LinearSVR
    from .online.svc import OnlineSVC
    from .tree.classifier import DecisionTreeClassifier
    from .tree.regressor import DecisionTreeRegressor


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
