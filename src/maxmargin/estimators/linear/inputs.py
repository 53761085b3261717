"""Inputs of linear machines that come in chunks, and inputs too large to square."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from ...solvers.linear import ChunkedMatrix


def chunked_inputs(estimator: Any, source: Any, y: Any) -> tuple[ChunkedMatrix, np.ndarray]:
    """The matrix of a source of chunks with the targets; sets the attributes about features."""
    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but y is None: pass the source's own y")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        check_array(y, ensure_2d=False, input_name="y", estimator=name)
    if y.size != source.n:
        raise ValueError(f"y must have one target a sample: X has {source.n}, y has {y.size}")
    matrix = ChunkedMatrix(source)
    if not np.isfinite(matrix.largest):
        raise ValueError(
            f"Input X contains NaN or infinity, which {name} does not accept: fill or drop these "
            "samples first"
        )
    estimator.n_features_in_ = matrix.d
    if getattr(source, "feature_names", None):
        estimator.feature_names_in_ = np.array(source.feature_names, dtype=object)
    return matrix, y


def chunks_to_predict(estimator: Any, source: Any) -> Iterator[Any]:
    """The checked chunks of a source with as many features as were fitted."""
    name = type(estimator).__name__
    if source.d != estimator.n_features_in_:
        raise ValueError(
            f"X has {source.d} features, but {name} is expecting {estimator.n_features_in_} "
            "features as input"
        )
    for k in range(len(source.edges) - 1):
        yield check_array(
            source.read(k), accept_sparse="csr", dtype=[np.float64, np.float32], estimator=name
        )


def refuse_overflow(name: str, largest: float, cost: np.ndarray, estimator: Any) -> None:
    """Raise if the squares of inputs or targets of this size, times C, overflow.

    Beyond 2^980 they leave too little range for sums.
    """
    if largest <= 0.0:
        return
    size = float(np.log2(largest))
    if max(2.0 * size, 2.0 * size + float(np.log2(cost.max()))) > 980.0:
        strength = estimator._strength
        raise ValueError(
            f"{name} has entries of up to about {largest:.0e}, whose squares times the weight of "
            f"the loss ({strength}={getattr(estimator, strength):g}) overflow float64: scale "
            f"{name} first, for example by sklearn.preprocessing.StandardScaler"
        )
