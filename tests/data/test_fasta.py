"""The FASTA reader: headers, wrapped lines, compression, and files that are something else."""

import bz2
import gzip
import lzma

import pytest

from maxmargin.data import FastaRecord, read_fasta

TEXT = ">a first entry\nACGT\nac gt\n\n>b\n;a remark\nNNN\n>empty\n"
RECORDS = [
    FastaRecord("a", "first entry", "ACGTacgt"),
    FastaRecord("b", "", "NNN"),
    FastaRecord("empty", "", ""),
]


def test_wrapped_lines_are_joined_and_headers_split():
    assert read_fasta(TEXT.splitlines(keepends=True)) == RECORDS


def test_lines_may_end_as_on_windows():
    assert read_fasta(TEXT.replace("\n", "\r\n").splitlines(keepends=True)) == RECORDS


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        ("", bytes),
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
    ],
)
def test_file_is_decompressed_by_its_suffix(tmp_path, suffix, compress):
    path = tmp_path / f"sequences.fna{suffix}"
    path.write_bytes(compress(TEXT.encode()))
    assert read_fasta(path) == read_fasta(str(path)) == RECORDS


def test_open_file_is_read(tmp_path):
    path = tmp_path / "sequences.fna"
    path.write_text(TEXT)
    with open(path) as file:
        assert read_fasta(file) == RECORDS


def test_nothing_holds_no_records():
    assert read_fasta([]) == []


def test_letters_before_the_first_header_are_refused():
    with pytest.raises(ValueError, match="not FASTA: line 2 comes before any header"):
        read_fasta(["\n", "ACGT\n"])
