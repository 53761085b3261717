"""Sources of data: a file or standard input, its compression and its format."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

FORMATS = ("csv", "tsv", "parquet", "arrow", "svmlight", "npz")
STDIN = "-"
# Bytes by which a format is recognised.
GLANCE = 1 << 16
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "npz"}
# By their first bytes.
COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
# What decompressing damaged files raises; an OSError of bz2 and gzip has no number.
DAMAGE = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, OSError, ValueError)
NUMBER = rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# label index:value index:value … # comment
SVMLIGHT_LINE = re.compile(
    rb"\s*" + NUMBER + rb"(?:\s+qid:\d+)?(?:\s+\d+:" + NUMBER + rb")+\s*(?:#.*)?"
)


# Limits of decompressed data: bytes, or bytes per byte of the file.
ALWAYS_ALLOWED, LARGEST_RATIO = 1 << 26, 40


class DataError(ValueError):
    """Data cannot be read or used as it is; the message says what to do.

    Examples
    --------
    >>> from maxmargin.data import DataError, read_data
    >>> try:
    ...     read_data("nowhere.csv")
    ... except DataError as error:
    ...     print(error)
    nowhere.csv cannot be read: No such file or directory
    """


@dataclass(frozen=True)
class Source:
    """A file, or standard input read to its end.

    Attributes
    ----------
    name : str
        For people.
    format : str
        One of `FORMATS`.
    path : Path or None
    content : bytes or None
        Of standard input.
    opener : callable or None
        What decompresses.
    """

    name: str
    format: str
    path: Path | None
    content: bytes | None
    opener: Callable[..., Any] | None

    @property
    def size(self) -> int:
        """Of the file as it is, in bytes."""
        return len(self.content or b"") if self.path is None else self.path.stat().st_size

    def open(self) -> IO[bytes]:
        """A stream of the decompressed content."""
        place: Any = io.BytesIO(self.content or b"") if self.path is None else self.path
        if self.opener is None:
            return open(place, "rb") if self.path is not None else place
        most = max(ALWAYS_ALLOWED, LARGEST_RATIO * self.size)
        return io.BufferedReader(Decompressed(self.opener(place, "rb"), self.name, most))

    def read(self, most: int = -1) -> bytes:
        with self.open() as stream:
            return stream.read(most)


class Decompressed(io.RawIOBase):
    """A stream that raises `DataError` if it is damaged or a decompression bomb.

    Parameters
    ----------
    inner : binary stream
        That decompresses.
    name : str
        Of the file, for errors.
    most : int
        Bytes that it may give.
    """

    def __init__(self, inner: Any, name: str, most: int) -> None:
        super().__init__()
        self.inner, self.name, self.left, self.most = inner, name, most, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = int(self.inner.readinto(buffer))
        except DAMAGE as error:
            raise DataError(f"{self.name} is compressed, but damaged: {error}") from error
        self.left -= count
        if self.left < 0:
            raise DataError(
                f"{self.name} holds more than {self.most:,} bytes once decompressed, which is more "
                f"than {LARGEST_RATIO} times its size: decompress it first if you trust it"
            )
        return count

    def close(self) -> None:
        self.inner.close()
        super().close()


def open_source(path: str | os.PathLike[str], format: str | None = None) -> Source:
    """Detect the format of a file by its name, or else by its content.

    Parameters
    ----------
    path : path
        "-" is standard input.
    format : str, optional
        One of `FORMATS`, if known.
    """
    if format is not None and format not in FORMATS:
        raise DataError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    if os.fspath(path) == STDIN:
        content = sys.stdin.buffer.read()
        source = Source("standard input", "", None, content, decompression(content))
        return _of_format(source, format)
    place = Path(path)
    if place.is_dir():
        raise DataError(f"{place} is a folder: give a file")
    try:
        with open(place, "rb") as stream:
            opener = decompression(stream.read(8))
    except OSError as error:
        raise DataError(f"{place} cannot be read: {error.strerror or error}") from error
    named = place.with_suffix("") if opener is not None else place
    ending = format or ENDINGS.get(named.suffix.lower())
    return _of_format(Source(place.name, "", place, None, opener), ending)


def _of_format(source: Source, format: str | None) -> Source:
    format = format or format_of(source.read(GLANCE), source.name)
    return Source(source.name, format, source.path, source.content, source.opener)


def decompression(head: bytes) -> Callable[..., Any] | None:
    """What decompresses content that begins like this."""
    for magic, opener in COMPRESSED.items():
        if head.startswith(magic):
            return opener
    return None


def format_of(head: bytes, name: str) -> str:
    """The format of content that begins like this."""
    for magic, format in MAGIC.items():
        if head.startswith(magic):
            return format
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith(b"#")]
    if not lines:
        raise DataError(f"{name} is empty")
    if SVMLIGHT_LINE.fullmatch(lines[0]):
        return "svmlight"
    if b"\x00" in head:
        raise DataError(
            f"the format of {name} is unknown: give one of {', '.join(FORMATS)} as --format"
        )
    return "tsv" if lines[0].count(b"\t") > lines[0].count(b",") else "csv"
