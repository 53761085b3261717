"""What users call: classification, regression and novelty detection."""

from .certificates import Certificates
from .kernel.one_class import OneClassSVM
from .kernel.svc import SVC, NuSVC
from .kernel.svr import SVR, NuSVR
from .linear.glm import LogisticRegression, RidgeRegression
from .linear.svm import LinearSVC, LinearSVR
from .online.svc import OnlineSVC
from .tree.classifier import DecisionTreeClassifier
from .tree.regressor import DecisionTreeRegressor

__all__ = [
    "SVC",
    "SVR",
    "Certificates",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "OnlineSVC",
    "RidgeRegression",
]
