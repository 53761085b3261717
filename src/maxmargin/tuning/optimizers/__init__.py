"""Optimisers: the search for a good point."""

from .base import Optimiser, Result
from .evolution import CMA
from .grid import Choice, Grid
from .noisy_rprop import NoisyRprop
from .rprop import IRpropPlus, Rprop

__all__ = ["CMA", "Choice", "Grid", "IRpropPlus", "NoisyRprop", "Optimiser", "Result", "Rprop"]
