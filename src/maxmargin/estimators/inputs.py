"""Validation and conversion of the inputs of `fit` and `predict`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import validate_data

from ..kernels import (
    EncodedSequences,
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from ..kernels.sequence.encoding import as_strings
from ..kernels.sequence.oligo import SequenceKernel
from ..kernels.vector.base import VectorKernel
from ..runtime.sizes import BLOCK_ENTRIES
from .distinct import in_usual_layout

# The largest kernel value whose square, times a number of samples, is finite.
LARGEST = 1e150


def is_precomputed(kernel: Any) -> bool:
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def is_function(kernel: Any) -> bool:
    """Whether the kernel is a plain function of two batches, as in scikit-learn."""
    return callable(kernel) and not isinstance(kernel, Kernel)


def takes_strings(kernel: Any) -> bool:
    """Whether the kernel is a sequence kernel, or composed of such."""
    if isinstance(kernel, str):
        return False
    parts = getattr(kernel, "kernels", None) or [getattr(kernel, "kernel", None)]
    return isinstance(kernel, SequenceKernel) or any(
        takes_strings(part) for part in parts if isinstance(part, Kernel)
    )


def tag_inputs(tags: Any, kernel: Any) -> None:
    """Set scikit-learn's input tags according to the kernel."""
    strings = takes_strings(kernel)
    tags.one_d_array = tags.string = strings
    tags.two_d_array = not strings
    tags.pairwise = is_precomputed(kernel)
    tags.sparse = not strings and not tags.pairwise


def may_be_indefinite(estimator: Any) -> bool:
    """Whether the kernel is not positive semi-definite in general."""
    kernel = estimator.kernel
    if isinstance(kernel, str):
        return kernel == "sigmoid" or (kernel == "poly" and estimator.coef0 < 0)
    parts = getattr(kernel, "kernels", [kernel])
    return any(
        isinstance(part, Sigmoid) or (isinstance(part, Polynomial) and part.coef0 < 0)
        for part in parts
    )


def is_structured(X: Any) -> bool:
    """Whether inputs are a sequence of objects other than vectors: strings, sets, graphs."""
    if sparse.issparse(X) or (hasattr(X, "columns") and hasattr(X, "shape")):
        return False
    if not isinstance(X, list | tuple):
        if not hasattr(X, "__array__"):
            return hasattr(X, "__len__")
        X = np.asarray(X)
        if X.dtype.kind in "UST":
            return True
        if X.dtype.kind != "O" or X.ndim != 1:
            return False
    return len(X) > 0 and all(_is_thing(x) for x in X)


def _is_thing(x: Any) -> bool:
    if isinstance(x, str | bytes):
        return True
    return not (x is None or isinstance(x, Number | Iterable))


def training_inputs(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """X and y of `fit`; sets `n_features_in_` and `feature_names_in_` of the estimator."""
    kernel = estimator.kernel
    square, named = is_precomputed(kernel), isinstance(kernel, str)
    if square and sparse.issparse(X):
        raise TypeError(
            "Sparse precomputed kernels are not supported: X must be a dense Gram matrix, "
            "use X.toarray()"
        )
    if not named and takes_strings(kernel):
        _check_strings(estimator, X)
    if not named and is_structured(X):
        if y is not None:
            check_consistent_length(X, y)
        return _sequence(X), y
    raw = X
    if y is None or is_plain(y):
        X = _validated(estimator, X, reset=True)
        if y is not None and y.size != X.shape[0]:
            check_consistent_length(X, y)
    else:
        X, y = validate_data(
            estimator,
            X,
            y,
            multi_output=False,
            y_numeric=False,
            **_format(kernel, X),
        )
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            "Precomputed matrix must be a square matrix. X is a "
            f"{X.shape[0]}x{X.shape[1]} matrix: give the kernel of all training samples with all"
        )
    X = canonical(X)
    return X if named else _for_kernel(kernel, raw, X), y


def canonical(X: Any) -> Any:
    """Sparse inputs with sorted indices, no entry twice and none of 0; others as they are."""
    if not sparse.issparse(X) or (X.has_canonical_format and X.data.all()):
        return X
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def _validated(estimator: Any, X: Any, reset: bool) -> Any:
    """X validated by scikit-learn; skipped if there is nothing to check."""
    if not is_plain_matrix(X):
        return validate_data(estimator, X, reset=reset, **_format(estimator.kernel, X))
    expected = X.shape[1] if reset else getattr(estimator, "n_features_in_", None)
    if expected != X.shape[1] or hasattr(estimator, "feature_names_in_"):
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    if reset:
        estimator.n_features_in_ = X.shape[1]
    return X


def is_plain_matrix(X: Any) -> bool:
    """Whether inputs are already a C-contiguous array of finite numbers of the usual type."""
    if type(X) is not np.ndarray or not X.size or not in_usual_layout(X):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(X.sum())


def is_plain(y: Any) -> bool:
    """Whether targets are already an array of finite numbers that needs no further check."""
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf"
    return plain and bool(np.isfinite(y).all())


def new_inputs(estimator: Any, X: Any, like: Any = None) -> Any:
    """X of `predict` and similar methods, in the form of the support vectors (or of `like`)."""
    kernel = estimator.kernel
    if takes_strings(kernel):
        _check_strings(estimator, X)
    if not isinstance(kernel, str) and is_structured(X):
        return _sequence(X)
    raw = X
    X = _validated(estimator, X, reset=False)
    if not is_function(kernel):
        trained_sparse = sparse.issparse(estimator.support_vectors_ if like is None else like)
        if sparse.issparse(X) and not trained_sparse:
            raise ValueError(
                f"cannot use sparse input in {type(estimator).__name__!r} trained on dense data: "
                "give X.toarray(), or train on sparse data"
            )
        if trained_sparse and not sparse.issparse(X):
            X = sparse.csr_array(X)
    return _for_kernel(kernel, raw, canonical(X))


def _format(kernel: Any, X: Any) -> dict[str, Any]:
    """The arguments of validate_data."""
    dtype: Any = [np.float64, np.float32]
    if is_function(kernel):
        kind = getattr(getattr(X, "dtype", None), "kind", None)
        dtype = None if isinstance(kind, str) and kind in "biuf" else "numeric"
    return {"dtype": dtype, "order": None if is_function(kernel) else "C", "accept_sparse": "csr"}


def _for_kernel(kernel: Any, raw: Any, X: Any) -> Any:
    """A kernel function receives data frames unchanged, and everything else as arrays."""
    return raw if is_function(kernel) and hasattr(raw, "iloc") else X


def _check_strings(estimator: Any, X: Any) -> None:
    if not isinstance(X, EncodedSequences):
        X = as_strings(X, "X")
    elif hasattr(estimator, "partial_fit"):
        raise TypeError(
            f"X must be a list or 1-D array of str or bytes, got EncodedSequences, which "
            f"{type(estimator).__name__} cannot join to what it keeps: give the strings"
        )
    if not len(X):
        raise ValueError("X must hold at least one sequence, got none")


def _sequence(X: Any) -> Any:
    if isinstance(X, list | tuple) or not hasattr(X, "__array__"):
        return X
    return np.asarray(X)


def checked_weights(sample_weight: Any, count: int, may_vanish: bool = False) -> np.ndarray:
    """One weight per sample; zero and negative ones mean absence. With `may_vanish` all may be
    absent."""
    if sample_weight is None:
        return np.ones(count)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold numbers: {error}") from error
    if weight.ndim == 0:
        weight = np.full(count, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got shape {weight.shape}")
    if weight.size != count:
        raise ValueError(
            "sample_weight and X have incompatible shapes: "
            f"got {weight.size} weights for {count} samples"
        )
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight contains NaN or infinity")
    weight = np.maximum(weight, 0.0)
    if not weight.any() and not may_vanish:
        raise ValueError(
            "Invalid input - all samples have zero or negative weights. "
            "Give at least some of them a positive sample_weight"
        )
    return weight


def resolved_kernel(estimator: Any, X: Any, weight: np.ndarray) -> Kernel:
    """The kernel object behind `kernel`, `degree`, `gamma` and `coef0`."""
    return kernel_with(estimator, partial(resolved_gamma, estimator.gamma, X, weight))


def kernel_with(estimator: Any, resolve_gamma: Callable[[], float]) -> Kernel:
    """As `resolved_kernel`, with γ from a function that is called only if the kernel has one."""
    kernel = estimator.kernel
    if isinstance(kernel, Kernel) and not isinstance(kernel, Precomputed):
        return kernel
    if not isinstance(kernel, str) or kernel == "precomputed":
        return Precomputed()
    if kernel == "linear":
        return Linear()
    gamma = resolve_gamma()
    if kernel == "rbf":
        return Gaussian(gamma)
    if kernel == "sigmoid":
        return Sigmoid(gamma, float(estimator.coef0))
    return Polynomial(int(estimator.degree), gamma, float(estimator.coef0))


def resolved_gamma(gamma: Any, X: Any, weight: np.ndarray) -> float:
    """γ as a number: ``"scale"`` is 1 / (features · weighted variance), ``"auto"`` 1 / features."""
    if gamma == "auto":
        result: float = 1.0 / X.shape[1]
        return result
    if gamma != "scale":
        return float(gamma)
    with np.errstate(over="ignore", invalid="ignore"):
        variance = weighted_variance(X, weight)
    if not np.isfinite(variance):
        raise ValueError(
            "The dual coefficients or intercepts are not finite: the variance of X overflows. "
            "The input data may contain large values and need to be preprocessed"
        )
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def weighted_variance(X: Any, weight: np.ndarray) -> float:
    """Variance of all entries of X, each row counted as often as its weight says.

    A variance within rounding of that of a constant is returned as 0.
    """
    total = weight.sum() * X.shape[1]
    if sparse.issparse(X):
        X = X.astype(np.float64)
        mean = (weight @ X).sum() / total
        variance = (weight @ X.power(2)).sum() / total - mean**2
        return _without_rounding(variance, 1e-15 * mean**2)
    step = max(1, BLOCK_ENTRIES // X.shape[1])
    mean = squares = 0.0
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        mean += (weight[part] @ X[part]).sum()
    mean /= total
    for start in range(0, X.shape[0], step):
        part = slice(start, start + step)
        centred = X[part].astype(np.float64) - mean
        squares += weight[part] @ np.vecdot(centred, centred)
    return _without_rounding(squares / total, 1e-30 * mean**2)


def _without_rounding(variance: float, rounding: float) -> float:
    return 0.0 if np.isfinite(rounding) and variance <= rounding else float(variance)


def refuse_overflow(kernel: Kernel, X: Any) -> float:
    """Raise ValueError if kernel values of the inputs are not finite in float64. Returns the
    largest of them: of a positive semi-definite kernel it is a k(x, x)."""
    if isinstance(kernel, VectorKernel):
        entries = X.data if sparse.issparse(X) else X
        top = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
        if top > math.sqrt(LARGEST / max(1, X.shape[1])):
            raise ValueError(
                f"X holds values up to {top:.3g}, with which a fit overflows: scale the inputs, "
                "for example with StandardScaler"
            )
    with np.errstate(over="ignore", invalid="ignore"):
        diagonal = X if isinstance(kernel, Precomputed) else kernel.diagonal(X)
    top = float(np.abs(diagonal).max(initial=0.0))
    if not top <= LARGEST:
        raise ValueError(
            f"kernel {kernel!r} overflows: k(x, x) of these inputs is up to {top:.3g}. Scale the "
            "inputs, for example with StandardScaler, or choose a smaller degree or gamma"
        )
    return top
