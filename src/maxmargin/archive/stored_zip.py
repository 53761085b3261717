"""A zip of uncompressed members of which every byte is determined by their names and contents.

    for each member     local header, name, content
    for each member     directory entry, name
    end record

There are no dates, comments, gaps or extra fields; sizes from 2 GiB on are in zip64 fields. The
reader computes these bytes again and refuses a file that has others, so that no damage goes
unnoticed, wherever it is.
"""

from __future__ import annotations

import struct
import zlib
from enum import IntEnum
from typing import IO, NamedTuple

LOCAL, ENTRY = struct.Struct("<4s2B4H3L2H"), struct.Struct("<4s4B4H3L5H2L")
END, END_64, LOCATOR = (struct.Struct(f) for f in ("<4s4H2LH", "<4sQ2H2L4Q", "<4sLQL"))
LOCAL_MARK, ENTRY_MARK, END_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
END_64_MARK, LOCATOR_MARK = b"PK\x06\x06", b"PK\x06\x07"
# Version of zip that can read it, without and with 64-bit sizes; the first date that zip knows.
VERSION, VERSION_64, DATE = 20, 45, 0x21
# Larger sizes and offsets are in 64-bit fields, and this is in their place.
LARGEST, ELSEWHERE = (1 << 31) - 1, 0xFFFFFFFF


class System(IntEnum):
    """Systems on which files were written; the writer names the first everywhere."""

    UNIX = 3
    WINDOWS = 0


class ZipError(ValueError):
    """A file has not this layout."""


class Member(NamedTuple):
    """A member of the file: its header begins at `offset`."""

    name: str
    size: int
    crc: int
    offset: int

    @property
    def start(self) -> int:
        """Where its content begins."""
        return self.offset + len(local_header(self))

    @property
    def wide(self) -> bool:
        """Whether its local header has 64-bit sizes, also of a content nearly as long."""
        return self.size * 1.05 > LARGEST


class StoredZipWriter:
    """Writes members to a binary stream, one after the other."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.place = stream, 0
        self.members: list[Member] = []

    def add(self, name: str, content: bytes) -> None:
        member = Member(name, len(content), zlib.crc32(content), self.place)
        self.members.append(member)
        self._write(local_header(member))
        self._write(content)

    def close(self) -> None:
        self._write(directory(self.members, self.place, System.UNIX))

    def _write(self, data: bytes) -> None:
        self.stream.write(data)
        self.place += len(data)


def read_members(stream: IO[bytes], size: int, most: int) -> dict[str, Member]:
    """The members of a file of that size, up to a limit, if it has this layout."""
    members: dict[str, Member] = {}
    place = 0
    while mark_at(stream, place) == LOCAL_MARK:
        member = member_at(stream, place, size)
        if member.name in members:
            raise ZipError(f"it has two members named {member.name!r}")
        members[member.name] = member
        if len(members) > most:
            raise ZipError(f"it has more than {most:,} members")
        place = member.start + member.size
    if not members:
        raise ZipError("it does not begin as one")
    listed = list(members.values())
    expected = [directory(listed, place, system) for system in System]
    stream.seek(place)
    if size - place != len(expected[0]) or stream.read() not in expected:
        raise ZipError(f"it is cut or changed from byte {place:,} on")
    return members


def read_content(stream: IO[bytes], member: Member) -> bytes:
    stream.seek(member.start)
    content = stream.read(member.size)
    if len(content) != member.size or zlib.crc32(content) != member.crc:
        raise ZipError(f"member {member.name!r} does not match its CRC-32")
    return content


def mark_at(stream: IO[bytes], place: int) -> bytes:
    stream.seek(place)
    return stream.read(len(LOCAL_MARK))


def member_at(stream: IO[bytes], place: int, size: int) -> Member:
    stream.seek(place)
    head = stream.read(LOCAL.size)
    if len(head) < LOCAL.size:
        raise ZipError(f"it is cut after byte {place:,}")
    _, _, _, _, method, _, _, crc, _, length, name_length, extra_length = LOCAL.unpack(head)
    if method:
        raise ZipError(f"the member at byte {place:,} is compressed; those of models never are")
    if name_length > 255 or extra_length not in (0, 20):
        raise ZipError(f"the header at byte {place:,} is damaged")
    name, extra = stream.read(name_length), stream.read(extra_length)
    if len(extra) == 20:
        length = struct.unpack("<HHQQ", extra)[2]
    if not name.isascii():
        raise ZipError(f"the name at byte {place:,} is damaged")
    member = Member(name.decode("ascii"), length, crc, place)
    if head + name + extra != local_header(member):
        raise ZipError(f"the header at byte {place:,} is damaged")
    if member.start + member.size > size:
        raise ZipError(f"it is cut: member {member.name!r} is longer than the file")
    return member


def local_header(member: Member) -> bytes:
    name, size, extra = member.name.encode("ascii"), member.size, b""
    if member.wide:
        extra, size = struct.pack("<HHQQ", 1, 16, size, size), ELSEWHERE
    version = VERSION_64 if member.wide else VERSION
    lengths = (len(name), len(extra))
    head = LOCAL.pack(LOCAL_MARK, version, 0, 0, 0, 0, DATE, member.crc, size, size, *lengths)
    return head + name + extra


def directory_entry(member: Member, system: int) -> bytes:
    name, size, offset = member.name.encode("ascii"), member.size, member.offset
    large: list[int] = []
    if size > LARGEST:
        large, size = [size, size], ELSEWHERE
    if offset > LARGEST:
        large, offset = [*large, offset], ELSEWHERE
    extra = struct.pack(f"<HH{len(large)}Q", 1, 8 * len(large), *large) if large else b""
    version = VERSION_64 if large or member.wide else VERSION
    head = ENTRY.pack(
        ENTRY_MARK,
        version,
        system,
        version,
        *(0, 0, 0, 0, DATE),
        member.crc,
        size,
        size,
        len(name),
        len(extra),
        *(0, 0, 0),
        0o600 << 16,  # readable by their owner
        offset,
    )
    return head + name + extra


def directory(members: list[Member], start: int, system: int) -> bytes:
    """All that follows the members, the first of which begins at 0."""
    entries = b"".join(directory_entry(member, system) for member in members)
    count, length, end = len(members), len(entries), start + len(entries)
    wide = b""
    if start > LARGEST:
        counts = (count, count, length, start)
        wide = END_64.pack(END_64_MARK, 44, VERSION_64, VERSION_64, 0, 0, *counts)
        wide += LOCATOR.pack(LOCATOR_MARK, 0, end, 1)
    start = min(start, ELSEWHERE)
    return entries + wide + END.pack(END_MARK, 0, 0, count, count, length, start, 0)
