"""Machines without parameters to set."""

from .classifier import AutoSVC
from .regressor import AutoSVR

__all__ = ["AutoSVC", "AutoSVR"]
