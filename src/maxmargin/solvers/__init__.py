"""How it is optimised: one compiled loop and the drivers that feed it."""

from .lectures import chunking, projected_gradient
from .optimise import solve
from .records import SELECTIONS
from .solution import STATUSES, Progress, Solution, Trace

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
