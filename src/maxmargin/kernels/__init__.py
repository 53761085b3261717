"""Kernels: how alike two inputs are."""

from .base import Gram, Kernel
from .compose import Normalised, Product, Scaled, Sum
from .precomputed import FromFunction, Precomputed
from .sequence.encoding import EncodedSequences
from .sequence.oligo import CombinedOligo, Oligo, TripletOligo, WeightedOligo
from .vector.metric import MetricGaussian
from .vector.standard import Gaussian, Linear, Polynomial, Sigmoid

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
