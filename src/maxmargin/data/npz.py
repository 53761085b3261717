"""NumPy archives of inputs and targets, and sparse matrices of SciPy; nothing in them is executed.

Members are checked against their headers before memory is taken for them.
"""

from __future__ import annotations

import io
import math
import zlib
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from scipy import sparse

from ..archive import ModelFileError, csr_from
from .sources import ALWAYS_ALLOWED, LARGEST_RATIO, DataError, Source
from .vectors import Vectors, fitting_form

# Names that files give to inputs and targets, the training part first.
INPUTS, TARGETS = ("X", "X_train", "x_train", "data"), ("y", "y_train", "target", "labels")
NAMES, SUFFIX = "feature_names", ".npy"
SPARSE = ("data", "indices", "indptr", "shape")
# What a member can be: numbers, texts.
KINDS = "biufUS"
# What damaged archives lead to.
ERRORS = (
    *(ValueError, KeyError, TypeError, SyntaxError, EOFError, OverflowError, RecursionError),
    *(OSError, BadZipFile, zlib.error, NotImplementedError, RuntimeError, MemoryError),
)


def read_npz(source: Source) -> Vectors:
    """A NumPy archive of inputs and targets, or a sparse matrix of SciPy."""
    content = source.read()
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            return _read(Members(archive, source.name, len(content)), source.name)
    except DataError:
        raise
    except BadZipFile as error:
        raise DataError(f"{source.name} is no NPZ archive, or a damaged one: {error}") from error
    except ERRORS as error:
        raise DataError(f"{source.name} cannot be read as NPZ: {error}") from error


class Members:
    """The arrays of an archive, read one at a time.

    Parameters
    ----------
    archive : ZipFile
    name : str
        Of the file, for errors.
    size : int
        Of the file; what all members say to hold must be in proportion to it.
    """

    def __init__(self, archive: ZipFile, name: str, size: int) -> None:
        self.archive, self.name = archive, name
        infos = archive.infolist()
        self.infos = {i.filename[: -len(SUFFIX)]: i for i in infos if i.filename.endswith(SUFFIX)}
        if sum(info.file_size for info in infos) > max(ALWAYS_ALLOWED, LARGEST_RATIO * size):
            raise DataError(
                f"{name} holds more than {LARGEST_RATIO} times its size once decompressed: save it "
                "by numpy.savez, without compression, if you trust it"
            )

    def __contains__(self, key: str) -> bool:
        return key in self.infos

    def first(self, keys: tuple[str, ...]) -> str | None:
        return next((key for key in keys if key in self), None)

    def __getitem__(self, key: str) -> np.ndarray:
        stream = io.BytesIO(self.archive.read(self.infos[key]))
        version = np.lib.format.read_magic(stream)
        readers: dict[Any, Any] = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in readers:
            raise DataError(f"{self.name}: {key} has version {version} of NumPy's format")
        shape, by_columns, dtype = readers[version](stream)
        if dtype.kind not in KINDS or dtype.hasobject:
            raise DataError(
                f"{self.name}: {key} must hold numbers or texts, got dtype {dtype}, which may hold "
                "code and is not read"
            )
        data = stream.read()
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
            raise DataError(f"{self.name}: {key} has not the size that its header tells")
        flat = np.frombuffer(data, dtype=dtype)
        return flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)


def _read(members: Members, name: str) -> Vectors:
    if all(key in members for key in SPARSE):
        X, notes = fitting_form(_sparse(members, name))
        return Vectors(name, X, None, notes=notes)
    inputs, target = members.first(INPUTS), members.first(TARGETS)
    if inputs is None:
        raise DataError(
            f"{name} must have an array named {' or '.join(INPUTS)}, "
            f"it has {', '.join(members.infos) or 'none'}"
        )
    names = members[NAMES] if NAMES in members else np.empty(0, dtype=str)
    y = None if target is None else _targets(name, target, members[target])
    X = _inputs(name, inputs, members[inputs], names)
    if y is not None and y.shape != (X.shape[0],):
        raise DataError(f"{name}: {target} must have {X.shape[0]} entries, got shape {y.shape}")
    feature_names = tuple(map(str, names)) if names.shape == X.shape[1:] else ()
    notes = (f"inputs are {inputs}" + ("" if y is None else f", targets {target}"),)
    return Vectors(name, X, y, feature_names, notes)


def _sparse(members: Members, name: str) -> Any:
    """The CSR matrix that `scipy.sparse.save_npz` wrote."""
    form = str(members["format"].astype(str)) if "format" in members else "csr"
    if form not in ("csr", "csc"):
        raise DataError(f"{name}: a sparse matrix must be saved as csr or csc, got {form!r}")
    data, indices, indptr, shape = (members[key] for key in SPARSE)
    if data.dtype.kind not in "biuf" or shape.dtype.kind not in "iu" or shape.shape != (2,):
        raise DataError(f"{name}: a sparse matrix must hold numbers, got {data.dtype}")
    index = np.int64 if np.int64 in (indices.dtype, indptr.dtype) else np.int32
    parts = {"data": data.astype(np.float64)}
    for key, array in (("indices", indices), ("indptr", indptr)):
        if array.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
            raise DataError(f"{name}: {key} of a sparse matrix must be int32 or int64")
        parts[key] = array.astype(index)
    lengths = [int(length) for length in shape]
    try:
        matrix = csr_from(parts, lengths if form == "csr" else lengths[::-1], matrix=False)
    except ModelFileError as error:
        raise DataError(f"{name}: {error}") from None
    return matrix if form == "csr" else sparse.csr_array(matrix.T)


def _inputs(name: str, key: str, X: np.ndarray, names: np.ndarray) -> np.ndarray:
    if X.ndim != 2 or X.dtype.kind not in "biuf" or X.shape[1] == 0:
        raise DataError(f"{name}: {key} must be a matrix of numbers, got {X.dtype}{X.shape}")
    X = X.astype(np.float64)
    bad = ~np.isfinite(X)
    if bad.any():
        columns = np.flatnonzero(bad.any(axis=0))
        known = names.shape == X.shape[1:]
        listed = ", ".join(str(names[c]) if known else str(c) for c in columns[:5])
        raise DataError(
            f"{name}: {int(bad.sum())} values are missing or infinite, in the columns {listed}"
            f"{', …' if columns.size > 5 else ''}: fill them, or write the data as CSV and use "
            "--impute median"
        )
    return X


def _targets(name: str, key: str, y: np.ndarray) -> np.ndarray:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(f"{name}: {key} has missing or infinite values: remove these samples")
    return y.astype(np.str_) if y.dtype.kind == "S" else y
