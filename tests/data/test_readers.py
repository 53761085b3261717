"""Files become tables and vectors: formats, guesses, errors."""

import bz2
import gzip
import io
import lzma
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import polars
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from maxmargin.data import DataError, Table, Vectors, read_data
from maxmargin.data.sources import format_of

CSV = "length,width,kind\n1.5,2,a\n2.5,4,b\n"
SVM = "+1 1:0.5 7:2\n-1 2:1 # a comment\n"


def file(folder, name, content):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def frame_of(path, **options):
    data = read_data(path, **options)
    assert isinstance(data, Table)
    return data.frame


# ---- formats --------------------------------------------------------------------------------

FRAME = polars.DataFrame({"length": [1.5, 2.5], "width": [2, 4], "kind": ["a", "b"]})


def written(method):
    stream = io.BytesIO()
    getattr(FRAME, method)(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", CSV),
        ("t.tsv", CSV.replace(",", "\t")),
        ("t.parquet", written("write_parquet")),
        ("t.arrow", written("write_ipc")),
        ("t.feather", written("write_ipc")),
        ("t.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("t.csv.bz2", bz2.compress(CSV.encode())),
        ("t.csv.xz", lzma.compress(CSV.encode())),
        ("no-ending", CSV),
        ("no-ending-parquet", written("write_parquet")),
        ("no-ending-arrow", written("write_ipc")),
        ("semicolon.csv", CSV.replace(",", ";")),
        ("pipe.csv", CSV.replace(",", "|")),
    ],
)
def test_table_is_the_same_in_every_format(name, content, tmp_path):
    assert frame_of(file(tmp_path, name, content)).equals(FRAME)


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        ("d.svm", bytes),
        ("d.libsvm", bytes),
        ("d.svmlight.gz", gzip.compress),
        ("d.svm.bz2", bz2.compress),
        ("d.svm.xz", lzma.compress),
        ("no-ending", bytes),
        ("no-ending.xz", lzma.compress),
    ],
)
def test_svmlight_text_is_the_same_however_compressed(name, compress, tmp_path):
    data = read_data(file(tmp_path, name, compress(SVM.encode())))
    np.testing.assert_array_equal(data.X.toarray()[:, [0, 1, 6]], [[0.5, 0, 2], [0, 1, 0]])
    np.testing.assert_array_equal(data.y, [1, -1])
    assert data.y.dtype.kind == "i"


def test_svmlight_with_real_targets_keeps_them(tmp_path):
    data = read_data(file(tmp_path, "d.svm", "0.5 1:1\n2 1:2\n"))
    np.testing.assert_array_equal(data.y, [0.5, 2.0])


def test_svmlight_gets_the_number_of_features_it_does_not_tell(tmp_path):
    assert read_data(file(tmp_path, "d.svm", SVM), features=20).X.shape == (2, 20)
    with pytest.raises(DataError, match="cannot be read as svmlight text"):
        read_data(tmp_path / "d.svm", features=3)


def test_full_svmlight_text_becomes_dense(tmp_path):
    data = read_data(file(tmp_path, "d.svm", "1 1:1 2:2\n2 1:3 2:4\n"))
    assert isinstance(data.X, np.ndarray)
    assert data.notes == ("kept dense: 100% of the entries are not 0",)


@pytest.mark.parametrize("keys", [("X", "y"), ("X_train", "y_train"), ("data", "target")])
def test_npz_is_found_by_the_names_of_its_arrays(keys, tmp_path):
    X, y = np.arange(6, dtype=np.uint8).reshape(3, 2), np.array(["a", "b", "a"])
    np.savez(tmp_path / "d.npz", **dict(zip(keys, (X, y))))
    data = read_data(tmp_path / "d.npz")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert data.X.dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
def test_npz_is_read_in_either_order_of_its_entries(order, tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0])
    np.savez(tmp_path / "d.npz", X=np.array(X, order=order), y=y)
    np.testing.assert_array_equal(read_data(tmp_path / "d.npz").X, X)


def test_sparse_npz_has_no_targets(tmp_path):
    sparse.save_npz(tmp_path / "d.npz", sparse.eye_array(20, format="csr"))
    data = read_data(tmp_path / "d.npz")
    assert data.y is None
    assert data.X.nnz == 20


def test_standard_input_is_read_by_its_content(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(CSV.encode())))
    assert frame_of("-").equals(FRAME)
    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lzma.compress(SVM.encode())))
    )
    assert isinstance(read_data("-"), Vectors)


def test_format_given_wins_over_the_name(tmp_path):
    path = file(tmp_path, "d.csv", SVM)
    assert isinstance(read_data(path, format="svmlight"), Vectors)


@pytest.mark.parametrize(
    ("line", "format"),
    [
        (b"1 1:2 3:4", "svmlight"),
        (b"-1.5e3 qid:3 1:2 # comment", "svmlight"),
        (b"a,b", "csv"),
        (b"a\tb", "tsv"),
        (b"12:30,1:2", "csv"),
    ],
)
def test_format_is_told_by_the_first_line(line, format):
    assert format_of(line + b"\n", "file") == format


# ---- tables as text -------------------------------------------------------------------------


def test_first_line_of_numbers_is_no_header(tmp_path):
    data = read_data(file(tmp_path, "t.csv", "1,2,a\n3,4,b\n"))
    assert data.samples == 2
    assert not data.named
    assert data.notes == ("the first line holds values, not names",)


@pytest.mark.parametrize("mark", ["", "NA", "?", "NaN", "null"])
def test_marks_of_missing_values_are_missing(mark, tmp_path):
    frame = frame_of(file(tmp_path, "t.csv", f"a,b\n1,{mark}\n2,3\n"))
    assert frame["b"].null_count() == 1
    assert frame["b"].dtype.is_numeric()


def test_quoted_separators_do_not_separate(tmp_path):
    frame = frame_of(file(tmp_path, "t.csv", 'a,b\n"x, y",1\nz,2\n'))
    assert frame["a"].to_list() == ["x, y", "z"]


def test_latin_text_is_read_as_such(tmp_path):
    data = read_data(file(tmp_path, "t.csv", "a,b\nGrün,1\nrot,2\n".encode("latin-1")))
    assert data.frame["a"].to_list() == ["Grün", "rot"]
    assert "read as Latin-1" in data.notes[0]


# ---- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "t.csv is empty"),
        ("t.csv", "a,b\n1,2\n3,4,5\n", "line 3 of t.csv has 3 cells"),
        ("t.parquet", "PAR1 no", "cannot be read as parquet"),
        ("t.npz", "PK no", "is no NPZ archive"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2", mtime=0)[:-9], "is compressed, but damaged"),
        ("t.svm.xz", lzma.compress(SVM.encode())[:-20], "is compressed, but damaged"),
        ("t.svm", "1 2:x\n", "each line must read `label index:value"),
        ("t.svm", "1 2:1 1:1\n", "cannot be read as svmlight text"),
        ("t.svm", "1 1:inf\n", "contains NaN or infinity"),
        ("t.svm", "# nothing\n", "holds no samples|cannot be read"),
        ("t.bin", b"\x00\x01\x02", "is unknown: give one of"),
    ],
)
def test_unreadable_file_is_named_with_the_reason(name, content, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_data(file(tmp_path, name, content))


def test_absent_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.csv cannot be read: No such file"):
        read_data(tmp_path / "none.csv")


def test_folder_is_no_file(tmp_path):
    with pytest.raises(DataError, match="is a folder: give a file"):
        read_data(tmp_path)


def test_npz_without_inputs_names_what_it_has(tmp_path):
    np.savez(tmp_path / "d.npz", weights=np.ones(3))
    with pytest.raises(DataError, match=r"must have an array named X or X_train .* it has weights"):
        read_data(tmp_path / "d.npz")


def test_npz_with_missing_values_names_their_columns(tmp_path):
    np.savez(tmp_path / "d.npz", X=[[1.0, np.nan]], y=[1], feature_names=["age", "height"])
    with pytest.raises(DataError, match="1 values are missing or infinite, in the columns height"):
        read_data(tmp_path / "d.npz")


def test_npz_of_objects_is_refused(tmp_path):
    np.savez(tmp_path / "d.npz", X=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="X must hold numbers or texts, got dtype object"):
        read_data(tmp_path / "d.npz")


# ---- fuzzing --------------------------------------------------------------------------------

LINES = st.lists(
    st.one_of(
        st.from_regex(rb"[-+]?[0-9]{1,3}( [0-9]{1,12}:[-0-9.e]{1,6}){0,4}", fullmatch=True),
        st.binary(max_size=20),
    ),
    max_size=6,
)


@example(lines=[b"1 99999999999999999999:1"])
@example(lines=[b"1 4294967297:1"])
@example(lines=[b"1 2147483647:1"])
@example(lines=[b"1 -1:1"])
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=LINES)
def test_any_svmlight_text_is_read_or_refused_without_memory(lines, tmp_path):
    path = file(tmp_path, "fuzz.svm", b"\n".join(lines))
    tracemalloc.start()
    try:
        data = read_data(path)
    except DataError:
        return
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2 * 10**6
    assert data.X.shape[0] == data.y.size
    assert np.isfinite(data.X.data if sparse.issparse(data.X) else data.X).all()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=200), st.text(alphabet='ab1,;"\n\t.?', max_size=80)))
def test_any_bytes_are_a_table_or_refused(content, tmp_path):
    path = file(tmp_path, "fuzz.csv", content)
    try:
        data = read_data(path)
    except DataError:
        return
    assert data.samples > 0
