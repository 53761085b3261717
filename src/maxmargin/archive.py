"""The container of model files: a zip of one JSON text and NumPy arrays, checked before use.

    model.json          {"format", "version", "arrays": {name: SHA-256}, "content"}
    model.sha256        SHA-256 of model.json
    <name>.npy          one member for each array

Members are stored uncompressed, so that what is read into memory is never larger than the file.
Nothing in it is executed, and equal contents give equal files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import secrets
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

# What writes a file of each format, and the version of both.
MODEL, ONLINE, VERSION = "maxmargin model", "maxmargin online model", 1
WRITERS = {MODEL: "`maxmargin train` or maxmargin.models.save", ONLINE: "OnlineSVC.save"}
TEXT, DIGEST, SUFFIX = "model.json", "model.sha256", ".npy"
# What a model needs at most: JSON in bytes, members, bytes of the header of an array.
LARGEST_TEXT, MOST_MEMBERS, LARGEST_HEADER = 1 << 25, 10_000, 10_000
# Booleans, whole and real numbers, texts, bytes.
KINDS = "biufUS"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")
# The date of all members: the first that zip knows.
EPOCH = (1980, 1, 1, 0, 0, 0)


class ModelFileError(ValueError):
    """A model file is damaged, of an unknown version, or none at all."""


class Contents(NamedTuple):
    """What a container holds: JSON values, and arrays by name."""

    values: Any
    arrays: dict[str, np.ndarray]


def write_archive(path: str | os.PathLike[str], contents: Contents, format: str = MODEL) -> None:
    """Write a container; a file of that name is replaced as a whole or not at all."""
    with replacing(path) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        digests = {}
        for name, array in sorted(contents.arrays.items()):
            data = array_bytes(name, array)
            digests[name] = hashlib.sha256(data).hexdigest()
            archive.writestr(zipfile.ZipInfo(name + SUFFIX, EPOCH), data)
        head = {"format": format, "version": VERSION, "arrays": digests}
        text = json.dumps({**head, "content": contents.values}, allow_nan=False, indent=1)
        data = text.encode()
        if len(data) > LARGEST_TEXT:
            raise ValueError(
                f"the description of a model must not exceed {LARGEST_TEXT:,} bytes, "
                f"got {len(data):,}"
            )
        archive.writestr(zipfile.ZipInfo(TEXT, EPOCH), data)
        archive.writestr(zipfile.ZipInfo(DIGEST, EPOCH), hashlib.sha256(data).hexdigest())


def read_archive(path: str | os.PathLike[str], format: str = MODEL) -> Contents:
    """Read a container whose every byte is accounted for; else `ModelFileError`."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
            members = checked_members(archive, os.fstat(stream.fileno()).st_size)
            head = checked_head(archive.read(members[TEXT]), archive.read(members[DIGEST]), format)
            return Contents(head["content"], checked_arrays(archive, members, head["arrays"]))
    except OSError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except zipfile.BadZipFile as error:
        raise ModelFileError(
            f"{name} is no model file, or a damaged one ({error}): give a file written by "
            f"{WRITERS[format]}"
        ) from error
    except (ValueError, KeyError, TypeError, NotImplementedError, RuntimeError, EOFError) as error:
        raise ModelFileError(f"{name} is damaged: {error}") from error


def array_bytes(name: str, array: np.ndarray) -> bytes:
    """An array in NumPy's own file format."""
    if array.dtype.kind not in KINDS:
        raise ValueError(f"{name} must hold numbers or texts, got dtype {array.dtype}")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def checked_members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The members by name, if they are stored as they are and not longer than the file."""
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS:
        raise ModelFileError(f"it has {len(infos):,} members, {MOST_MEMBERS:,} are allowed")
    for info in infos:
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ModelFileError(f"member {info.filename!r} is compressed; models never are")
    if sum(info.file_size for info in infos) > size:
        raise ModelFileError("its members overlap")
    members = {info.filename: info for info in infos}
    if len(members) < len(infos):
        raise ModelFileError("two members have the same name")
    for required in (TEXT, DIGEST):
        if required not in members:
            raise ModelFileError(f"it is no model file: member {required!r} is missing")
    if members[TEXT].file_size > LARGEST_TEXT:
        raise ModelFileError(f"its description is longer than {LARGEST_TEXT:,} bytes")
    return members


def checked_head(text: bytes, digest: bytes, format: str) -> dict[str, Any]:
    try:
        head = json.loads(text.decode())
    except RecursionError:
        raise ModelFileError("its description is nested too deeply") from None
    if not isinstance(head, dict) or head.get("format") != format:
        raise ModelFileError(f"it is no model file of {WRITERS[format]}")
    if head.get("version") != VERSION:
        raise ModelFileError(
            f"it is of version {head.get('version')!r} of the format, and this maxmargin reads "
            f"version {VERSION}: update maxmargin, or write the file with an older one"
        )
    if hashlib.sha256(text).hexdigest().encode() != digest:
        raise ModelFileError("its description does not match its checksum: the file is damaged")
    if not isinstance(head.get("arrays"), dict) or "content" not in head:
        raise ModelFileError("its description is incomplete")
    return head


def checked_arrays(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], digests: dict[str, str]
) -> dict[str, np.ndarray]:
    if {name + SUFFIX for name in digests} != set(members) - {TEXT, DIGEST}:
        raise ModelFileError("the arrays in the file are not those of its description")
    arrays = {}
    for name, digest in digests.items():
        if not NAME.fullmatch(name):
            raise ModelFileError(f"{name!r} is no name of an array")
        data = archive.read(members[name + SUFFIX])
        if hashlib.sha256(data).hexdigest() != digest:
            raise ModelFileError(f"array {name!r} does not match its checksum: it is damaged")
        arrays[name] = array_of(name, data)
    return arrays


def array_of(name: str, data: bytes) -> np.ndarray:
    """The array in NumPy's file format, if its header tells exactly the bytes that follow."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        header = np.lib.format.read_array_header_1_0(stream, max_header_size=LARGEST_HEADER)
    elif version == (2, 0):
        header = np.lib.format.read_array_header_2_0(stream, max_header_size=LARGEST_HEADER)
    else:
        raise ModelFileError(f"array {name!r} has version {version} of NumPy's format")
    shape, by_columns, dtype = header
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ModelFileError(f"array {name!r} has dtype {dtype}; numbers and texts are allowed")
    count = 1
    for length in shape:
        count *= length
    if min(shape, default=0) < 0 or count * dtype.itemsize != len(data) - stream.tell():
        raise ModelFileError(f"array {name!r} has not the size that its header tells")
    flat = np.frombuffer(data, dtype=dtype, count=count, offset=stream.tell())
    if dtype.kind == "U" and (flat.view(f"{dtype.byteorder}u4") > 0x10FFFF).any():
        raise ModelFileError(f"array {name!r} holds what is no text")
    return flat.reshape(shape[::-1]).T if by_columns else flat.reshape(shape)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream whose content becomes the file, at once and only if all went well."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the new name last; folders cannot be synced everywhere."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
