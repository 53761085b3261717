"""What users call: classification, regression and novelty detection."""

from .baselines.mean import MeanClassifier
from .baselines.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from .baselines.regression import LinearRegression
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
]
