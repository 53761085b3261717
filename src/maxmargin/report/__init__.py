"""Plots, quality measures and reports."""

from .html import write_report
from .pictures.certificate import CertificateDisplay
from .pictures.gram import GramDisplay
from .pictures.pair_path import PairPathDisplay
from .pictures.support_vectors import SupportVectorDisplay
from .plots.boundary import DecisionBoundaryDisplay
from .plots.convergence import ConvergenceDisplay
from .plots.metric import MetricDisplay
from .plots.predictions import ConfusionDisplay, ResidualDisplay
from .plots.solver import PlanningDisplay, ShrinkingDisplay
from .plots.tree import PartitionDisplay, TreeDisplay
from .plots.tuning import TuningDisplay
from .quality import CalibrationDisplay, LabelCurveDisplay, PrecisionRecallDisplay, RocDisplay

__all__ = [
    "CalibrationDisplay",
    "CertificateDisplay",
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "DecisionBoundaryDisplay",
    "GramDisplay",
    "LabelCurveDisplay",
    "MetricDisplay",
    "PairPathDisplay",
    "PartitionDisplay",
    "PlanningDisplay",
    "PrecisionRecallDisplay",
    "ResidualDisplay",
    "RocDisplay",
    "ShrinkingDisplay",
    "SupportVectorDisplay",
    "TreeDisplay",
    "TuningDisplay",
    "write_report",
]
