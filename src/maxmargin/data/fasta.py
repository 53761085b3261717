"""FASTA files: named sequences of letters."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

_OPENERS: dict[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class FastaRecord(NamedTuple):
    """One entry of a FASTA file: first word of the header, rest of the header, letters.

    Attributes
    ----------
    name, description, sequence : str

    Examples
    --------
    >>> from maxmargin.data import FastaRecord
    >>> FastaRecord("first", "a short one", "ACGT").sequence
    'ACGT'
    """

    name: str
    description: str
    sequence: str


def read_fasta(source: str | os.PathLike[str] | Iterable[str]) -> list[FastaRecord]:
    """All entries of a FASTA file, in order.

    Parameters
    ----------
    source : path, open text file or iterable of lines
        Paths that end in ``.gz``, ``.bz2`` or ``.xz`` are decompressed.

    Returns
    -------
    list of FastaRecord
        Letters keep their case. Blank lines, blanks inside sequences and lines that begin with
        ``;`` are skipped.

    Examples
    --------
    >>> from maxmargin.data import read_fasta
    >>> read_fasta([">first a short one", "ACGT", "TTAA", ">second", "ggc"])
    [FastaRecord(name='first', description='a short one', sequence='ACGTTTAA'),
     FastaRecord(name='second', description='', sequence='ggc')]
    """
    if isinstance(source, (str, os.PathLike)):
        with _open(Path(source)) as lines:
            return list(_records(lines))
    return list(_records(source))


def _open(path: Path) -> IO[str]:
    opener = _OPENERS.get(path.suffix, open)
    lines: IO[str] = opener(path, "rt", encoding="ascii")
    return lines


def _records(lines: Iterable[str]) -> Iterator[FastaRecord]:
    header: str | None = None
    parts: list[str] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith(">"):
            if header is not None:
                yield _record(header, parts)
            header, parts = line[1:], []
        elif line.strip() and not line.startswith(";"):
            if header is None:
                raise ValueError(
                    f"source is not FASTA: line {number} comes before any header, "
                    "which begins with '>'"
                )
            parts.extend(line.split())
    if header is not None:
        yield _record(header, parts)


def _record(header: str, parts: list[str]) -> FastaRecord:
    name, _, description = header.strip().partition(" ")
    return FastaRecord(name, description.strip(), "".join(parts))
