"""Files larger than memory as chunks of samples, for the linear machines.

    source = SvmlightChunks("huge.svm")
    LinearSVC().fit(source, source.y)

Only the targets are held; inputs are read a chunk at a time, as often as the solver needs them.
"""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
from scipy import sparse

from ..runtime.sizes import CHUNK_BYTES
from .svmlight import SvmlightText, parsed


class SvmlightChunks:
    """A text file of lines ``label index:value index:value …``.

    Parameters
    ----------
    path : str or path-like
    features : int, optional
        How many there are; by default as many as the largest index says.
    chunk_bytes : int, default=64 MB
        Of the text, for each chunk.

    Attributes
    ----------
    n, d : int
        Samples and features.
    y : float array
        Labels.
    edges : int array
        Chunk k holds the samples from ``edges[k]`` to ``edges[k + 1]``.

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin.data.chunks import SvmlightChunks
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     _ = file.write("1 1:0.5 3:2\\n-1 2:1\\n")
    ...     file.flush()
    ...     source = SvmlightChunks(file.name)
    >>> source.n, source.d, source.y
    (2, 3, array([ 1., -1.]))
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        features: int | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        if chunk_bytes < 1:
            raise ValueError(f"chunk_bytes must be at least 1, got {chunk_bytes}")
        self.path, self.chunk_bytes = os.fspath(path), chunk_bytes
        sizes, labels, smallest, largest, self._starts = [], [], 1, -1, []
        for start in range(0, os.path.getsize(self.path), chunk_bytes):
            part = self._read(start)
            if not part.labels.size:
                continue
            self._starts.append(start)
            sizes.append(part.labels.size)
            labels.append(part.labels)
            if part.indices.size:
                smallest = min(smallest, int(part.indices.min()))
                largest = max(largest, int(part.indices.max()))
        if not sizes:
            raise ValueError(f"{self.path} has no samples")
        self._from_one = smallest > 0
        found = max(1, largest if self._from_one else largest + 1)
        self.d = found if features is None else features
        if found > self.d:
            raise ValueError(f"features must be at least {found} for {self.path}, got {features}")
        self.y = np.concatenate(labels)
        self.n, self.edges = self.y.size, np.concatenate([[0], np.cumsum(sizes)])

    def read(self, k: int) -> Any:
        """A chunk as a CSR matrix."""
        data, indices, indptr, labels = self._read(self._starts[k])
        if self._from_one:
            indices -= 1
        rows = (data, indices, indptr.astype(np.int32))
        return sparse.csr_matrix(rows, shape=(labels.size, self.d))

    def _read(self, start: int) -> SvmlightText:
        """The lines that begin after the byte before `start` and up to the end of the chunk."""
        with open(self.path, "rb") as stream:
            ends = [0]
            for place in (start, start + self.chunk_bytes):
                if place:
                    stream.seek(place - 1)
                    stream.readline()
                    ends.append(stream.tell())
            stream.seek(ends[-2])
            text = stream.read(ends[-1] - ends[-2])
        return parsed(io.BytesIO(text), f"{self.path} from byte {ends[-2]} on")


class ParquetChunks:
    """A Parquet file (or a pattern of files) of numeric columns, read by polars.

    Parameters
    ----------
    path : str or path-like
    target : str
        The column to predict.
    columns : sequence of str, optional
        The features; by default all other columns.
    rows : int, optional
        Of a chunk; by default as many as make 64 MB of float64.

    Attributes
    ----------
    n, d : int
        Samples and features.
    y : array
        The target column.
    edges : int array
        Chunk k holds the samples from ``edges[k]`` to ``edges[k + 1]``.
    feature_names : tuple of str
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str,
        *,
        columns: Any = None,
        rows: int | None = None,
    ) -> None:
        import polars

        if rows is not None and rows < 1:
            raise ValueError(f"rows must be at least 1, got {rows}")
        self._frame = polars.scan_parquet(os.fspath(path))
        schema = self._frame.collect_schema()
        if target not in schema:
            raise ValueError(f"target must be one of {list(schema)}, got {target!r}")
        names = [name for name in schema if name != target] if columns is None else list(columns)
        for name in names:
            if name not in schema:
                raise ValueError(f"columns must be among {list(schema)}, got {name!r}")
            if not (schema[name].is_numeric() or schema[name] == polars.Boolean):
                raise ValueError(
                    f"column {name!r} of {os.fspath(path)} is {schema[name]}, not numeric: leave "
                    "it out of `columns` or encode it first"
                )
        self.feature_names = tuple(names)
        self.d = len(names)
        self.y = self._frame.select(target).collect().to_series().to_numpy()
        self.n = self.y.size
        step = max(1, CHUNK_BYTES // (8 * max(1, self.d))) if rows is None else rows
        self.edges = np.append(np.arange(0, self.n, step), self.n)

    def read(self, k: int) -> Any:
        """A chunk as an array of float64."""
        start, stop = int(self.edges[k]), int(self.edges[k + 1])
        part = self._frame.slice(start, stop - start).select(self.feature_names).collect()
        return np.ascontiguousarray(part.to_numpy(), dtype=np.float64)
