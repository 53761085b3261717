"""Kernels: how alike two inputs are."""

from .base import Gram, Kernel
from .compose import Normalised, Product, Scaled, Sum
from .given import FromFunction, Precomputed
from .metric import MetricGaussian
from .oligo_encoding import EncodedSequences
from .sequence import CombinedOligo, Oligo, TripletOligo, WeightedOligo
from .vector import Gaussian, Linear, Polynomial, Sigmoid

__all__ = [
    "CombinedOligo",
    "EncodedSequences",
    "FromFunction",
    "Gaussian",
    "Gram",
    "Kernel",
    "Linear",
    "MetricGaussian",
    "Normalised",
    "Oligo",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sigmoid",
    "Sum",
    "TripletOligo",
    "WeightedOligo",
]
