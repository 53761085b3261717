"""maxmargin: exact, certified, self-tuning support vector machines."""

from .solvers import solve

__version__ = "0.1.0.dev0"

__all__ = ["solve"]
