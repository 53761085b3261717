"""What users call: classification, regression and novelty detection."""

from .certificates import Certificates
from .classification import SVC, NuSVC
from .linear import LinearSVC, LinearSVR
from .linear_models import LogisticRegression, RidgeRegression
from .novelty import OneClassSVM
from .online import OnlineSVC
from .regression import SVR, NuSVR

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
