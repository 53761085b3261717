"""The command `maxmargin`: every command on real files.

Processes of their own are for pipes, exit codes and what a command imports; the README's commands
run as processes too.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest
from cli.running import command, command_here
from sklearn.datasets import load_breast_cancer, load_iris

from maxmargin.models import load, read_libsvm

IRIS = load_iris()
SPECIES = [str(IRIS.target_names[code]) for code in IRIS.target]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with data files and a model of each kind."""
    place = tmp_path_factory.mktemp("files")
    columns = {name: IRIS.data[:, i] for i, name in enumerate(IRIS.feature_names)}
    polars.DataFrame({**columns, "species": SPECIES}).write_csv(place / "iris.csv")
    cells = load_breast_cancer()
    np.savez(place / "cells.npz", X=cells.data[:300], y=cells.target[:300])
    lines = [
        f"{code} " + " ".join(f"{i + 1}:{x!r}" for i, x in enumerate(row))
        for code, row in zip(IRIS.target.tolist(), IRIS.data.tolist())
    ]
    (place / "iris.svm").write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture(scope="module")
def trained(folder):
    """What `train` says about iris.csv; model and report lie beside it."""
    return command("train", "iris.csv", "--target", "species", "--strategy", "kta", cwd=folder).out


@pytest.fixture(scope="module")
def home(trained, folder):
    """The folder, with iris.mm in it."""
    assert trained
    return folder


def test_train_writes_model_and_report(home):
    assert (home / "iris.mm").exists()
    assert "<figure" in (home / "iris.html").read_text("utf-8")
    assert not (home / "iris.mm.checkpoint").exists()
    assert load(home / "iris.mm").estimator.classes_.tolist() == sorted(set(SPECIES))


def test_train_says_what_it_did_and_why(trained):
    for subject in ("data", "machine", "searched", "tested", "trained", "certified", "saved"):
        assert re.search(rf"^ *{subject}  \S", trained, re.MULTILINE), subject
    assert "3 classes; a Gaussian kernel" in trained
    assert "best possible objective" in trained


def test_predict_writes_class_decision_and_probability(home):
    command_here("predict", "iris.mm", "iris.csv", "-o", "out.csv", cwd=home)
    table = polars.read_csv(home / "out.csv")
    assert table.columns[0] == "class"
    assert "decision[setosa]" in table.columns
    shares = table.select(polars.selectors.starts_with("probability")).to_numpy()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (np.array(table["class"].to_list()) == SPECIES).mean() > 0.95


def test_predictions_go_to_standard_output_and_words_aside(home):
    said = command_here("predict", "iris.mm", "iris.csv", cwd=home)
    lines = said.out.splitlines()
    assert lines[0].startswith("class,decision[setosa]")
    assert len(lines) == 151
    assert "accuracy" in said.errors


def test_figures_of_the_training_data_are_called_that(home):
    rows = (home / "iris.csv").read_text().splitlines()
    (home / "some.csv").write_text("\n".join(rows[:100]))
    for name, told in (("iris.csv", True), ("some.csv", False)):
        said = command_here("predict", "iris.mm", name, cwd=home).errors
        assert ("measured on its training data" in said) == told


def test_standard_input_is_predicted(home):
    rows = (home / "iris.csv").read_bytes().splitlines()[:3]
    said = command("predict", "iris.mm", "-", "--quiet", cwd=home, stdin=b"\n".join(rows)).out
    assert [line.split(",")[0] for line in said.splitlines()] == ["class", "setosa", "setosa"]


def test_inspect_tells_of_certificate_and_data(home):
    said = command_here("inspect", "iris.mm", cwd=home).out
    for text in ("SVC", "Gaussian", "largest violation", "iris.csv: 150 samples", "sepal length"):
        assert text in said
    numbers = re.findall(r"\d+\.\d+", said)
    assert numbers
    assert all(len(number.replace(".", "").lstrip("0")) <= 6 for number in numbers)


def test_inspect_tells_how_many_features_there_are_and_that_they_are_standardised(home):
    said = command_here("inspect", "iris.mm", cwd=home).out
    assert re.search(r"^ *features  4, standardised$", said, re.MULTILINE)


def test_json_is_one_object(home):
    told = json.loads(command_here("inspect", "iris.mm", "--json", cwd=home).out)
    assert told["machine"] == "SVC"
    assert told["classes"] == sorted(set(SPECIES))
    assert told["certificate"]["relative_gap"] < 1e-6
    assert told["training"]["samples"] == 150


def test_report_of_other_data(home):
    command_here("report", "iris.mm", "iris.csv", "-o", "again.html", cwd=home)
    assert "iris.csv" in (home / "again.html").read_text("utf-8")


def test_tune_tells_what_to_type(folder):
    options = ("--strategy", "kta", "--plot", "tried.png", "-o", "tried.csv")
    said = command("tune", "iris.csv", *options, cwd=folder).out
    assert re.search(r"maxmargin train iris\.csv --C [\d.]+ --gamma [\d.]+ --scale", said)
    assert (folder / "tried.png").read_bytes().startswith(b"\x89PNG")
    assert "log_C" in (folder / "tried.csv").read_text().splitlines()[0]


def test_what_tune_tells_to_type_reads_the_data_alike(folder):
    rows = (folder / "iris.csv").read_text().splitlines()
    rows[3] = "," + rows[3].partition(",")[2]
    (folder / "gaps in it.csv").write_text("\n".join(rows))
    options = ("--impute", "median", "--drop", "petal width (cm)", "--strategy", "kta")
    said = command_here("tune", "gaps in it.csv", *options, cwd=folder).out
    typed = shlex.split(said.partition(" maxmargin ")[2].splitlines()[0])
    command_here(*typed, "--no-report", cwd=folder)
    assert load(folder / "gaps in it.mm").estimator.n_features_in_ == 3


def test_model_goes_to_libsvm_and_back(folder):
    options = ("--C", 10, "--gamma", 0.1, "--kernel", "rbf", "-q")
    command_here("train", "iris.svm", *options, "-o", "svm.mm", "--no-report", cwd=folder)
    command_here("convert", "svm.mm", "svm.libsvm", cwd=folder)
    command_here("convert", "svm.libsvm", "back.mm", cwd=folder)
    model, again = load(folder / "svm.mm").estimator, load(folder / "back.mm").estimator
    assert (model.C, model.kernel_.gamma) == (10.0, 0.1)
    np.testing.assert_array_equal(model.predict(IRIS.data), again.predict(IRIS.data))
    first = command_here("predict", "svm.libsvm", "iris.svm", "-q", cwd=folder).out.splitlines()[1]
    assert first.split(",")[0] == "0"
    np.testing.assert_array_equal(
        read_libsvm(folder / "svm.libsvm").predict(IRIS.data), model.predict(IRIS.data)
    )


def test_texts_as_labels_go_to_libsvm_as_codes(home):
    assert "--codes" in command("convert", "iris.mm", "iris.libsvm", cwd=home, expect=2).errors
    said = command_here("convert", "iris.mm", "iris.libsvm", "--codes", cwd=home).out
    assert "0 is setosa, 1 is versicolor, 2 is virginica" in said


def test_model_goes_to_onnx(home):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    command_here("convert", "iris.mm", "iris.onnx", cwd=home)
    session = onnxruntime.InferenceSession(str(home / "iris.onnx"))
    said = session.run(None, {"X": IRIS.data})[0]
    assert (said == np.array(SPECIES)).mean() > 0.95


def test_npz_of_two_classes_with_probabilities(folder):
    said = command_here("train", "cells.npz", "--strategy", "kta", "--no-report", cwd=folder).out
    assert "inputs are X, targets y" in said
    assert "area under ROC" in said


def test_version_names_what_it_stands_on(tmp_path):
    from maxmargin import __version__

    told = json.loads(command_here("version", "--json", cwd=tmp_path).out)
    assert told["maxmargin"] == __version__
    assert "numba" in told


def test_help_lists_every_command(tmp_path):
    said = command_here("--help", cwd=tmp_path).out
    names = (
        "train",
        "predict",
        "tune",
        "inspect",
        "report",
        "convert",
        "data",
        "demo",
        "warmup",
        "version",
    )
    for name in names:
        assert re.search(rf"\b{name}\b", said)


def test_entry_point_is_the_command():
    path = shutil.which("maxmargin", path=str(Path(sys.executable).parent))
    if path is None:
        pytest.skip("maxmargin is not installed as a command here")
    done = subprocess.run([path, "version"], capture_output=True, check=True)
    assert b"maxmargin" in done.stdout


def test_package_can_be_run_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "maxmargin", "--help"], capture_output=True, text=True, check=True
    )
    assert "train" in done.stdout
