"""The algorithms of the source documents in readable form, each with a trace of its steps.

They are for study and comparison; use `maxmargin.solve` otherwise.
"""

from .coordinate import coordinate_ascent
from .lectures import chunking, projected_gradient
from .pairs.all_pairs import all_pairs
from .pairs.linear import linear_smo
from .pairs.platt import platt_smo
from .pairs.selection import POLICIES
from .pairs.simplified import simplified_smo
from .pairs.smo import smo
from .partial_gradient import partial_gradient
from .perceptron import kernel_perceptron, perceptron
from .primal import hinge_sgd
from .reasons import Reason, reason
from .record import DetailedTrace
from .regression import kernel_regression, largest_rate
from .sensitivity import (
    derivative_in_C,
    derivative_in_parameter,
    derivative_of_values,
    span_count,
    spans,
)
from .watch import watch

__all__ = [
    "POLICIES",
    "DetailedTrace",
    "Reason",
    "all_pairs",
    "chunking",
    "coordinate_ascent",
    "derivative_in_C",
    "derivative_in_parameter",
    "derivative_of_values",
    "hinge_sgd",
    "kernel_perceptron",
    "kernel_regression",
    "largest_rate",
    "linear_smo",
    "partial_gradient",
    "perceptron",
    "platt_smo",
    "projected_gradient",
    "reason",
    "simplified_smo",
    "smo",
    "span_count",
    "spans",
    "watch",
]
