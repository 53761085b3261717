"""Objectives: functions of a point to be minimised or maximised."""

from .alignment import KernelPolarisation, KernelTargetAlignment
from .holdout import BootstrapError, CrossValidationError, ErrorRate, HoldOutError
from .leave_one_out import LeaveOneOutError, SupportVectorCount
from .likelihood import LogLikelihood
from .pairs import OverPairs
from .priors import GaussianPrior, LogPosterior, Prior
from .radius_margin import RadiusMargin
from .regression.held_out import HeldOutLoss
from .regression.left_out import LeaveOneOutLoss, RegressionSpanBound
from .regression.ridge import RidgeLeaveOneOut
from .span import SpanBound
from .splits import FixedSplits, RandomSplits, Split, Splits, folds, plain_folds

__all__ = [
    "BootstrapError",
    "CrossValidationError",
    "ErrorRate",
    "FixedSplits",
    "GaussianPrior",
    "HeldOutLoss",
    "HoldOutError",
    "KernelPolarisation",
    "KernelTargetAlignment",
    "LeaveOneOutError",
    "LeaveOneOutLoss",
    "LogLikelihood",
    "LogPosterior",
    "OverPairs",
    "Prior",
    "RadiusMargin",
    "RandomSplits",
    "RegressionSpanBound",
    "RidgeLeaveOneOut",
    "SpanBound",
    "Split",
    "Splits",
    "SupportVectorCount",
    "folds",
    "plain_folds",
]
