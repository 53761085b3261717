"""Solvers of the dual problem: one compiled loop, and the drivers that feed it."""

from .result import STATUSES, Progress, Solution, Trace
from .smo.state import SELECTIONS
from .solver import solve
from .textbook.lectures import chunking, projected_gradient

__all__ = [
    "SELECTIONS",
    "STATUSES",
    "Progress",
    "Solution",
    "Trace",
    "chunking",
    "projected_gradient",
    "solve",
]
