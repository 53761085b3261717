"""Reading files: tables (CSV, TSV, Parquet, Arrow) and vectors (svmlight, NPZ)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .delimited import read_delimited
from .npz import read_npz
from .sources import ALWAYS_ALLOWED, DataError, Source, open_source
from .svmlight import read_svmlight_text
from .vectors import Vectors, fitting_form, whole

if TYPE_CHECKING:
    import polars


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
    lines : int array, optional
        The line of each row in its file.

    Examples
    --------
    >>> import polars
    >>> from maxmargin.data import Table
    >>> table = Table("fruit", polars.DataFrame({"mass": [1.0, 3.0], "ripe": ["no", "yes"]}))
    >>> table.samples, table.frame.columns
    (2, ['mass', 'ripe'])
    """

    name: str
    frame: polars.DataFrame = field(repr=False)
    named: bool = True
    notes: tuple[str, ...] = ()
    lines: NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def samples(self) -> int:
        return int(self.frame.height)


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
    with source.open() as stream:
        X, y = read_svmlight_text(stream, source.name, features)
    X, notes = fitting_form(X)
    return Vectors(source.name, X, whole(y), notes=notes)


def read_table(source: Source) -> Table:
    """A table of CSV, TSV, Parquet or Arrow."""
    content = source.read()
    with polars_errors(f"{source.name} cannot be read as {source.format}"):
        if source.format in ("parquet", "arrow"):
            return Table(source.name, _in_float64(_read_binary(source, content)))
        _polars()
        separator = "\t" if source.format == "tsv" else None
        frame, named, lines, notes = read_delimited(content, source.name, separator)
        return Table(source.name, _in_float64(frame), named, notes, lines)


@contextmanager
def polars_errors(what: str) -> Iterator[None]:
    """Turn all that polars raises, panics of its own code among them, into `DataError`."""
    errors = _polars().exceptions
    try:
        yield
    except (errors.PolarsError, errors.PanicException, OSError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{what}: {first}") from error


def _read_binary(source: Source, content: bytes) -> polars.DataFrame:
    library = _polars()
    parquet = source.format == "parquet"
    lazy = (library.scan_parquet if parquet else library.scan_ipc)(io.BytesIO(content))
    rows = lazy.select(library.len()).collect().item()
    size = 8 * rows * max(1, len(lazy.collect_schema()))
    if size > max(ALWAYS_ALLOWED, 1000 * len(content)):
        raise DataError(
            f"{source.name} says that it holds {rows:,} rows, which is more than "
            "1000 times its size: write it as CSV if you trust it"
        )
    table: polars.DataFrame
    table = (library.read_parquet if parquet else library.read_ipc)(io.BytesIO(content))
    return table


def _in_float64(frame: polars.DataFrame) -> polars.DataFrame:
    """The table without types of numbers that NumPy lacks: decimals, integers of 128 bits."""
    library = _polars()
    return frame.with_columns(library.col(library.Decimal, library.Int128).cast(library.Float64))


def _polars() -> Any:
    try:
        import polars
    except ImportError as error:
        raise DataError(
            "tables are read with polars, which is not installed: pip install polars"
        ) from error
    return polars
