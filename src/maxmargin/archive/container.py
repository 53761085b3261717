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
import math
import os
import re
from typing import IO, Any, NamedTuple

import numpy as np

from .replacing import replacing
from .stored_zip import Member, StoredZipWriter, ZipError, read_content, read_members

# What writes a file of each format, and the version of both.
MODEL, ONLINE, VERSION = "maxmargin model", "maxmargin online model", 1
WRITERS = {MODEL: "`maxmargin train` or maxmargin.models.save", ONLINE: "OnlineSVC.save"}
TEXT, DIGEST, SUFFIX = "model.json", "model.sha256", ".npy"
# Bytes of JSON of a model file.
LARGEST_TEXT = 1 << 25
# Booleans, whole and real numbers, texts, bytes.
KINDS = "biufUS"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")
# What NumPy writes before the numbers: format 1.0, length of the rest, type, order and shape.
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>[<>|][biufUS]\d{1,9})', "
    rb"'fortran_order': (?P<order>True|False), "
    rb"'shape': \((?P<shape>(?:\d{1,18}, ?)*(?:\d{1,18})?)\), \} *\n",
    re.DOTALL,
)


class ModelFileError(ValueError):
    """A model file is damaged, of an unknown version, or none at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin.models import ModelFileError, load
    >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.txt")
    >>> _ = path.write_text("not a model")
    >>> try:
    ...     load(path)
    ... except ModelFileError as error:
    ...     print("refused")
    refused
    """


class Contents(NamedTuple):
    """What a container holds: JSON values, and arrays by name."""

    values: Any
    arrays: dict[str, np.ndarray]


def write_archive(path: str | os.PathLike[str], contents: Contents, format: str = MODEL) -> None:
    """Write a container; a file of that name is replaced as a whole or not at all."""
    with replacing(path) as stream:
        archive, digests = StoredZipWriter(stream), {}
        for name, array in sorted(contents.arrays.items()):
            data = array_bytes(name, array)
            digests[name] = hashlib.sha256(data).hexdigest()
            archive.add(name + SUFFIX, data)
        head = {"format": format, "version": VERSION, "arrays": digests}
        text = json.dumps({**head, "content": contents.values}, allow_nan=False, indent=1)
        data = text.encode()
        if len(data) > LARGEST_TEXT:
            raise ValueError(
                f"the description of a model must not exceed {LARGEST_TEXT:,} bytes, "
                f"got {len(data):,}"
            )
        archive.add(TEXT, data)
        archive.add(DIGEST, hashlib.sha256(data).hexdigest().encode())
        archive.close()


def read_archive(path: str | os.PathLike[str], format: str = MODEL) -> Contents:
    """Read a container whose every byte is accounted for; else `ModelFileError`."""
    name = os.fspath(path)
    with open(path, "rb") as stream:
        try:
            members = checked_members(stream)
            text, digest = (read_content(stream, members[part]) for part in (TEXT, DIGEST))
            head = checked_head(text, digest, format)
            return Contents(head["content"], checked_arrays(stream, members, head["arrays"]))
        except ModelFileError as error:
            raise ModelFileError(f"{name}: {error}") from None
        except ZipError as error:
            raise ModelFileError(
                f"{name} is no model file, or a damaged one ({error}): give a file written by "
                f"{WRITERS[format]}"
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise ModelFileError(f"{name} is damaged: {error}") from error


def array_bytes(name: str, array: np.ndarray) -> bytes:
    """An array in NumPy's own file format."""
    if array.dtype.kind not in KINDS:
        raise ValueError(f"{name} must hold numbers or texts, got dtype {array.dtype}")
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)
    return stream.getvalue()


def checked_members(stream: IO[bytes]) -> dict[str, Member]:
    """The members by name, those that each file has among them."""
    members = read_members(stream, os.fstat(stream.fileno()).st_size, most=10_000)
    for required in (TEXT, DIGEST):
        if required not in members:
            raise ModelFileError(f"it is no model file: member {required!r} is missing")
    if members[TEXT].size > LARGEST_TEXT:
        raise ModelFileError(f"its description is longer than {LARGEST_TEXT:,} bytes")
    return members


def checked_head(text: bytes, digest: bytes, format: str) -> dict[str, Any]:
    try:
        head = json.loads(text.decode(), parse_constant=_refuse_constant)
        # Halves of a character cannot be written anywhere later.
        json.dumps(head, ensure_ascii=False).encode()
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
    stream: IO[bytes], members: dict[str, Member], digests: dict[str, str]
) -> dict[str, np.ndarray]:
    if {name + SUFFIX for name in digests} != set(members) - {TEXT, DIGEST}:
        raise ModelFileError("the arrays in the file are not those of its description")
    arrays = {}
    for name, digest in digests.items():
        if not NAME.fullmatch(name):
            raise ModelFileError(f"{name!r} is no name of an array")
        data = read_content(stream, members[name + SUFFIX])
        if hashlib.sha256(data).hexdigest() != digest:
            raise ModelFileError(f"array {name!r} does not match its checksum: it is damaged")
        arrays[name] = array_of(name, data)
    return arrays


def _refuse_constant(name: str) -> Any:
    raise ModelFileError(f"its description contains {name}")


def array_of(name: str, data: bytes) -> np.ndarray:
    """The array in NumPy's file format, if its header matches the number of bytes exactly."""
    header = HEADER.match(data)
    if header is None or header.end() != 10 + int.from_bytes(data[8:10], "little"):
        raise ModelFileError(f"array {name!r} has no header of NumPy's format for numbers or texts")
    dtype = np.dtype(header["dtype"].decode())
    shape = tuple(int(length) for length in header["shape"].decode().split(",") if length.strip())
    if math.prod(shape) * dtype.itemsize != len(data) - header.end():
        raise ModelFileError(f"array {name!r} has not the size that its header tells")
    flat = np.frombuffer(data, dtype=dtype, count=math.prod(shape), offset=header.end())
    if dtype.kind == "U" and not _is_text(flat.view(f"{dtype.byteorder}u4")):
        raise ModelFileError(f"array {name!r} holds what is no text")
    return flat.reshape(shape[::-1]).T if header["order"] == b"True" else flat.reshape(shape)


def _is_text(codes: np.ndarray) -> bool:
    """Whether all are characters, halves of them not counted."""
    halves = (codes >= 0xD800) & (codes < 0xE000)
    return not (halves | (codes > 0x10FFFF)).any()
