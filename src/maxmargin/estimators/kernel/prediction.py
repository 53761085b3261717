"""Values of the fitted function, computed in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...kernels import Linear, Precomputed
from ...kernels.base import take
from ...kernels.vector.base import VectorKernel
from ...runtime.buffers import buffer
from ...runtime.jit import compiled
from ...runtime.parallel import PRODUCT_PART, in_parts, single_threaded_blas
from ...solvers.plan import fits_single
from ..conditioning import weights_of_features, widened
from ..inputs import is_function

# Kernel values of new samples and support vectors in memory at a time.
PREDICTION_BLOCK = 1 << 23


@single_threaded_blas()
def expansion_values(estimator: Any, X: Any, coef: Any) -> np.ndarray:
    """Σ_i coef_i k(x_i, x) for all x in X, block by block."""
    support_vectors, kernel = estimator.support_vectors_, estimator.kernel_
    wide = not (estimator.precision == "single" or both_single(estimator, X))
    wide = wide or not all(fits_single(kernel, inputs) for inputs in (X, support_vectors))
    if kernel == Linear():
        return linear_values(X, weights_of_features(coef, support_vectors), wide)
    coef = coef.toarray() if sparse.issparse(coef) else coef
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    values = np.zeros((count, len(coef)))
    if not coef.size:
        return values
    if isinstance(kernel, VectorKernel) and not is_function(estimator.kernel):
        return vector_values(kernel, X, support_vectors, coef, wide)
    right = widened(support_vectors) if wide else support_vectors
    width = estimator.shape_fit_[0] if is_function(estimator.kernel) else coef.shape[1]
    step = max(1, PREDICTION_BLOCK // max(width, 1))
    for start in range(0, count, step):
        block = slice(start, min(start + step, count))
        left = X if step >= count else take(X, block)
        if is_function(estimator.kernel):
            gram = estimator._function_values(left, estimator._training_inputs_)
            if gram.shape[1] != width:
                raise ValueError(
                    f"kernel(X, Y) must have {width} columns, the number of samples at training "
                    f"time, got {gram.shape[1]}"
                )
            gram = gram[:, estimator.support_]
        elif isinstance(kernel, Precomputed):
            gram = left[:, estimator.support_]
        else:
            gram = kernel(widened(left) if wide else left, right)
        values[block] = gram.astype(np.float64, copy=False) @ coef.T
    return values


def vector_values(
    kernel: VectorKernel, X: Any, support_vectors: Any, coef: np.ndarray, wide: bool
) -> np.ndarray:
    """As `expansion_values`, for kernels of vectors: support vectors are prepared once, and every
    thread computes and sums its own blocks."""
    dtype = np.float64 if wide else np.float32
    coef = np.ascontiguousarray(coef, dtype=np.float64)
    values = np.empty((X.shape[0], len(coef)))
    # Fewer at a time than other values, as they are summed at once; GEMM needs a number of rows.
    step = max(256, PREDICTION_BLOCK // 4 // coef.shape[1])
    step = min(step, max(1, PREDICTION_BLOCK // coef.shape[1]))
    write = kernel.evaluator(support_vectors, dtype, X)

    # Overflow is refused by the caller.
    @np.errstate(over="ignore", invalid="ignore")
    def some_rows(first: int, last: int) -> None:
        gram = buffer((min(step, last - first), coef.shape[1]), dtype)
        for start in range(first, last, step):
            block = slice(start, min(start + step, last))
            rows = gram[: block.stop - start]
            write(X[block], rows)
            # Up to three functions are summed from float32 values in one pass.
            if wide or len(coef) > 3:
                values[block] = rows.astype(np.float64, copy=False) @ coef.T
            else:
                sums(rows, coef, values[block])

    entries, features = len(values) * coef.shape[1], support_vectors.shape[1]
    in_parts(some_rows, len(values), entries, features, least=min(step, PRODUCT_PART))
    return values


@compiled
def sums(rows: Any, coef: Any, values: Any) -> None:
    """values_if = Σ_j coef_fj · rows_ij in float64"""
    for i in range(rows.shape[0]):
        for f in range(coef.shape[0]):
            total = 0.0
            for j in range(coef.shape[1]):
                total += coef[f, j] * rows[i, j]
            values[i, f] = total


def both_single(estimator: Any, X: Any) -> bool:
    """Whether new samples and support vectors are float32, and double precision is not
    requested."""
    dtypes = (getattr(inputs, "dtype", None) for inputs in (X, estimator.support_vectors_))
    return estimator.precision != "double" and all(dtype == np.float32 for dtype in dtypes)


def linear_values(X: Any, weights: Any, wide: bool) -> np.ndarray:
    if sparse.issparse(X):
        values = X @ (weights.T if sparse.issparse(weights) else np.asarray(weights).T)
        return values.toarray() if sparse.issparse(values) else np.asarray(values)
    count, features = X.shape
    values = np.zeros((count, weights.shape[0]))
    step = max(1, PREDICTION_BLOCK // max(features, 1))

    def some_rows(first: int, last: int) -> None:
        for start in range(first, last, step):
            block = slice(start, min(start + step, last))
            values[block] = (widened(X[block]) if wide else X[block]) @ weights.T

    in_parts(some_rows, count, X.size)
    return values


def like(matrix: Any, dense: np.ndarray) -> Any:
    """A dense array in CSR form, of the same sparse type as `matrix`."""
    container = sparse.csr_matrix if sparse.isspmatrix(matrix) else sparse.csr_array
    return container(dense)
