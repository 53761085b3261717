"""Simple rules to compare with, and bounds (thesis, chapter 1)."""

from .bounds import margin_bound, margin_vc_dimension, separation_probability, vc_bound
from .mean import MeanClassifier
from .neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from .regression import LinearRegression

__all__ = [
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "LinearRegression",
    "MeanClassifier",
    "margin_bound",
    "margin_vc_dimension",
    "separation_probability",
    "vc_bound",
]
