"""Checksums of converted arrays, in the order of the rows and without it.

Values are rounded to six decimals before they are hashed, so that a mean or a standard deviation
whose last bit depends on the machine does not change the checksum.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

STORED = Path(__file__).with_name("checksums.json")

Arrays = dict[str, Any]
Content = Arrays | bytes


class Digest(NamedTuple):
    """SHA-256 of the rows as they stand, and of the rows in any order."""

    ordered: str
    unordered: str


def digest(content: Content) -> Digest:
    """The checksums of the arrays of an npz file, or of a text."""
    if isinstance(content, bytes):
        only = hashlib.sha256(content).hexdigest()
        return Digest(only, only)
    ordered, unordered = hashlib.sha256(), hashlib.sha256()
    for part in _parts(content):
        ordered.update(b"".join(part))
        unordered.update(b"".join(sorted(part)))
    return Digest(ordered.hexdigest(), unordered.hexdigest())


@cache
def stored() -> dict[str, Digest]:
    """The checksums of the reference arrays by file name."""
    found = json.loads(STORED.read_text(encoding="utf-8"))
    return {name: Digest(*values) for name, values in found.items()}


def _parts(arrays: Arrays) -> list[list[bytes]]:
    """Hashes of rows, a list for each part (all, or training and test) of the set."""
    if "indptr" in arrays:
        return [_sparse_rows(arrays)]
    endings = [ending for ending in ("", "_train", "_test") if f"y{ending}" in arrays]
    return [_dense_rows(arrays.get(f"X{end}"), arrays[f"y{end}"]) for end in endings]


def _dense_rows(X: Any, y: Any, chunk: int = 2048) -> list[bytes]:
    """Hashes of the rows [x, y], computed for `chunk` rows at a time."""
    targets = _canonical(np.asarray(y).reshape(len(y), 1))
    if X is None:
        return [hashlib.sha256(row.tobytes()).digest() for row in targets]
    hashes: list[bytes] = []
    for start in range(0, len(targets), chunk):
        part = slice(start, start + chunk)
        joined = np.hstack([_canonical(X[part]), targets[part]])
        hashes.extend(hashlib.sha256(row.tobytes()).digest() for row in joined)
    return hashes


def _sparse_rows(arrays: Arrays) -> list[bytes]:
    """Rows of a CSR matrix, its entries in the order of the columns."""
    import scipy.sparse

    X = scipy.sparse.csr_array(
        (arrays["data"], arrays["indices"], arrays["indptr"]), tuple(arrays["shape"])
    )
    X.sum_duplicates()
    indices, values = X.indices.astype("<i8"), _canonical(X.data)
    return [
        hashlib.sha256(indices[a:b].tobytes() + values[a:b].tobytes()).digest()
        for a, b in zip(X.indptr[:-1], X.indptr[1:])
    ]


def _canonical(values: Any) -> Any:
    """Little-endian float64 with 6 decimals, without negative zeros, and 1e300 for NaN."""
    rounded = np.round(np.asarray(values, dtype="<f8"), 6) + 0.0
    return np.where(np.isnan(rounded), 1e300, rounded).astype("<f8")
