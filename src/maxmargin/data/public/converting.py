"""Converters: from the file of a source to the arrays this project uses."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from ..sources import DataError
from .checking import Arrays

BOARD = {"x": 1, "o": -1, "b": 0}


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


DEPTHS = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen"
)


def rows_of(text: bytes, separator: str | None = ",") -> list[list[str]]:
    """The cells of a text, without its empty lines."""
    lines = text.decode("latin-1").splitlines()
    return [[cell.strip() for cell in line.split(separator)] for line in lines if line.strip()]


def numeric(
    text: bytes,
    *,
    names: Sequence[str] = (),
    label: Callable[[str], float] = float,
    dtype: str = "f8",
    target: str = "i1",
    cell: Callable[[str], float] = float,
    separator: str | None = ",",
) -> Arrays:
    """A table of numbers whose last column is the target."""
    rows = rows_of(text, separator)
    X = np.array([[cell(entry) for entry in row[:-1]] for row in rows], dtype=dtype)
    y = np.array([label(row[-1]) for row in rows]).astype(target)
    named = {"feature_names": np.array(list(names))} if names else {}
    return {"X": X, "y": y, **named}


def heart_cleveland(text: bytes, names: Sequence[str]) -> Arrays:
    """Complete rows only; none (0) against any (1 to 4) disease."""
    complete = "\n".join(line for line in text.decode().splitlines() if "?" not in line)
    arrays = numeric(complete.encode(), names=names, label=lambda cell: int(float(cell)))
    return {**arrays, "y": (arrays["y"] > 0).astype("i1"), "y_multi": arrays["y"]}


def abalone(text: bytes, names: Sequence[str]) -> Arrays:
    codes = {"M": 1.0, "F": 2.0, "I": 3.0}
    return numeric(text, names=names, cell=lambda c: codes[c] if c in codes else float(c))


def krkopt(text: bytes, names: Sequence[str]) -> Arrays:
    """Files a to h become 1 to 8; the depth of win, −1 for a draw."""
    return numeric(
        text,
        names=names,
        dtype="i1",
        cell=lambda c: float(ord(c) - ord("a") + 1) if c.isalpha() else float(c),
        label=lambda c: -1 if c == "draw" else DEPTHS.index(c),
    )


def tictactoe(text: bytes) -> Arrays:
    return numeric(
        text, dtype="i1", cell=BOARD.__getitem__, label=lambda c: 1 if c == "positive" else -1
    )


def internet_ads(text: bytes, count: int) -> Arrays:
    """The first rows; missing values become NaN."""
    lines = b"\n".join(text.splitlines()[:count])
    return numeric(
        lines,
        dtype="f4",
        cell=lambda c: np.nan if c == "?" else float(c),
        label=lambda c: 1 if c.rstrip(".") == "ad" else -1,
    )


def first_rows(text: bytes, count: int, names: Sequence[str], dtype: str) -> Arrays:
    """The first rows of a table of numbers."""
    return numeric(b"\n".join(text.splitlines()[:count]), names=names, dtype=dtype)


def svmlight(text: bytes, features: int, dtype: str = "i1", target: str = "i1") -> Arrays:
    X, y = load_svmlight_file(io.BytesIO(text), n_features=features)
    return {"X": X.toarray().astype(dtype), "y": y.astype(target)}


def connect4(text: bytes, names: Sequence[str]) -> Arrays:
    """Three indicators (o, blank, x) for each square become −1, 0, +1."""
    arrays = svmlight(text, 3 * len(names))
    squares = arrays["X"].reshape(len(arrays["y"]), len(names), 3)
    if not np.all(squares.sum(axis=2) == 1):
        raise DataError("connect-4: a square is not exactly one of o, blank and x")
    X = (squares @ np.array([-1, 0, 1], dtype="i1")).astype("i1")
    return {"X": X, "y": arrays["y"], "feature_names": np.array(list(names))}


def parts(train: Arrays, test: Arrays) -> Arrays:
    """Training and test arrays in one file."""
    named = {"train": train, "test": test}
    return {f"{key}_{part}": named[part][key] for part in named for key in ("X", "y")}


def images(pixels: bytes, labels: bytes) -> Arrays:
    """Two idx files of MNIST."""
    count = int.from_bytes(pixels[4:8], "big")
    size = int.from_bytes(pixels[8:12], "big") * int.from_bytes(pixels[12:16], "big")
    if pixels[:4] != b"\0\0\x08\x03" or labels[:4] != b"\0\0\x08\x01":
        raise DataError("MNIST: these are not idx files of bytes")
    X = np.frombuffer(pixels, np.uint8, offset=16).reshape(count, size)
    return {"X": X, "y": np.frombuffer(labels, np.uint8, offset=8)}


def zip_code(text: bytes) -> Arrays:
    """zip.train or zip.test: the digit, then 256 grey values in [−1, 1]."""
    table = np.array(rows_of(text, None), dtype="f8")
    return {"X": table[:, 1:].astype("f4"), "y": table[:, 0].astype("i1")}


def raetsch(text: bytes, name: str, dtype: str) -> Arrays:
    """A set of Rätsch's benchmark in the MATLAB file: all samples and all splits.

    Inputs are rounded to eight significant digits, as the text files of the archive have them.
    """
    from scipy.io import loadmat

    found = loadmat(io.BytesIO(text))[name][0, 0]
    splits = {
        f"splits_{part}": found[part].astype("i8") - 1
        for part in ("train", "test")
        if part in (found.dtype.names or ())
    }
    rounded = [[float(f"{value:.7e}") for value in row] for row in found["x"].tolist()]
    return {"X": np.array(rounded, dtype=dtype), "y": found["t"].ravel().astype("i1"), **splits}


def diabetis(found: Any) -> Arrays:
    """Pima Indians diabetes, standardised over all rows as Rätsch's sets are."""
    raw = np.asarray(found.data, dtype="f8")
    y = np.where(np.asarray(found.target) == "tested_positive", 1, -1).astype("i1")
    return {"X": (raw - raw.mean(axis=0)) / raw.std(axis=0, ddof=1), "y": y, "X_raw": raw}


def by_columns(found: Any, names: Sequence[str]) -> Arrays:
    """A regression of OpenML, its columns put in order by their names."""
    columns = [list(found.feature_names).index(name) for name in names]
    return {
        "X": np.asarray(found.data, dtype="f8")[:, columns],
        "y": np.asarray(found.target, dtype="f8"),
        "feature_names": np.array(list(names)),
    }


def member(archive: bytes, ending: str) -> bytes:
    """The file of a zip or tar archive whose name ends so."""
    if archive.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(archive)) as folder:
            for name in folder.namelist():
                if name.endswith(ending):
                    return folder.read(name)
    else:
        for name, content in tar_files(archive):
            if name.endswith(ending):
                return content
    raise DataError(f"the archive has no file {ending!r}")


def tar_files(archive: bytes) -> list[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as folder:
        opened = ((entry.name, folder.extractfile(entry)) for entry in folder if entry.isfile())
        return [(name, stream.read()) for name, stream in opened if stream is not None]


def sms_spam(text: bytes) -> tuple[Arrays, Arrays, bytes]:
    """Term counts of all tokens, labels, vocabulary."""
    lines = [line.split("\t", 1) for line in text.decode("utf-8").split("\n") if line.strip()]
    counts, vocabulary = term_counts([message for _, message in lines], 1)
    y = np.array([kind == "spam" for kind, _ in lines], dtype="i1")
    return counts, {"y": y}, vocabulary


def newsgroups(archive: bytes) -> tuple[Arrays, Arrays, bytes]:
    """Term counts of the messages by date: training part, then test part, each by group."""
    found = []
    for path, content in tar_files(archive):
        part, group, number = path.split("/")[-3:]
        found.append((part.endswith("test"), group, int(number), content.decode("latin-1")))
    found.sort(key=lambda entry: entry[:3])
    groups = sorted({entry[1] for entry in found})
    counts, vocabulary = term_counts([entry[3] for entry in found], 2)
    labels = {
        "y": np.array([groups.index(entry[1]) for entry in found], dtype="i1"),
        "n_train": np.array(sum(not entry[0] for entry in found)),
        "class_names": np.array(groups),
        "doc_id": np.array([entry[2] for entry in found], dtype="i4"),
    }
    return counts, labels, vocabulary


def term_counts(texts: list[str], documents: int) -> tuple[Arrays, bytes]:
    """Counts of lower-case words of two or more characters that occur in enough `documents`."""
    vectorizer = CountVectorizer(min_df=documents)
    X = vectorizer.fit_transform(texts).astype("i2").tocsr()
    X.sort_indices()
    arrays = {
        "indices": X.indices.astype("i4"),
        "indptr": X.indptr.astype("i4"),
        "format": np.array(b"csr"),
        "shape": np.array(X.shape, dtype="i8"),
        "data": X.data,
    }
    return arrays, "\n".join(vectorizer.get_feature_names_out()).encode() + b"\n"


def genome(text: bytes) -> bytes:
    """FASTA with the sequence on one line."""
    head, *lines = text.decode().splitlines()
    return f"{head}\n{''.join(lines)}\n".encode()
