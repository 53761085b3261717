"""What users call: classification, regression and novelty detection."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Where each estimator lives; it is imported when it is first used.
_PLACES = {
    "SVC": "kernel.svc",
    "SVR": "kernel.svr",
    "Certificates": "certificates",
    "LinearSVC": "linear.svm",
    "LinearSVR": "linear.svm",
    "LogisticRegression": "linear.glm",
    "NuSVC": "kernel.svc",
    "NuSVR": "kernel.svr",
    "OneClassSVM": "kernel.one_class",
    "OnlineSVC": "online.svc",
    "RidgeRegression": "linear.glm",
}

__all__ = [
    "SVC",
    "SVR",
    "Certificates",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OnlineSVC",
    "RidgeRegression",
]

if TYPE_CHECKING:
    from .certificates import Certificates
    from .kernel.one_class import OneClassSVM
    from .kernel.svc import SVC, NuSVC
    from .kernel.svr import SVR, NuSVR
    from .linear.glm import LogisticRegression, RidgeRegression
    from .linear.svm import LinearSVC, LinearSVR
    from .online.svc import OnlineSVC


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
