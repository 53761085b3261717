"""Files to memory: tables (CSV, TSV, Parquet, Arrow) and vectors (svmlight, NPZ)."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, is_zipfile

import numpy as np
from scipy import sparse

from .sources import DataError, Source, open_source
from .svmlight import read_svmlight_text

if TYPE_CHECKING:
    import polars

# What stands for a missing value in a text.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?")
# Names that NPZ files give to inputs and targets, the training part first.
INPUTS, TARGETS = ("X", "X_train", "x_train", "data"), ("y", "y_train", "target", "labels")
# Sparse inputs fuller than this become dense, unless they are larger than so many bytes.
DENSE_FROM, LARGEST_DENSE = 0.3, 1 << 30


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of any type.

    Attributes
    ----------
    name : str
        Where it comes from.
    frame : polars.DataFrame
    named : bool
        Whether the columns have names of their own.
    notes : tuple of str
        What was guessed.
    """

    name: str
    frame: polars.DataFrame = field(repr=False)
    named: bool = True
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        return int(self.frame.height)


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs as a matrix, with or without targets.

    Attributes
    ----------
    name : str
        Where they come from.
    X : ndarray or csr_array of shape (samples, features)
    y : ndarray or None
    feature_names : tuple of str
        Empty where there are none.
    notes : tuple of str
        What was guessed.
    """

    name: str
    X: Any = field(repr=False)
    y: np.ndarray | None = field(repr=False)
    feature_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def samples(self) -> int:
        return int(self.X.shape[0])


def read_data(
    path: str | os.PathLike[str], *, format: str | None = None, features: int | None = None
) -> Table | Vectors:
    """Read a data file of any known format.

    Parameters
    ----------
    path : path
        "-" is standard input. Files may be compressed by gzip, bzip2 or xz.
    format : {"csv", "tsv", "parquet", "arrow", "svmlight", "npz"}, optional
        Guessed from the name or the content if not given.
    features : int, optional
        Number of features, for svmlight text, which does not tell it.

    Returns
    -------
    Table or Vectors

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin.data import read_data
    >>> with tempfile.NamedTemporaryFile(suffix=".svm") as file:
    ...     _ = file.write(b"+1 1:0.5 6:2\\n-1 2:1\\n")
    ...     file.flush()
    ...     data = read_data(file.name)
    >>> data.X.shape, data.X.nnz, data.y
    ((2, 6), 3, array([ 1, -1]))
    """
    source = open_source(path, format)
    if source.format == "svmlight":
        data: Table | Vectors = read_svmlight(source, features)
    elif source.format == "npz":
        data = read_npz(source)
    else:
        data = read_table(source)
    if data.samples == 0:
        raise DataError(f"{source.name} holds no samples")
    return data


def read_svmlight(source: Source, features: int | None = None) -> Vectors:
    """svmlight (LIBSVM) text: ``label index:value index:value …``, a sample a line."""
    try:
        with source.open() as stream:
            X, y = read_svmlight_text(stream, source.name, features)
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{source.name} is compressed, but damaged: {error}") from error
    X, notes = fitting_form(X)
    return Vectors(source.name, X, whole(y), notes=notes)


def read_npz(source: Source) -> Vectors:
    """A NumPy archive of inputs and targets, or a sparse matrix of SciPy."""
    content = source.read()
    if not is_zipfile(io.BytesIO(content)):
        raise DataError(f"{source.name} is no NPZ archive, or a damaged one")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            if {"indptr", "indices", "data", "shape"} <= set(archive.files):
                matrix = sparse.csr_array(sparse.load_npz(io.BytesIO(content)))
                X, notes = fitting_form(matrix.astype(np.float64))
                return Vectors(source.name, X, None, notes=notes)
            inputs = next((key for key in INPUTS if key in archive.files), None)
            if inputs is None:
                raise DataError(
                    f"{source.name} must have an array named {' or '.join(INPUTS)}, "
                    f"it has {', '.join(archive.files) or 'none'}"
                )
            target = next((key for key in TARGETS if key in archive.files), None)
            X, y = archive[inputs], None if target is None else archive[target]
            names = archive["feature_names"] if "feature_names" in archive.files else []
    except DataError:
        raise
    except (ValueError, OSError, EOFError, KeyError, TypeError, BadZipFile, zlib.error) as error:
        raise DataError(f"{source.name} cannot be read as NPZ: {error}") from error
    return _checked_vectors(source.name, X, y, names, (inputs, target))


def _checked_vectors(name: str, X: Any, y: Any, names: Any, keys: tuple[Any, Any]) -> Vectors:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(f"{name}: {keys[0]} must be a matrix of numbers, got {X.dtype}{X.shape}")
    X = X.astype(np.float64)
    bad = ~np.isfinite(X)
    if bad.any():
        columns = np.flatnonzero(bad.any(axis=0))
        listed = ", ".join(str(names[c]) if len(names) else str(c) for c in columns[:5])
        raise DataError(
            f"{name}: {int(bad.sum())} values are missing or infinite, in the columns {listed}"
            f"{', …' if columns.size > 5 else ''}: fill them, or write the data as CSV and use "
            "--impute median"
        )
    if y is not None and y.shape != (X.shape[0],):
        raise DataError(f"{name}: {keys[1]} must have {X.shape[0]} entries, got shape {y.shape}")
    feature_names = tuple(map(str, names)) if len(names) == X.shape[1] else ()
    notes = (f"inputs are {keys[0]}" + ("" if y is None else f", targets {keys[1]}"),)
    return Vectors(name, X, y, feature_names, notes)


def read_table(source: Source) -> Table:
    """A table of CSV, TSV, Parquet or Arrow."""
    polars = _polars()
    try:
        if source.format == "parquet":
            return Table(source.name, polars.read_parquet(io.BytesIO(source.read())))
        if source.format == "arrow":
            return Table(source.name, polars.read_ipc(io.BytesIO(source.read())))
        return _read_text(source)
    except polars.exceptions.PolarsError as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{source.name} cannot be read as {source.format}: {first}") from error


def _read_text(source: Source) -> Table:
    polars = _polars()
    content = source.read()
    notes = []
    try:
        content.decode()
    except UnicodeDecodeError:
        content = content.decode("latin-1").encode()
        notes.append("the text is not UTF-8: read as Latin-1")
    lines = content[: 1 << 16].decode(errors="ignore").splitlines()
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise DataError(f"{source.name} is empty")
    separator = "\t" if source.format == "tsv" else separator_of(lines)
    if separator not in ",\t":
        notes.append(f"columns are separated by {separator!r}")
    header = has_header(lines, separator)
    frame = polars.read_csv(
        io.BytesIO(content),
        separator=separator,
        has_header=header,
        null_values=list(MISSING),
        infer_schema_length=None,
        try_parse_dates=True,
    )
    frame = frame.rename({name: name.strip() for name in frame.columns})
    if not header:
        notes.append("the first line holds values, not names")
    return Table(source.name, frame, header, tuple(notes))


def separator_of(lines: list[str]) -> str:
    """What separates columns: the character that all first lines have equally often."""

    def evidence(separator: str) -> tuple[bool, int]:
        counts = [line.count(separator) for line in lines[:20]]
        return min(counts) > 0 and min(counts) == max(counts), min(counts)

    return max((",", ";", "\t", "|"), key=evidence)


def has_header(lines: list[str], separator: str) -> bool:
    """Whether the first line names the columns: it holds no number."""
    cells = [cell.strip().strip('"') for cell in lines[0].split(separator)]
    return not any(is_number(cell) for cell in cells) and len(lines) > 1


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() not in ("nan", "inf", "infinity")


def fitting_form(X: Any) -> tuple[Any, tuple[str, ...]]:
    """Sparse inputs in the form in which they are cheaper to compute with."""
    entries = X.shape[0] * X.shape[1]
    if entries and X.nnz > DENSE_FROM * entries and 8 * entries <= LARGEST_DENSE:
        return X.toarray(), (f"kept dense: {X.nnz / entries:.0%} of the entries are not 0",)
    return X, ()


def whole(values: np.ndarray) -> np.ndarray:
    """Numbers as integers, where all are whole."""
    if values.dtype.kind == "f" and (np.abs(values) < 2**53).all() and (values % 1 == 0).all():
        return values.astype(np.int64)
    return values


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise DataError(
            "tables are read with polars, which is not installed: pip install 'maxmargin[cli]'"
        ) from error
    return polars
