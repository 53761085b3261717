"""What users call: classification, regression and novelty detection."""

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

__all__ = [
    "SVC",
    "SVR",
    "Certificates",
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
    "SoftmaxRegression",
]
