"""What is optimised: the dual problem, the machines it serves, and proof of a solution."""

from .certificate import Certificate, certify, certify_expansion
from .expansion import Expansion
from .kernel_sums import kernel_expansion, sharp_expansion
from .least_squares import certify_least_squares, least_squares
from .machines import (
    Machine,
    enclosing_ball,
    epsilon_svr,
    hard_margin,
    hinge,
    nu_svc,
    nu_svr,
    one_class,
    squared_hinge,
)
from .problem import DualProblem

__all__ = [
    "Certificate",
    "DualProblem",
    "Expansion",
    "Machine",
    "certify",
    "certify_expansion",
    "certify_least_squares",
    "enclosing_ball",
    "epsilon_svr",
    "hard_margin",
    "hinge",
    "kernel_expansion",
    "least_squares",
    "nu_svc",
    "nu_svr",
    "one_class",
    "sharp_expansion",
    "squared_hinge",
]
