"""Files of models: `.mm`, LIBSVM's text, ONNX."""

from .archive import ModelFileError
from .files import Model, load, save
from .libsvm_text import read_libsvm, write_libsvm
from .training import FitCurve, HeldOut, Measure, SearchTable, Training

__all__ = [
    "FitCurve",
    "HeldOut",
    "Measure",
    "Model",
    "ModelFileError",
    "SearchTable",
    "Training",
    "load",
    "read_libsvm",
    "save",
    "write_libsvm",
]
