"""Texts as spreadsheets and other programs write them."""

import numpy as np
import polars
import pytest

from maxmargin.data import DataError, read_data, schema_of, targets_of

PLAIN = "x,y,kind\n0.5,1,a\n-2.5,2,b\n"


def read(folder, text, name="d.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return read_data(path)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(",", ", "),
        "x ; y;kind\n 0,5;1 ;a\n-2,5; 2; b\n",
        "x,y,kind\r\n\r\n0.5,1,a\r\n\r\n-2.5,2,b\r\n\r\n\r\n",
    ],
    ids=["spaces", "decimal commas", "blank lines"],
)
def test_table_is_that_of_the_plain_text(text, tmp_path):
    assert read(tmp_path, text).frame.equals(read(tmp_path, PLAIN).frame)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_byte_order_mark_tells_the_encoding(encoding, tmp_path):
    data = read(tmp_path, PLAIN.replace("x", "größe"), encoding=encoding)
    assert data.frame.columns == ["größe", "y", "kind"]
    assert data.frame["größe"].to_list() == [0.5, -2.5]


def test_broken_utf16_is_refused(tmp_path):
    (tmp_path / "d.csv").write_bytes(b"\xff\xfea\x00,")
    with pytest.raises(DataError, match="begins like UTF-16, but is not"):
        read_data(tmp_path / "d.csv")


def test_missing_values_between_spaces_are_missing(tmp_path):
    assert read(tmp_path, "x, y\n1, ?\n2, 3\n").frame["y"].to_list() == [None, 3]


def test_decimal_commas_are_said(tmp_path):
    assert "decimal commas: 'x'" in read(tmp_path, "x;kind\n0,5;a\n1,5;b\n").notes


def test_texts_with_commas_stay_texts(tmp_path):
    frame = read(tmp_path, "x;kind\nUlm, Bonn;a\n1,5;b\n").frame
    assert frame["x"].to_list() == ["Ulm, Bonn", "1,5"]


def test_one_bad_cell_among_decimal_commas_is_shown_with_its_line(tmp_path):
    rows = [f"{i},5;{'ab'[i % 2]}" for i in range(40)]
    rows[7] = "n/k;b"
    data = read(tmp_path, "x;kind\n" + "\n".join(rows) + "\n")
    with pytest.raises(DataError, match=r"except for 'n/k' in line 9:"):
        schema_of(data)


def test_lines_are_counted_with_blank_ones(tmp_path):
    data = read(tmp_path, "x,w,kind\n1,2,a\n\n3,4,b\n\n1.5,6,\n\ninf,1,a\n")
    assert "3 blank lines are left out" in data.notes
    schema = schema_of(data)[0]
    with pytest.raises(DataError, match=r"'kind' of d\.csv is missing in line 6:"):
        targets_of(data, schema)
    with pytest.raises(DataError, match="infinite values, in line 8"):
        schema.features(data)


def test_rows_of_separators_are_rows_where_no_line_is_blank(tmp_path):
    assert read(tmp_path, "x,kind\n1,a\n,\n").samples == 2


def test_years_above_numbers_are_names(tmp_path):
    frame = read(tmp_path, "2019,2020,price\n1,2,3\n4,5,6\n").frame
    assert frame.columns == ["2019", "2020", "price"]


def test_names_alone_are_no_samples(tmp_path):
    with pytest.raises(DataError, match="holds no samples"):
        read(tmp_path, "x,y,kind\n")


def test_columns_of_one_name_are_told_apart_and_said(tmp_path):
    data = read(tmp_path, "x,x,kind\n1,2,a\n3,4,b\n")
    assert "several columns are named 'x': one is called 'x_duplicated_0' here" in data.notes


def test_integers_of_any_size_are_numbers(tmp_path):
    data = read(tmp_path, f"x,kind\n{10**25},a\n{3 * 10**25},b\n")
    np.testing.assert_array_equal(schema_of(data)[0].features(data), [[1e25], [3e25]])


def test_decimals_of_parquet_are_numbers(tmp_path):
    column = polars.Series("x", ["1.25", "2.5"]).cast(polars.Decimal(10, 2))
    polars.DataFrame({"x": column, "kind": ["a", "b"]}).write_parquet(tmp_path / "d.parquet")
    data = read_data(tmp_path / "d.parquet")
    np.testing.assert_array_equal(schema_of(data)[0].features(data), [[1.25], [2.5]])


def test_line_with_too_many_cells_is_named(tmp_path):
    with pytest.raises(DataError, match=r"line 3 of d\.csv has 4 cells, and the first has 3"):
        read(tmp_path, "a,b,y\n1,2,u\n5,6,v,7\n")
    with pytest.raises(DataError, match=r"line 4 of d\.csv"):
        read(tmp_path, 'a,y\n"two\nlines",u\nUlm, Bonn,v\n')
