"""Sparse matrices from the arrays of a file, checked before anything relies on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from .container import ModelFileError

CSR = ("data", "indices", "indptr")
INDEX_TYPES, REAL_TYPES = (np.int32, np.int64), (np.float32, np.float64)
LONGEST = 2**62


def csr_from(arrays: Mapping[str, np.ndarray], shape: Any, matrix: bool) -> Any:
    """The CSR matrix (or array) of these data, indices and indptr.

    Its data must be real and finite, its indices inside the shape.
    """
    whole = isinstance(shape, list | tuple) and all(type(length) is int for length in shape)
    if not whole or len(shape) != 2 or min(shape) < 0 or max(shape) > LONGEST:
        raise ModelFileError(f"{shape!r} is no shape of a matrix")
    rows, columns = shape
    data, indices, indptr = (arrays[name] for name in CSR)
    types = (REAL_TYPES, INDEX_TYPES, INDEX_TYPES)
    for name, array, allowed in zip(CSR, (data, indices, indptr), types):
        if array.ndim != 1 or array.dtype not in [np.dtype(kind) for kind in allowed]:
            raise ModelFileError(f"{name} of a sparse matrix is {array.dtype}{list(array.shape)}")
    if indices.dtype != indptr.dtype:
        raise ModelFileError("indices and indptr of a sparse matrix are of different types")
    if indptr.size != rows + 1 or data.size != indices.size:
        raise ModelFileError("a sparse matrix has parts of the wrong length")
    if indptr[0] != 0 or indptr[-1] != data.size or (indptr[1:] < indptr[:-1]).any():
        raise ModelFileError("indptr of a sparse matrix does not rise from 0 to its entries")
    if data.size and not (indices.min() >= 0 and indices.max() < columns):
        raise ModelFileError("indices of a sparse matrix are out of range")
    if not np.isfinite(data).all():
        raise ModelFileError("a sparse matrix contains NaN or infinity")
    container = sparse.csr_matrix if matrix else sparse.csr_array
    return container((data, indices, indptr), shape=(rows, columns))
