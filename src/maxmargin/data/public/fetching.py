"""Fetch a public set: download, convert, check against the stored checksum, keep."""

from __future__ import annotations

import lzma
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...archive.replacing import replacing
from ..sources import DataError
from .catalogue import CATALOGUE, UNAVAILABLE, PublicSet
from .checking import Content, digest, stored
from .web import Web

VARIABLE = "MAXMARGIN_DATA"


class Fetched(NamedTuple):
    """Files that were written, and whether their rows are in the order of the reference."""

    files: tuple[Path, ...]
    same_order: bool


def data_folder() -> Path:
    """``$MAXMARGIN_DATA``, else ``maxmargin/data`` in the cache folder of the user."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "maxmargin" / "data"


def find(name: str) -> PublicSet:
    """The set of this name; the error says which sets exist, and why some are unavailable."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    if name in UNAVAILABLE:
        raise DataError(f"{name} is unavailable: {UNAVAILABLE[name]}")
    raise DataError(f"no public set is called {name!r}; `maxmargin data list` names them all")


def present(chosen: PublicSet, folder: Path) -> bool:
    """Whether all files of a set are in the folder."""
    return all((folder / name).is_file() for name in chosen.files)


def fetch(name: str, folder: Path, web: Web) -> Fetched:
    """Download a set and write its files, unless a checksum differs."""
    chosen = find(name)
    converted = _converted(chosen, web)
    ordered = [_checked(chosen, file, converted[file]) for file in chosen.files]
    folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / file for file in chosen.files)
    for path in paths:
        write(path, converted[path.name])
    return Fetched(paths, all(ordered))


def write(path: Path, content: Content) -> None:
    """An npz file of arrays, or a text compressed by xz."""
    with replacing(path) as stream:
        if isinstance(content, bytes):
            stream.write(lzma.compress(content))
        else:
            np.savez_compressed(stream, **content)


def _converted(chosen: PublicSet, web: Web) -> dict[str, Content]:
    try:
        return chosen.make(web)
    except (DataError, OSError):
        raise
    except (ValueError, KeyError, IndexError, TypeError, EOFError) as error:
        raise DataError(
            f"{chosen.name}: what {chosen.source} sends is not in the expected format ({error})"
        ) from None


def _checked(chosen: PublicSet, file: str, content: Content) -> bool:
    """Whether the rows are in the order of the reference; an error if the rows differ."""
    expected, found = stored()[file], digest(content)
    if found.unordered != expected.unordered:
        raise DataError(
            f"{chosen.name}: {file} as converted from {chosen.source} is not the reference data "
            f"(checksum {found.unordered[:12]}…, expected {expected.unordered[:12]}…); nothing was "
            "written. The source may have changed: please report it"
        )
    return found.ordered == expected.ordered
