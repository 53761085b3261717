"""Inputs of `fit` and `predict` other than arrays: Dask collections, and lists of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..solvers.sharded import Part

SUFFIXES = (".npy", ".parquet", ".pq")


class Blocks(NamedTuple):
    """Delayed blocks of X, y and weights, None where there are none, and the names of features."""

    X: list[Any]
    y: list[Any]
    weight: list[Any]
    feature_names: Any = None


def is_dask_array(X: Any) -> bool:
    return hasattr(X, "dask") and hasattr(X, "map_blocks")


def is_dask_frame(X: Any) -> bool:
    return hasattr(X, "map_partitions") and hasattr(X, "npartitions") and not is_dask_array(X)


def is_collection(X: Any) -> bool:
    """Whether inputs are a Dask array or data frame."""
    return is_dask_array(X) or is_dask_frame(X)


def is_files(X: Any) -> bool:
    """Whether inputs are a list of paths of files that can be read."""
    if not isinstance(X, list | tuple) or not X:
        return False
    return all(isinstance(path, str | os.PathLike) for path in X) and all(
        Path(path).suffix in SUFFIXES for path in X
    )


def blocks_of(X: Any, y: Any, sample_weight: Any) -> Blocks:
    """The blocks of collections, split at the same samples."""
    if is_dask_array(X):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got {X.ndim}: reshape it to (n, d)")
        X = X.rechunk({1: -1})
        names, inputs, chunks = None, X.to_delayed().ravel().tolist(), X.chunks[0]
    else:
        names, inputs, chunks = list(map(str, X.columns)), list(X.to_delayed()), None
    targets = _aligned("y", y, len(inputs), chunks)
    weights = _aligned("sample_weight", sample_weight, len(inputs), chunks)
    return Blocks(inputs, targets, weights, names)


def _aligned(name: str, values: Any, parts: int, chunks: Any) -> list[Any]:
    """The blocks of a vector beside those of X."""
    if values is None:
        return [None] * parts
    known = chunks is not None and not np.isnan(np.array(chunks, dtype=np.float64)).any()
    if not is_collection(values):
        if not known:
            raise ValueError(
                f"{name} must be a Dask collection cut as X is, where X does not know how many "
                "samples its parts have: call X.compute_chunk_sizes(), or take it from the same "
                "data frame"
            )
        import dask.array

        values = dask.array.from_array(np.asarray(values).ravel(), chunks=(chunks,))
    if is_dask_array(values):
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if known and not np.isnan(values.shape[0]):
            if values.shape[0] != sum(chunks):
                raise ValueError(
                    f"{name} must have one entry a sample: X has {sum(chunks)}, {name} has "
                    f"{values.shape[0]}"
                )
            values = values.rechunk((chunks,))
    blocks = list(np.ravel(values.to_delayed()))
    if len(blocks) != parts:
        raise ValueError(
            f"{name} must be cut into parts as X is: X has {parts}, {name} has {len(blocks)}"
        )
    return blocks


def file_readers(X: Any, y: Any, sample_weight: Any) -> Sequence[Callable[[], Part]]:
    """A reader for each of a list of files.

    With Parquet files, y and sample_weight are the names of columns; with ``.npy`` files they are
    lists of files too.
    """
    if all(Path(path).suffix == ".npy" for path in X):
        lists = []
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            if values is not None and not (is_files(values) and len(values) == len(X)):
                raise ValueError(f"{name} must be a list of {len(X)} .npy files, as X is")
            lists.append([None] * len(X) if values is None else list(values))
        return [NpyFile(*paths).__call__ for paths in zip(X, *lists)]
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if not (values is None or isinstance(values, str)):
            raise ValueError(f"{name} must be the name of a column of the Parquet files of X")
    return [ParquetFile(path, y, sample_weight).__call__ for path in X]


class NpyFile(NamedTuple):
    """Arrays in separate files."""

    X: Any
    y: Any
    weight: Any

    def __call__(self) -> Part:
        return Part(
            as_inputs(np.load(self.X)),
            None if self.y is None else as_vector(np.load(self.y)),
            None if self.weight is None else as_vector(np.load(self.weight)),
        )


class ParquetFile(NamedTuple):
    """A file of columns."""

    path: Any
    y: Any
    weight: Any

    def __call__(self) -> Part:
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(self.path)
        for name in (self.y, self.weight):
            if name is not None and name not in table.column_names:
                raise ValueError(f"{self.path} has no column {name!r}: {table.column_names}")
        others = [name for name in table.column_names if name not in (self.y, self.weight)]
        columns = [table[name].to_numpy(zero_copy_only=False) for name in others]
        kind = np.result_type(*columns)
        X = np.empty((table.num_rows, len(columns)), dtype=kind)
        step = 1024  # rows that stay in the processor's cache
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            for k, column in enumerate(columns):
                X[rows, k] = column[rows]
        vectors = [
            None if name is None else as_vector(table[name].to_numpy(zero_copy_only=False))
            for name in (self.y, self.weight)
        ]
        return Part(as_inputs(X), *vectors)


def as_inputs(X: Any) -> Any:
    """A block of inputs as an array or CSR matrix of float32 or float64."""
    if sparse.issparse(X):
        X = X.tocsr()
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)
    if X.ndim != 2:
        raise ValueError(f"blocks of X must have two dimensions, got {X.ndim}")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def as_vector(values: Any) -> Any:
    """A block of targets or weights as a vector."""
    if values is None:
        return None
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    values = np.asarray(values).ravel()
    return np.array(values.tolist()) if values.dtype == object else values
