"""Kernels: how alike two inputs are."""

from .oligo_encoding import EncodedSequences
from .sequence import CombinedOligo, Oligo, TripletOligo, WeightedOligo

__all__ = ["CombinedOligo", "EncodedSequences", "Oligo", "TripletOligo", "WeightedOligo"]
