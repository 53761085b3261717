"""Data files that are damaged or made to do harm: they are refused, soon and in little memory."""

import bz2
import gzip
import io
import lzma
import tracemalloc
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars
import pytest
from scipy import sparse

from maxmargin.cli.commands.train import Reading, read_samples
from maxmargin.data import DataError, read_data, schema_of
from maxmargin.data.npz import Members
from maxmargin.data.sources import ALWAYS_ALLOWED
from maxmargin.data.tables.conversion import MOST_FEATURES

LABELS = np.arange(6) % 2


def read(path):
    return read_samples(str(path), Reading())


# ---- bombs ----------------------------------------------------------------------------------


@contextmanager
def within(most):
    """At most so many bytes are taken meanwhile."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", [gzip, bz2, lzma])
@pytest.mark.parametrize(("format", "line"), [("csv", b"1,2\n"), ("svmlight", b"1 1:1\n")])
def test_bomb_is_refused(packing, format, line, tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.data.sources.ALWAYS_ALLOWED", 10**5)
    (tmp_path / "bomb").write_bytes(packing.compress(line * 10**6))
    with pytest.raises(DataError, match="more than 40 times its size: decompress it first"):
        read_data(tmp_path / "bomb", format=format)


def test_bomb_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.data.sources.ALWAYS_ALLOWED", 10**5)
    (tmp_path / "bomb").write_bytes(gzip.compress(bytes(10**8)))
    with within(2 * 10**7), pytest.raises(DataError, match="decompress it first"):
        read_data(tmp_path / "bomb", format="csv")
    assert ALWAYS_ALLOWED < 10**8


def test_text_of_usual_density_is_read_however_long(tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.data.sources.ALWAYS_ALLOWED", 1000)
    text = "".join(f"{i % 2} 1:{i / 7}\n" for i in range(2000))
    path = tmp_path / "data.svm.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert read(path).size == 2000


def test_npz_of_exactly_the_size_allowed_is_read(monkeypatch):
    content = io.BytesIO()
    np.save(content, np.arange(30.0))
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("X.npy", content.getvalue())
    monkeypatch.setattr("maxmargin.data.npz.ALWAYS_ALLOWED", len(content.getvalue()))
    with zipfile.ZipFile(held) as archive:
        assert "X" in Members(archive, "held.npz", 1)
    monkeypatch.setattr("maxmargin.data.npz.ALWAYS_ALLOWED", len(content.getvalue()) - 1)
    with (
        zipfile.ZipFile(held) as archive,
        pytest.raises(DataError, match="more than 40 times its size"),
    ):
        Members(archive, "held.npz", 1)


def test_npz_bomb_is_refused_before_it_is_decompressed(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        shape = {"descr": "<f8", "fortran_order": False, "shape": (10**5, 100)}
        np.lib.format.write_array_header_1_0(header, shape)
        archive.writestr("X.npy", header.getvalue() + bytes(8 * 10**7))
    with within(10**7), pytest.raises(DataError, match="40 times its size once decompressed"):
        read(tmp_path / "bomb.npz")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_table_of_more_rows_than_its_size_can_hold_is_refused(ending, tmp_path):
    frame = polars.DataFrame({"a": polars.zeros(10**8, dtype=polars.Int8, eager=True)})
    path = tmp_path / f"bomb.{ending}"
    if ending == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path, compression="zstd")
    del frame
    with pytest.raises(DataError, match="says that it holds 100,000,000 rows"):
        read(path)


# ---- NumPy archives -------------------------------------------------------------------------


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("key", ["X", "y", "feature_names", "data"])
def test_pickled_member_is_never_unpickled(key, tmp_path):
    trap = np.array([Trap(tmp_path / "sprung"), None], dtype=object)
    arrays = {"X": np.eye(6), "y": LABELS, "feature_names": np.array(list("abcdef"))}
    if key == "data":
        matrix = sparse.csr_array(np.eye(6))
        arrays = {"indices": matrix.indices, "indptr": matrix.indptr, "shape": np.array([6, 6])}
    np.savez(tmp_path / "data.npz", **{**arrays, key: trap})
    with pytest.raises(DataError, match="must hold numbers or texts, got dtype object"):
        read_data(tmp_path / "data.npz")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": np.array([0, 10**9])}, "indices of a sparse matrix are out of range"),
        ({"indices": np.array([-5, 1])}, "indices of a sparse matrix are out of range"),
        ({"indptr": np.array([0, 10**9, 2])}, "indptr of a sparse matrix does not rise"),
        ({"indptr": np.array([0, -1, 2])}, "indptr of a sparse matrix does not rise"),
        ({"data": np.array([1.0, np.nan])}, "contains NaN or infinity"),
        ({"data": np.array(["1", "2"])}, "must hold numbers"),
        ({"shape": np.array([2, -3])}, "is no shape of a matrix"),
        ({"shape": np.array([2.5, 3.0])}, "must hold numbers"),
        ({"format": np.array(b"dia")}, "must be saved as csr or csc, got 'dia'"),
    ],
)
def test_forged_sparse_matrix_is_refused(change, message, tmp_path):
    parts = {
        "data": np.ones(2),
        "indices": np.array([0, 1]),
        "indptr": np.array([0, 1, 2]),
        "shape": np.array([2, 3]),
        "format": np.array(b"csr"),
    }
    np.savez(tmp_path / "data.npz", **parts)
    assert read_data(tmp_path / "data.npz").X.shape == (2, 3)
    np.savez(tmp_path / "data.npz", **{**parts, **change})
    with pytest.raises(DataError, match=message):
        read_data(tmp_path / "data.npz")


def test_columns_of_a_sparse_matrix_are_read_as_well(tmp_path):
    matrix = sparse.csc_array(np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 0.0]]))
    sparse.save_npz(tmp_path / "data.npz", matrix)
    found = read_data(tmp_path / "data.npz").X
    found = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_array_equal(found, matrix.toarray())


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(2), "y": np.array([np.nan, 1.0])}, "y has missing or infinite values"),
        ({"X": np.eye(2), "y": np.array(["2020", "2021"], "M8[Y]")}, "y must hold numbers or"),
        ({"X": np.zeros((5, 0)), "y": np.arange(5)}, "X must be a matrix of numbers"),
    ],
)
def test_npz_that_cannot_be_learned_from_is_refused(arrays, message, tmp_path):
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(DataError, match=message):
        read_data(tmp_path / "data.npz")


# ---- width ----------------------------------------------------------------------------------


def test_index_of_a_thousand_million_takes_no_memory(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 1:1 1000000000:1\n-1 2:1\n")
    data = read_data(path)
    message = "1,000,000,000 features by its largest index, but only 3"
    with within(10**7), pytest.raises(DataError, match=message):
        schema_of(data)
    assert data.X.shape == (2, 10**9)


def test_many_features_are_fine_where_there_are_as_many_entries(monkeypatch, tmp_path):
    monkeypatch.setattr("maxmargin.data.tables.conversion.MOST_FEATURES", 2)
    (tmp_path / "data.svm").write_text("1 1:1 2:1\n-1 2:1 4:1\n")
    assert schema_of(read_data(tmp_path / "data.svm"))[0].width == 4
    assert MOST_FEATURES > 10**7


def test_header_longer_than_the_first_glance_is_a_header(tmp_path):
    names = [f"a rather long name of column {i}" for i in range(3000)]
    lines = [",".join([*names, "y"])]
    lines += [",".join(["0.5"] * 3000 + [str(i % 2)]) for i in range(4)]
    (tmp_path / "wide.csv").write_text("\n".join(lines))
    samples = read(tmp_path / "wide.csv")
    assert samples.X.shape == (4, 3000)
    assert samples.schema.target == "y"


# ---- tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [[[1, 2], [3]] * 3, [{"x": 1}, {"x": 2}] * 3, [b"\xff", b"x"] * 3],
    ids=["lists", "records", "bytes"],
)
def test_column_of_neither_numbers_nor_texts_is_left_out(values, tmp_path):
    frame = polars.DataFrame({"odd": values, "x": np.arange(6.0), "y": LABELS})
    frame.write_parquet(tmp_path / "data.parquet")
    samples = read(tmp_path / "data.parquet")
    assert samples.X.shape == (6, 1)
    assert any("'odd' is left out" in note for note in samples.notes)
    with pytest.raises(DataError, match="column 'odd' must hold numbers or texts"):
        read_samples(str(tmp_path / "data.parquet"), Reading(target="odd"))


def test_panic_of_polars_is_told_as_an_error_of_the_data(tmp_path):
    dates = polars.Series([2**31 - 1] * 6, dtype=polars.Int32).cast(polars.Date)
    polars.DataFrame({"when": dates, "x": LABELS, "y": LABELS}).write_ipc(tmp_path / "data.arrow")
    with pytest.raises(DataError, match=r"data\.arrow"):
        read_samples(str(tmp_path / "data.arrow"), Reading(target="when"))


def test_missing_numbers_of_all_types_are_seen(tmp_path):
    frame = polars.DataFrame(
        {
            "f": [1.0, None, float("nan")],
            "i": [1, None, 3],
            "b": [True, None, False],
            "y": [0, 1, 0],
        }
    )
    frame.write_parquet(tmp_path / "data.parquet")
    with pytest.raises(DataError, match=r"4 values are missing .* f \(2\), i \(1\), b \(1\)"):
        read(tmp_path / "data.parquet")
