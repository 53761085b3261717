"""What people look at: plots, figures, reports."""

from .boundary import DecisionBoundaryDisplay
from .convergence import ConvergenceDisplay
from .html import write_report
from .metric_plot import MetricDisplay
from .quality import (
    CalibrationDisplay,
    ConfusionDisplay,
    LabelCurveDisplay,
    PrecisionRecallDisplay,
    ResidualDisplay,
    RocDisplay,
)
from .solver_plots import PlanningDisplay, ShrinkingDisplay
from .tree_plots import PartitionDisplay, TreeDisplay
from .tuning_plot import TuningDisplay

__all__ = [
    "CalibrationDisplay",
    "ConfusionDisplay",
    "ConvergenceDisplay",
    "DecisionBoundaryDisplay",
    "LabelCurveDisplay",
    "MetricDisplay",
    "PartitionDisplay",
    "PlanningDisplay",
    "PrecisionRecallDisplay",
    "ResidualDisplay",
    "RocDisplay",
    "ShrinkingDisplay",
    "TreeDisplay",
    "TuningDisplay",
    "write_report",
]
