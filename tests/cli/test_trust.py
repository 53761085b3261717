"""The command on bad ground: full disks, closed folders, little memory; and what it must not do."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from cli.running import command, command_here
from typer.testing import CliRunner

from maxmargin import SVC, OnlineSVC, estimators
from maxmargin.archive import check_writable, replacing
from maxmargin.archive.replacing import ENDING, HOST
from maxmargin.cli.app import app
from maxmargin.cli.commands import predict as predicting
from maxmargin.cli.commands import warmup as warming
from maxmargin.cli.commands.train import Reading, TrainingRun, read_samples, resumable_search
from maxmargin.cli.errors import code_of, obey_termination, said
from maxmargin.cli.options import MachineOptions
from maxmargin.cli.screen import Screen
from maxmargin.cli.training.resuming import Course
from maxmargin.data import chess_board
from maxmargin.models import (
    Checkpoint,
    ModelFileError,
    load,
    load_checkpoint,
    save,
    save_checkpoint,
    write_libsvm,
)
from maxmargin.tuning import Journal, StageNotes

ESTIMATORS = set(estimators.__all__) - {"Certificates"}
X, Y = chess_board(60, noise=0.1, random_state=0)


@pytest.fixture
def board(tmp_path):
    table = np.column_stack([X, Y])
    path = tmp_path / "board.csv"
    np.savetxt(path, table, delimiter=",", header="a,b,class", comments="", fmt="%.17g")
    return path


def run_of(path, screen=None, **options):
    return TrainingRun(
        read_samples(str(path), Reading()),
        MachineOptions(**{"C": 1.0, "gamma": "1", "probability": False, "scale": True, **options}),
        screen=screen or Screen(quiet=True),
        output=path.with_suffix(".mm"),
        holdout=0.2,
        command="",
    )


# ---- rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 20, 59, 60, 61])
def test_no_row_is_lost_between_blocks_of_prediction(size, monkeypatch):
    monkeypatch.setattr(predicting, "BLOCK", size)
    model = SVC(probability=True).fit(X, Y)
    found = predicting.predicted(model, X, Screen(quiet=True))
    np.testing.assert_array_equal(found.predicted, model.predict(X))
    np.testing.assert_allclose(found.decision, model.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.probability, model.predict_proba(X), rtol=1e-12)


def test_scale_is_learned_without_the_rows_held_out(board):
    run = run_of(board)
    train, test = run.rows
    assert test.size == 12
    np.testing.assert_allclose(run.schema.center, X[train].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(run.schema.scale, X[train].std(axis=0), rtol=1e-12)
    assert not np.allclose(run.schema.center, X.mean(axis=0), rtol=1e-3)


# ---- exit codes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(28, "No space left on device"), 3),
        (FileNotFoundError(2, "No such file"), 3),
        (MemoryError("4 GiB"), 3),
        (ModelFileError("damaged"), 4),
        (KeyboardInterrupt(), 130),
        (ValueError("ours"), 1),
    ],
)
def test_error_has_its_exit_code(error, code):
    assert code_of(error) == code


def test_ctrl_c_in_the_middle_of_an_import_is_told_without_another(monkeypatch):
    for name in ("maxmargin.archive", "maxmargin.data.sources"):
        monkeypatch.setitem(sys.modules, name, None)
    assert code_of(KeyboardInterrupt()) == 130
    with pytest.raises(ImportError):
        code_of(OSError())


def test_lack_of_memory_is_told_in_a_sentence():
    assert said(MemoryError("Unable to allocate 4 GiB")).startswith("not enough memory: Unable")


def test_absent_model_ends_with_3_and_a_cut_one_with_4(tmp_path):
    assert "No such file" in command_here("inspect", "none.mm", cwd=tmp_path, expect=3).errors
    save(SVC().fit(X, Y), tmp_path / "model.mm")
    whole = (tmp_path / "model.mm").read_bytes()
    (tmp_path / "model.mm").write_bytes(whole[:1000] + whole[2000:])
    assert "damaged" in command("inspect", "model.mm", cwd=tmp_path, expect=4).errors


# ---- places that cannot be written ----------------------------------------------------------


def test_place_that_cannot_be_written_is_refused_before_work(board):
    place = board.parent / "no such folder" / "model.mm"
    said = command_here("train", board, "-o", place, cwd=board.parent, expect=3)
    assert "model.mm: cannot be written" in said.errors
    assert said.out == ""


def test_place_is_tried_without_a_trace(tmp_path):
    check_writable(tmp_path / "model.mm")
    assert list(tmp_path.iterdir()) == []


FULL_DISK = """
import resource, sys, warnings
import numpy as np
from maxmargin import SVC, OnlineSVC
from maxmargin.models import Checkpoint, load, save, save_checkpoint, write_libsvm
folder = sys.argv[1]
model = load(f"{folder}/model.mm").estimator
stream = OnlineSVC.load(f"{folder}/model.online")
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
writers = {
    "model.mm": lambda path: save(model, path),
    "model.online": stream.save,
    "model.libsvm": lambda path: write_libsvm(model, path),
    "run.checkpoint": lambda path: save_checkpoint(Checkpoint("f", "all", {"a": "x" * 2000}), path),
}
for name, write in writers.items():
    try:
        write(f"{folder}/{name}")
    except OSError as error:
        print(name, error.errno)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of files as on Linux")
def test_full_disk_leaves_the_old_files(tmp_path):
    model = SVC(gamma=10.0).fit(X, Y)
    save(model, tmp_path / "model.mm")
    OnlineSVC().fit(X, Y).save(tmp_path / "model.online")
    write_libsvm(model, tmp_path / "model.libsvm")
    save_checkpoint(Checkpoint("f", "all", {"a": "x" * 2000}), tmp_path / "run.checkpoint")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()[::2]) == set(before)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_checkpoint_that_cannot_be_written_does_not_end_the_run(board, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("maxmargin.cli.training.resuming.save_checkpoint", full)
    run = run_of(board, screen=Screen())
    assert run.run().estimator.status_ == "converged"
    assert capsys.readouterr().out.count("cannot be written: No space left on device") == 1
    assert load(board.with_suffix(".mm")).training.samples == 60
    assert "so nothing was saved" in str(run.keeper.stopped())


def test_what_a_killed_process_left_unfinished_is_removed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    own, other = f".model.mm.{HOST}-{os.getpid()}-0{ENDING}", f".model.mm.elsewhere-1-0{ENDING}"
    abandoned = f".model.mm.{HOST}-{gone.pid}-0{ENDING}"
    for name in (own, other, abandoned):
        (tmp_path / name).touch()
    with replacing(tmp_path / "model.mm") as stream:
        stream.write(b"new")
    assert {path.name for path in tmp_path.iterdir()} == {own, other, "model.mm"}


# ---- checkpoints that cannot be used --------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"C": -1.0}},
        {"parameters": {"unknown": 1}},
        {"parameters": {"kernel": "none"}},
        {"stage": "all", "parameters": {"tol": "small"}},
    ],
)
def test_checkpoint_that_no_run_could_have_written_is_not_used(change, board):
    run = run_of(board)
    fields = {"fingerprint": run.keeper.fingerprint, "stage": "test", "parameters": {}, **change}
    save_checkpoint(Checkpoint(**fields), run.keeper.path)
    assert run_of(board).keeper.found is None


@pytest.mark.parametrize(
    "notes",
    [
        StageNotes("something else", np.zeros((3, 2))),
        StageNotes("coarse grid", np.zeros((3, 9))),
        StageNotes("coarse grid", np.zeros((3, 2)), state={"starts": {0: np.zeros(3)}}),
        StageNotes("coarse grid", np.zeros((3, 2)), state={"starts": {0: np.full(48, np.nan)}}),
        StageNotes("coarse grid", np.zeros((3, 2)), state={"splits": 1}),
    ],
)
def test_search_begins_anew_where_its_journal_is_none(notes, board):
    options = {"C": None, "gamma": None, "strategy": "cv-cma", "max_seconds": 2.0}
    run = run_of(board, **options)
    checkpoint = Checkpoint(run.keeper.fingerprint, "search", {}, journal=Journal([notes]))
    save_checkpoint(checkpoint, run.keeper.path)
    run = run_of(board, **options)
    assert run.keeper.found is not None
    found = resumable_search(
        run.plan, run.options, run.X, run.samples.y, run.keeper, Screen(quiet=True)
    )
    assert found.parameters["C"] > 0
    assert run.keeper.found is None


def test_scores_of_a_journal_are_one_for_each_point(board):
    run = run_of(board)
    journal = Journal([StageNotes("points", np.zeros((3, 2)))])
    save_checkpoint(
        Checkpoint(run.keeper.fingerprint, "search", {}, journal=journal), run.keeper.path
    )
    course = Course(run_of(board).keeper, lambda *_: None)
    with pytest.raises(ValueError, match="2 scores of a point"):
        course.scores(0, "points")


# ---- signals --------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_sigterm_does_what_ctrl_c_does(tmp_path):
    X, Y = chess_board(2500, noise=0.3, random_state=0)
    np.savetxt(tmp_path / "d.csv", np.column_stack([X, Y]), delimiter=",", header="a,b,y")
    options = ("--C", "1e6", "--gamma", "0.5", "--no-report", "--no-probability")
    line = [sys.executable, "-m", "maxmargin.cli", "train", "d.csv", *options]
    with subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        for _ in range(3000):
            if (tmp_path / "d.mm.checkpoint").exists() or process.poll() is not None:
                break
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.1)
        process.send_signal(signal.SIGTERM)
        code, errors = process.wait(100), process.stderr.read().decode()
    assert code == 143, errors
    assert "run the same command to resume" in errors
    assert load_checkpoint(tmp_path / "d.mm.checkpoint").stage == "test"


def test_interrupt_in_a_callback_is_not_lost(monkeypatch):
    """Python drops what is raised in a callback of ctypes, as compiling makes many of them."""
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    monkeypatch.setattr(signal, "getsignal", lambda _: None)
    obey_termination()
    assert sys.unraisablehook is not sys.__unraisablehook__

    @ctypes.CFUNCTYPE(None)
    def interrupted():
        raise KeyboardInterrupt

    interrupted()
    with pytest.raises(KeyboardInterrupt):
        time.sleep(10.0)


# ---- warm-up --------------------------------------------------------------------------------


def test_warmup_fits_every_estimator_and_says_so(monkeypatch):
    fitted, used = set(), []
    for name in ESTIMATORS:
        # Fits are tested elsewhere; compiling for all of them takes a minute.
        def noting(self, A, y=None, name=name):
            del y
            fitted.add((name, getattr(A, "format", str(getattr(A, "dtype", "")))))
            return self

        monkeypatch.setattr(getattr(estimators, name), "fit", noting)
    monkeypatch.setattr(warming.AutoSVC, "fit", lambda self, *_: self)
    monkeypatch.setattr(warming.os, "cpu_count", lambda: 1)
    monkeypatch.setattr(warming, "use", lambda _, inputs: used.append(inputs))
    done = CliRunner().invoke(app, ["warmup", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["seconds"] > 0
    assert {name for name, _ in fitted} == ESTIMATORS
    assert len(used) > len(fitted)
    for name in ("SVC", "LinearSVC", "LinearSVR", "LogisticRegression", "OnlineSVC"):
        assert {kind for own, kind in fitted if own == name} >= {"float64", "float32", "csr"}


def test_warmup_tells_how_far_it_is(monkeypatch):
    done, told = [], []
    works = [(name, lambda name=name: done.append(name)) for name in ("one", "two")]
    monkeypatch.setattr(warming, "works_of", lambda: {"kernel": works[:1], "linear": works[1:]})
    warming.compile_everything(lambda part, name: told.append((part, name)), processes=1)
    assert done == ["one", "two"]
    assert told == [(0.0, "one"), (0.5, "two")]


def test_warmup_leaves_nothing_out_in_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    names = list(warming.compile_in(2, ["data"]))
    assert names == ["svmlight text"]
    assert list(tmp_path.rglob("*.nbi"))
