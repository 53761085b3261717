"""Estimators on Dask: exact and certified, for samples that need not fit on one computer.

    from distributed import Client
    from maxmargin.distributed import SVC

    client = Client("tcp://scheduler:8786")
    model = SVC(C=10.0).fit(X, y)          # dask.array, dask.dataframe or a list of files
    model.certificate_

Needs the extra ``maxmargin[distributed]``.
"""

from .backend import LostCluster
from .kernel import SVC, SVR, OneClassSVM
from .linear import LinearSVC, LinearSVR, LogisticRegression, RidgeRegression

__all__ = [
    "SVC",
    "SVR",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LostCluster",
    "OneClassSVM",
    "RidgeRegression",
]
