"""Kernels of vectors, dense or sparse."""
