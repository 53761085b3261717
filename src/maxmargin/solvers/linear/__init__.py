"""Linear machines: losses, solvers and certificates for data as it is, without kernels."""

from .data.chunked import ArrayChunks, ChunkedMatrix, is_chunked
from .data.matrix import as_matrix
from .dual.joint import fit_joint
from .dual.joint_certificate import JointProblem
from .fit import fit_linear
from .losses import (
    CLASSIFICATION,
    REGRESSION,
    Loss,
    epsilon_insensitive,
    hinge,
    logistic,
    squared,
    squared_epsilon_insensitive,
    squared_hinge,
)
from .records import Intercept, LinearProgress, LinearSolution, LinearTrace, Point

__all__ = [
    "CLASSIFICATION",
    "REGRESSION",
    "ArrayChunks",
    "ChunkedMatrix",
    "Intercept",
    "JointProblem",
    "LinearProgress",
    "LinearSolution",
    "LinearTrace",
    "Loss",
    "Point",
    "as_matrix",
    "epsilon_insensitive",
    "fit_joint",
    "fit_linear",
    "hinge",
    "is_chunked",
    "logistic",
    "squared",
    "squared_epsilon_insensitive",
    "squared_hinge",
]
