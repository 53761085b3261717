"""Least squares in a reproducing kernel Hilbert space: direct, iterative and without penalty."""

from .leave_one_out import leave_one_out
from .solver import RidgeSolution, solve_ridge
from .system import RidgeSystem

__all__ = ["RidgeSolution", "RidgeSystem", "leave_one_out", "solve_ridge"]
