"""Tables that are dropped into the page."""

import pytest

from maxmargin.lab.rooms import RequestError
from maxmargin.lab.table import read_columns


def test_a_single_row_of_numbers_is_a_table_without_names():
    table = read_columns("1;2;a\n")
    assert table.names == ["column 1", "column 2", "column 3"]
    assert table.cells == [["1"], ["2"], ["a"]]


def test_a_row_of_another_length_than_the_first_is_named():
    with pytest.raises(RequestError, match="line 2 has 3 cells, the first one 2"):
        read_columns("a,b\n1,2,3\n4,5,6\n")


def test_a_header_alone_is_refused():
    with pytest.raises(RequestError, match="a header and no rows"):
        read_columns("a,b\n")


def test_long_names_are_cut():
    table = read_columns(f"{'x' * 61},{'y' * 60}\n1,2\n")
    assert table.names == ["x" * 60, "y" * 60]
