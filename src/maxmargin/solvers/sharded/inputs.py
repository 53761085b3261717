"""Inputs of any kind as messages: joined, and counted in bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...kernels.base import count


def stacked(inputs: list[Any]) -> Any:
    """Concatenated inputs of several shards."""
    filled = [some for some in inputs if count(some)] or inputs[:1]
    if len(filled) == 1:
        return filled[0]
    if sparse.issparse(filled[0]):
        return sparse.vstack(filled, format="csr")
    if hasattr(filled[0], "shape"):
        return np.concatenate(filled)
    return [x for some in filled for x in some]


def in_bytes(inputs: Any) -> int:
    """The bytes of arrays and matrices, also in containers."""
    if sparse.issparse(inputs):
        return int(inputs.data.nbytes + inputs.indices.nbytes + inputs.indptr.nbytes)
    if isinstance(inputs, np.ndarray):
        return int(inputs.nbytes)
    if isinstance(inputs, list | tuple):
        return sum(map(in_bytes, inputs))
    return 8
