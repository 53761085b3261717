"""ONNX export: machines in double precision from plain operators, trees through skl2onnx."""

from .writing import write_onnx

__all__ = ["write_onnx"]
