"""Model files: `.mm`, LIBSVM text, ONNX."""

from ..archive import ModelFileError
from .checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from .files import Model, load, save
from .libsvm_text import read_libsvm, write_libsvm
from .training import FitCurve, HeldOut, Measure, SearchTable, Training
from .trusted import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "Checkpoint",
    "FitCurve",
    "HeldOut",
    "Measure",
    "Model",
    "ModelFileError",
    "SearchTable",
    "Training",
    "load",
    "load_checkpoint",
    "read_libsvm",
    "save",
    "save_checkpoint",
    "write_libsvm",
]
