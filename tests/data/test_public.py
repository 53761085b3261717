"""Public sets: converted from files in their sources' formats, fetched from a local server."""

import functools
import gzip
import hashlib
import http.server
import io
import json
import lzma
import tarfile
import threading
import urllib.parse
import zipfile

import numpy as np
import pytest
import realdata
import scipy.io
from sklearn.datasets import _openml
from typer.testing import CliRunner

from maxmargin.cli.app import app
from maxmargin.data.public import CATALOGUE, UNAVAILABLE, Web, converting, digest
from maxmargin.data.public import catalogue as sources
from maxmargin.data.public import web as downloads
from maxmargin.data.public.checking import stored
from maxmargin.data.sources import DataError


def reference(stem):
    place = realdata.folder()
    if place is None:
        pytest.skip(realdata.ABSENT)
    with np.load(place / f"{stem}.npz") as archive:
        return {key: archive[key] for key in archive.files}


def table(X, last, separator=","):
    """Rows of cells as text."""
    rows = (separator.join([*map(str, row), str(end)]) for row, end in zip(X.tolist(), last))
    return ("\n".join(rows) + "\n").encode()


def svmlight(X, y):
    lines = (
        f"{label:g} " + " ".join(f"{k + 1}:{row[k]:g}" for k in np.flatnonzero(row))
        for row, label in zip(X, y)
    )
    return ("\n".join(lines) + "\n").encode()


def matlab(**sets):
    """A file as Rätsch's benchmark comes in: structures of x, t and splits that count from 1."""
    stream = io.BytesIO()
    scipy.io.savemat(
        stream,
        {
            name: {
                "x": arrays["X"].astype(float),
                "t": arrays["y"].astype(float)[:, None],
                "train": np.array([[1, 2], [3, 4]]),
                "test": np.array([[3], [1]]),
            }
            for name, arrays in sets.items()
        },
    )
    return stream.getvalue()


def banknote():
    found = reference("banknote")
    return {f"{sources.UCI}/00267/data_banknote_authentication.txt": table(found["X"], found["y"])}


def heart_cleveland():
    found = reference("heart_cleveland")
    text = table(found["X"], found["y_multi"]) + b"53.0,0.0,3.0,128.0,216.0,0.0,?,1,0,0,1,0,2,0\n"
    return {f"{sources.UCI}/heart-disease/processed.cleveland.data": text}


def spambase():
    found = reference("spambase")
    return {f"{sources.UCI}/spambase/spambase.data": table(found["X"], found["y"])}


def ionosphere():
    found = reference("ionosphere")
    text = table(found["X"], ["g" if y > 0 else "b" for y in found["y"]])
    return {f"{sources.UCI}/ionosphere/ionosphere.data": text}


def tic_tac_toe():
    found = reference("tictactoe")
    X = np.array(["o", "b", "x"])[found["X"] + 1]
    last = ["positive" if y > 0 else "negative" for y in found["y"]]
    return {f"{sources.UCI}/tic-tac-toe/tic-tac-toe.data": table(X, last)}


def krkopt():
    found = reference("krkopt")
    X = found["X"].astype(str)
    X[:, ::2] = np.array(list("abcdefgh"))[found["X"][:, ::2] - 1]
    text = table(X, np.array(["draw", *converting.DEPTHS])[found["y"] + 1])
    return {f"{sources.UCI}/chess/king-rook-vs-king/krkopt.data": text}


def abalone():
    found = reference("abalone")
    X = found["X"].astype(str)
    X[:, 0] = np.array(list("MFI"))[found["X"][:, 0].astype(int) - 1]
    return {f"{sources.UCI}/abalone/abalone.data": table(X, found["y"])}


def cadata():
    found = reference("cadata")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as folder:
        text = table(found["X"], found["y"])
        entry = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        entry.size = len(text)
        folder.addfile(entry, io.BytesIO(text))
    return {sources.HOUSING: archive.getvalue()}


def covtype():
    found = reference("covtype_15120")
    text = table(found["X"], found["y"]) + table(found["X"][:3], found["y"][:3])
    return {f"{sources.UCI}/covtype/covtype.data.gz": gzip.compress(text, 1)}


def sms_spam():
    place = realdata.folder()
    if place is None:
        pytest.skip(realdata.ABSENT)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as folder:
        text = lzma.decompress((place / "sms_spam_text.tsv.xz").read_bytes())
        folder.writestr("readme", "about")
        folder.writestr("SMSSpamCollection", text.replace(b"\n", b"\r\n"))
    return {sources.SMS: archive.getvalue()}


def ringnorm():
    return {sources.RAETSCH: matlab(ringnorm=reference("raetsch_ringnorm"))}


def flare_solar():
    return {sources.RAETSCH: matlab(flare_solar=reference("raetsch_flare_solar"))}


FILES = {
    "banknote": banknote,
    "heart-cleveland": heart_cleveland,
    "spambase": spambase,
    "ionosphere": ionosphere,
    "tic-tac-toe": tic_tac_toe,
    "krkopt": krkopt,
    "abalone": abalone,
    "cadata": cadata,
    "covtype-15120": covtype,
    "sms-spam": sms_spam,
    "ringnorm": ringnorm,
    "flare-solar": flare_solar,
}


class Given(Web):
    """A web that holds files in memory."""

    def __init__(self, files):
        super().__init__()
        object.__setattr__(self, "files", files)

    def raw(self, url):
        return self.files[url]


@pytest.mark.parametrize("name", FILES)
def test_source_format_becomes_the_reference_arrays(name):
    chosen = CATALOGUE[name]
    made = chosen.make(Given(FILES[name]()))
    assert {file: digest(made[file]) for file in chosen.files} == {
        file: stored()[file] for file in chosen.files
    }


@pytest.mark.parametrize("name", ["banknote", "krkopt", "flare-solar", "abalone", "cadata"])
def test_converted_arrays_have_the_types_and_names_of_the_reference(name):
    (file,) = CATALOGUE[name].files
    made = CATALOGUE[name].make(Given(FILES[name]()))[file]
    for key, array in reference(file.removesuffix(".npz")).items():
        assert made[key].dtype == array.dtype
        np.testing.assert_array_equal(made[key], array)


def test_missing_values_of_advertisements_become_nan():
    found = reference("internet_ads_first998")
    X, y = found["X"][:60], found["y"][:60]
    rows = [["?" if np.isnan(v) else f" {v:.9g}" for v in row] for row in X]
    text = table(np.array(rows), ["ad." if label > 0 else "nonad." for label in y])
    made = converting.internet_ads(text, 50)
    np.testing.assert_array_equal(made["X"], X[:50])
    np.testing.assert_array_equal(made["y"], y[:50])


def test_samples_in_libsvm_format_become_dense_parts():
    found = reference("a9a")
    files = {
        f"{sources.LIBSVM}/binary/a9a": svmlight(found["X_train"][:300], found["y_train"][:300]),
        f"{sources.LIBSVM}/binary/a9a.t": svmlight(found["X_test"][:200], found["y_test"][:200]),
    }
    made = CATALOGUE["a9a"].make(Given(files))["a9a.npz"]
    np.testing.assert_array_equal(made["X_train"], found["X_train"][:300])
    np.testing.assert_array_equal(made["y_test"], found["y_test"][:200])


def test_features_that_no_sample_has_are_columns_all_the_same():
    made = converting.svmlight(b"1 1:2\n-1 2:1\n", 4)
    assert made["X"].tolist() == [[2, 0, 0, 0], [0, 1, 0, 0]]
    assert made["y"].tolist() == [1, -1]


def test_indicators_of_squares_become_boards():
    found = reference("connect4")
    X = np.eye(3)[found["X"][:500] + 1].reshape(500, -1)
    files = {f"{sources.LIBSVM}/multiclass/connect-4": svmlight(X, found["y"][:500])}
    made = CATALOGUE["connect-4"].make(Given(files))["connect4.npz"]
    np.testing.assert_array_equal(made["X"], found["X"][:500])
    np.testing.assert_array_equal(made["feature_names"], found["feature_names"])


def test_idx_files_become_images():
    found = reference("mnist")
    files = {}
    for part, kind in (("train", "train"), ("test", "t10k")):
        X, y = found[f"X_{part}"][:50], found[f"y_{part}"][:50]
        head = b"".join(size.to_bytes(4, "big") for size in (2051, 50, 28, 28))
        files[f"{sources.MNIST}/{kind}-images-idx3-ubyte.gz"] = gzip.compress(head + X.tobytes())
        head = b"".join(size.to_bytes(4, "big") for size in (2049, 50))
        files[f"{sources.MNIST}/{kind}-labels-idx1-ubyte.gz"] = gzip.compress(head + y.tobytes())
    made = CATALOGUE["mnist"].make(Given(files))["mnist.npz"]
    np.testing.assert_array_equal(made["X_test"], found["X_test"][:50])
    np.testing.assert_array_equal(made["y_train"], found["y_train"][:50])


def test_digits_of_zip_codes_keep_three_decimals():
    found = reference("usps")
    X = np.round(found["X_train"][:20].astype(float), 4)
    text = b"\n".join(
        f"{y:.4f} {' '.join(f'{v:.4f}' for v in row)} ".encode()
        for row, y in zip(X, found["y_train"])
    )
    files = {f"{sources.ESL}/zip.{part}.gz": gzip.compress(text) for part in ("train", "test")}
    made = CATALOGUE["usps"].make(Given(files))["usps.npz"]
    np.testing.assert_array_equal(made["X_train"], found["X_train"][:20])


def test_newsgroups_are_counted_by_part_and_group():
    archive = io.BytesIO()
    messages = {
        "20news-bydate-train/sci.space/2": "orbit the Moon moon",
        "20news-bydate-train/alt.atheism/7": "the orbit",
        "20news-bydate-test/alt.atheism/1": "MOON rare a",
    }
    with tarfile.open(fileobj=archive, mode="w") as folder:
        for name, text in messages.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            folder.addfile(entry, io.BytesIO(text.encode("latin-1")))
    made = CATALOGUE["news20"].make(Given({sources.NEWSGROUPS: archive.getvalue()}))
    counts, labels, vocabulary = (made[file] for file in sources.NEWS_FILES)
    assert vocabulary == b"moon\norbit\nthe\n"
    X = scipy.sparse.csr_array((counts["data"], counts["indices"], counts["indptr"]))
    np.testing.assert_array_equal(X.toarray(), [[0, 1, 1], [2, 1, 1], [1, 0, 0]])
    np.testing.assert_array_equal(labels["y"], [0, 1, 0])
    assert labels["n_train"] == 2


def test_splits_of_the_matlab_file_count_from_zero():
    rng = np.random.default_rng(0)
    small = {"X": rng.normal(size=(4, 2)), "y": np.array([1, -1, 1, -1])}
    files = {sources.RAETSCH: matlab(banana=small)}
    made = CATALOGUE["banana"].make(Given(files))["raetsch_banana.npz"]
    np.testing.assert_array_equal(made["splits_train"], [[0, 1], [2, 3]])
    np.testing.assert_array_equal(made["splits_test"], [[2], [0]])


def test_more_digits_than_the_archive_prints_make_no_difference():
    found = reference("raetsch_heart")
    noise = np.random.default_rng(0).uniform(-1e-9, 1e-9, found["X"].shape)
    files = {sources.RAETSCH: matlab(heart={**found, "X": found["X"] * (1.0 + noise)})}
    made = CATALOGUE["heart"].make(Given(files))["raetsch_heart.npz"]
    np.testing.assert_array_equal(made["X"], found["X"])


def test_genome_is_written_on_one_line():
    made = CATALOGUE["ecoli-genome"].make(Given({sources.GENOME: gzip.compress(b">a b\nAC\nGT\n")}))
    assert made == {sources.GENOME_FILE: b">a b\nACGT\n"}


@pytest.mark.parametrize("name", ["banknote", "ringnorm", "flare-solar", "sms-spam"])
def test_stored_checksums_are_those_of_the_reference(name):
    for file in CATALOGUE[name].files:
        if file.endswith(".npz"):
            assert digest(reference(file.removesuffix(".npz"))) == stored()[file]


def test_every_file_has_a_stored_checksum():
    assert {file for entry in CATALOGUE.values() for file in entry.files} == set(stored())


def test_checksum_ignores_order_only_where_asked():
    X, y = np.arange(6.0).reshape(3, 2), np.array([1, 2, 3])
    first, second = digest({"X": X, "y": y}), digest({"X": X[::-1], "y": y[::-1]})
    assert first.unordered == second.unordered
    assert first.ordered != second.ordered
    assert digest({"X": X, "y": y[::-1]}).unordered != first.unordered


# ---- from a server -------------------------------------------------------------------------------


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(tmp_path):
    """A folder that is served, and its address."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def serve(folder, files):
    for url, content in files.items():
        parts = urllib.parse.urlsplit(url)
        path = folder / parts.netloc / parts.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def run(*arguments, expect=0):
    done = CliRunner().invoke(app, ["data", *map(str, arguments)])
    assert done.exit_code == expect, done.output
    return done


def test_fetch_writes_the_set_once(server, tmp_path):
    folder, address = server
    serve(folder, banknote())
    place = tmp_path / "kept"
    options = ("--folder", place, "--mirror", address, "--json")
    told = json.loads(run("fetch", "banknote", *options).stdout)
    assert told["written"] == {"banknote": [str(place / "banknote.npz")]}
    with np.load(place / "banknote.npz") as archive:
        np.testing.assert_array_equal(archive["X"], reference("banknote")["X"])
    assert json.loads(run("fetch", "banknote", *options).stdout)["written"] == {}
    listed = json.loads(run("list", "--folder", place, "--json").stdout)["sets"]
    assert listed["banknote"]["present"]
    assert not listed["spambase"]["present"]


def test_fetch_says_that_rows_come_in_another_order(server, tmp_path):
    folder, address = server
    ((url, text),) = banknote().items()
    serve(folder, {url: b"\n".join(reversed(text.splitlines()))})
    said = run("fetch", "banknote", "--folder", tmp_path / "kept", "--mirror", address).stdout
    assert "another order" in said
    assert "CC BY 4.0" in said


def test_other_data_are_refused_and_not_written(server, tmp_path):
    folder, address = server
    ((url, text),) = banknote().items()
    serve(folder, {url: text.replace(b"3.6216", b"3.6217")})
    done = run("fetch", "banknote", "--folder", tmp_path / "kept", "--mirror", address, expect=3)
    assert "is not the reference data" in done.stderr
    assert not (tmp_path / "kept").exists()


def test_a_page_instead_of_data_is_explained(server, tmp_path):
    folder, address = server
    ((url, _),) = banknote().items()
    serve(folder, {url: b"<html>moved</html>"})
    done = run("fetch", "banknote", "--folder", tmp_path, "--mirror", address, expect=3)
    assert "not in the expected format" in done.stderr


def test_missing_file_is_explained_with_its_address(server, tmp_path):
    _, address = server
    done = run("fetch", "banknote", "--folder", tmp_path, "--mirror", address, expect=3)
    assert "answers 404" in done.stderr
    assert "archive.ics.uci.edu" in done.stderr


def test_unreachable_server_is_tried_again_and_explained(monkeypatch):
    tried = []
    monkeypatch.setattr(downloads.time, "sleep", tried.append)
    with pytest.raises(DataError, match="cannot be fetched"):
        Web("http://127.0.0.1:9").raw("https://archive.ics.uci.edu/x")
    assert len(tried) == downloads.LIMITS.attempts - 1


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_sets_that_cannot_be_had_say_why(name, tmp_path):
    done = run("fetch", name, "--folder", tmp_path, expect=3)
    assert UNAVAILABLE[name][:40] in done.stderr


def test_unknown_names_point_at_the_list(tmp_path):
    assert "maxmargin data list" in run("fetch", "iris", "--folder", tmp_path, expect=3).stderr


@pytest.fixture
def openml(server, monkeypatch):
    """A function that lets the server answer for OpenML with one data set."""
    folder, address = server

    def serve_set(number, attributes, target, rows):
        kinds = "".join(f"@attribute {name} {kind}\n" for name, kind in attributes.items())
        text = f"@relation served\n{kinds}@data\n".encode() + rows
        download = f"data/v1/download/{number}/served.arff"
        features = [
            {
                "index": str(k),
                "name": name,
                "data_type": "numeric" if kind == "real" else "nominal",
                "is_target": str(name == target).lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for k, (name, kind) in enumerate(attributes.items())
        ]
        description = {
            "id": str(number),
            "name": "served",
            "version": "1",
            "format": "ARFF",
            "status": "active",
            "file_id": str(number),
            "description": "as OpenML has it",
            "default_target_attribute": target,
            "md5_checksum": hashlib.md5(text).hexdigest(),
            "url": f"{address}/{download}",
        }
        quality = [{"name": "NumberOfInstances", "value": str(rows.count(b"\n"))}]
        answers = {
            "description": {"data_set_description": description},
            "features": {"data_features": {"feature": features}},
            "qualities": {"data_qualities": {"quality": quality}},
        }
        contents = {name: json.dumps(answer).encode() for name, answer in answers.items()}
        for path, content in {**contents, download: text}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        start = f"{address}/"
        if hasattr(_openml, "_OPENML_PREFIX"):  # which older versions put before each address
            monkeypatch.setattr(_openml, "_OPENML_PREFIX", start)
            monkeypatch.setattr(_openml, "_DATA_FILE", "data/v1/download/{}/served.arff")
            start = ""
        monkeypatch.setattr(_openml, "_DATA_INFO", f"{start}description?{{}}")
        monkeypatch.setattr(_openml, "_DATA_FEATURES", f"{start}features?{{}}")
        monkeypatch.setattr(_openml, "_DATA_QUALITIES", f"{start}qualities?{{}}")

    return serve_set


def test_diabetis_comes_from_openml_by_scikit_learn(openml, tmp_path):
    found = reference("raetsch_diabetis")
    labels = np.where(found["y"] > 0, "tested_positive", "tested_negative")
    attributes = {f"a{k}": "real" for k in range(8)}
    attributes["class"] = "{tested_negative, tested_positive}"
    openml(sources.PIMA, attributes, "class", table(found["X_raw"], labels))
    run("fetch", "diabetis", "--folder", tmp_path / "kept")
    with np.load(tmp_path / "kept" / "raetsch_diabetis.npz") as archive:
        np.testing.assert_allclose(archive["X"], found["X"], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(archive["y"], found["y"])


def test_cpusmall_comes_from_openml_by_the_names_of_its_columns(openml, tmp_path):
    found = reference("cpusmall")
    order = np.argsort(found["feature_names"])
    attributes = dict.fromkeys([*found["feature_names"][order].tolist(), "usr"], "real")
    openml(sources.CPU_SMALL, attributes, "usr", table(found["X"][:, order], found["y"]))
    run("fetch", "cpusmall", "--folder", tmp_path / "kept")
    with np.load(tmp_path / "kept" / "cpusmall.npz") as archive:
        for key, array in found.items():
            np.testing.assert_array_equal(archive[key], array)
