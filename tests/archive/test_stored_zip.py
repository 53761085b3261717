"""Files of stored members: read by any zip, and no byte of them may change."""

import io
import zipfile

import pytest

from maxmargin.archive import stored_zip
from maxmargin.archive.stored_zip import (
    END,
    END_64,
    ENTRY,
    LOCAL,
    LOCATOR,
    Member,
    StoredZipWriter,
    ZipError,
    directory,
    directory_entry,
    local_header,
    read_content,
    read_members,
)

MEMBERS = {"first.npy": b"some bytes", "empty": b"", "last.json": bytes(range(256))}
ANY_SIZE = pytest.mark.parametrize("largest", [None, 300, 200, 12, 1])


@pytest.fixture
def written(largest, monkeypatch):
    """A file, with 64-bit fields from a small size on."""
    if largest is not None:
        monkeypatch.setattr(stored_zip, "LARGEST", largest)
    stream = io.BytesIO()
    writer = StoredZipWriter(stream)
    for name, content in MEMBERS.items():
        writer.add(name, content)
    writer.close()
    return stream.getvalue()


def test_sizes_and_places_from_two_gigabytes_on_are_in_64_bit_fields():
    limit = 1 << 31
    for size, offset, wide in (
        (limit - 1, limit - 1, 0),
        (limit, limit - 1, 16),
        (limit, limit, 24),
    ):
        member = Member("a", size, 0, offset)
        assert len(directory_entry(member, 0)) == ENTRY.size + 1 + (4 + wide if wide else 0)
    # The local header has them for somewhat smaller contents already.
    for size, wide in ((int(limit / 1.06), False), (int(limit / 1.04), True), (limit, True)):
        assert len(local_header(Member("a", size, 0, 0))) == LOCAL.size + 1 + 20 * wide
    for start, wide in ((limit - 1, False), (limit, True)):
        assert len(directory([], start, 0)) == END.size + (END_64.size + LOCATOR.size) * wide


def contents(data, most=3):
    stream = io.BytesIO(data)
    members = read_members(stream, len(data), most)
    return {name: read_content(stream, member) for name, member in members.items()}


@ANY_SIZE
def test_every_zip_reader_finds_the_members(written):
    assert contents(written) == MEMBERS
    with zipfile.ZipFile(io.BytesIO(written)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == MEMBERS
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.external_attr >> 16 == 0o600
            assert not info.comment


@ANY_SIZE
def test_no_byte_may_change_and_none_may_be_missing(written):
    for place in range(len(written)):
        changed = bytearray(written)
        changed[place] ^= 1
        assert contents_or_none(bytes(changed)) is None
        assert contents_or_none(written[:place]) is None
    assert contents_or_none(written + b"\0") is None


def contents_or_none(data):
    try:
        return contents(data)
    except ZipError:
        return None


@pytest.mark.parametrize("largest", [None])
def test_files_of_windows_are_read(written):
    entries = [i for i in range(len(written)) if written[i : i + 4] == b"PK\x01\x02"]
    changed = bytearray(written)
    for place in entries:
        changed[place + 5] = stored_zip.System.WINDOWS
    assert contents(bytes(changed)) == MEMBERS


@pytest.mark.parametrize("largest", [None])
def test_what_is_wrong_is_said(written):
    with pytest.raises(ZipError, match="more than 2 members"):
        contents(written, most=2)
    with pytest.raises(ZipError, match="does not begin as one"):
        contents(b"no zip at all")
    with pytest.raises(ZipError, match="cut after byte 0"):
        contents(written[:20])
    with pytest.raises(ZipError, match=r"member 'first\.npy' is longer than the file"):
        contents(written[:45])
    compressed = bytearray(written)
    compressed[8] = 8
    with pytest.raises(ZipError, match="the member at byte 0 is compressed"):
        contents(bytes(compressed))
    twice = io.BytesIO()
    writer = StoredZipWriter(twice)
    writer.add("same", b"1")
    writer.add("same", b"2")
    writer.close()
    with pytest.raises(ZipError, match="two members named 'same'"):
        contents(twice.getvalue())
    changed = bytearray(written)
    changed[written.index(b"some bytes")] ^= 1
    with pytest.raises(ZipError, match=r"'first\.npy' does not match its CRC-32"):
        contents(bytes(changed))


@pytest.mark.parametrize("length", [255, 256])
def test_names_are_short(length):
    stream = io.BytesIO()
    writer = StoredZipWriter(stream)
    writer.add("n" * length, b"1")
    writer.close()
    if length == 255:
        assert contents(stream.getvalue()) == {"n" * 255: b"1"}
    else:
        with pytest.raises(ZipError, match="header at byte 0 is damaged"):
            contents(stream.getvalue())
