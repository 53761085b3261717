"""Tuning: how parameters are chosen."""

from .base import Evaluation, History, Limits, Objective, Point, Vector
from .optimizers import CMA, Grid, IRpropPlus, NoisyRprop, Optimiser, Result, Rprop

__all__ = [
    "CMA",
    "Evaluation",
    "Grid",
    "History",
    "IRpropPlus",
    "Limits",
    "NoisyRprop",
    "Objective",
    "Optimiser",
    "Point",
    "Result",
    "Rprop",
    "Vector",
]
