"""Plots, quality measures and reports."""

from .boundary import DecisionBoundaryDisplay
from .convergence import ConvergenceDisplay
from .html import write_report
from .metric_plot import MetricDisplay
from .pictures.certificate import CertificateDisplay
from .pictures.gram import GramDisplay
from .pictures.pair_path import PairPathDisplay
from .pictures.support_vectors import SupportVectorDisplay
from .predictions import ConfusionDisplay, ResidualDisplay
from .quality import CalibrationDisplay, LabelCurveDisplay, PrecisionRecallDisplay, RocDisplay
from .solver_plots import PlanningDisplay, ShrinkingDisplay
from .tree_plots import PartitionDisplay, TreeDisplay
from .tuning_plot import TuningDisplay

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
