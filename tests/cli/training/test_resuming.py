"""Training that is stopped or killed: nothing is half-written, and it goes on."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy as np
import pytest
from cli.running import Child, command_here
from clock import Stopwatch

from benchmarks.kills import OPTIONS, compare, finished, outcome, stopped, write_data
from maxmargin import SVC
from maxmargin.cli.commands import train
from maxmargin.cli.commands.train import Reading, TrainingRun, read_samples
from maxmargin.cli.errors import Stopped
from maxmargin.cli.options import MachineOptions
from maxmargin.cli.screen import Screen
from maxmargin.cli.training.fitting import fitted, solutions_of
from maxmargin.cli.training.resuming import Keeper
from maxmargin.cli.training.searching import Trial
from maxmargin.data import chess_board
from maxmargin.models import load_checkpoint
from maxmargin.tuning.course import Search

NEEDS_PROC = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="children write their errors by way of /proc"
)
HARD = {"C": 1e6, "gamma": "0.5"}
TRIALS = 4
# Evaluations of a search that takes a second, and a checkpoint of it more often than usual.
EVALUATIONS = 2000
KEEPING_OFTEN = f"""
from maxmargin.cli.training import resuming
from maxmargin.tuning.course import Search
resuming.KEEP_EVERY = 0.05
Search.iterations = lambda *_: {EVALUATIONS}
"""


def board(path, samples, noise):
    X, y = chess_board(samples, noise=noise, random_state=0)
    table = np.column_stack([X, y])
    np.savetxt(path, table, delimiter=",", header="a,b,class", comments="", fmt="%.17g")
    return path


def started(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "maxmargin.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def written(path):
    """When a file was written; 0 where there is none."""
    return path.stat().st_mtime_ns if path.exists() else 0


def wait_for(path, process, since=0):
    for _ in range(15_000):
        if written(path) > since:
            return
        assert process.poll() is None, "it has ended"
        time.sleep(0.02)
    raise AssertionError(f"{path} never came")


def test_ctrl_c_saves_a_checkpoint_from_which_training_goes_on(tmp_path):
    data = board(tmp_path / "board.csv", 2500, noise=0.3)
    checkpoint = tmp_path / "board.mm.checkpoint"
    # A problem that takes minutes; its checkpoint is there from the beginning.
    options = ("--C", "1e6", "--gamma", "0.5", "--no-report", "--no-probability")
    with started("train", data, *options) as process:
        wait_for(checkpoint, process)
        time.sleep(2.0)
        watch = Stopwatch(process.pid)
        process.send_signal(signal.SIGINT)
        seconds = 0.0
        while (code := process.poll()) is None and seconds < 15:
            seconds = watch.seconds
            time.sleep(0.02)
        if code is None:
            process.kill()
        said = process.stderr.read().decode()
    assert code == 130, f"not ended after {seconds:.1f} s"
    assert "run the same command to resume" in said
    (kept,) = load_checkpoint(checkpoint).solutions
    assert kept.dual > 0
    assert not (tmp_path / "board.mm").exists()
    run = run_of(data, max_seconds=1.0)
    assert run.keeper.found is not None
    (reached,) = solutions_of(run.run().estimator)
    assert reached.status == "time_limit"
    assert not checkpoint.exists()


def run_of(data, holdout=0.2, **options):
    samples = read_samples(str(data), Reading())
    return TrainingRun(
        samples,
        MachineOptions(**{**HARD, "probability": False, **options}),
        screen=Screen(quiet=True),
        output=data.with_suffix(".mm"),
        holdout=holdout,
        command="",
    )


def test_slices_end_at_the_same_optimum(tmp_path, monkeypatch):
    data = board(tmp_path / "board.csv", 600, noise=0.0)
    monkeypatch.setattr(train, "fitted", partial(fitted, first_slice=0.001))
    kept = []
    monkeypatch.setattr(Keeper, "keep", lambda _, state: kept.append(state))
    machine = run_of(data, holdout=0).run().estimator
    whole = SVC(C=1e6, gamma=0.5).fit(*chess_board(600, random_state=0))
    assert machine.status_ == "converged"
    assert machine.certificate_.dual == pytest.approx(whole.certificate_.dual, rel=1e-7)
    assert len(kept) > 1


def test_checkpoint_of_other_data_is_not_used(tmp_path):
    data = board(tmp_path / "board.csv", 100, noise=0.0)
    first = run_of(data)
    first._searched()
    assert run_of(data).keeper.found is not None
    assert run_of(data, C=10.0).keeper.found is None
    board(data, 101, noise=0.0)
    assert run_of(data).keeper.found is None


def test_damaged_checkpoint_is_not_used(tmp_path):
    data = board(tmp_path / "board.csv", 100, noise=0.0)
    (tmp_path / "board.mm.checkpoint").write_bytes(b"PK half")
    run = run_of(data)
    assert run.keeper.found is None
    run.run()
    assert (tmp_path / "board.mm").exists()


def test_search_is_not_repeated(tmp_path, monkeypatch):
    data = board(tmp_path / "board.csv", 100, noise=0.0)
    options = {"C": None, "gamma": None, "strategy": "kta"}
    run_of(data, **options)._searched()
    monkeypatch.setattr("maxmargin.cli.commands.train.searched", None)
    machine = run_of(data, **options).run().estimator
    assert machine.status_ == "converged"


LONG_SEARCH = ("--strategy", "posterior", "--metric", "diagonal", "--json")


def interrupted(checkpoint, *arguments):
    """Press Ctrl-C once the command has written a checkpoint."""
    before = written(checkpoint)
    with tempfile.TemporaryFile() as errors:
        process = Child(arguments, errors, KEEPING_OFTEN)
        wait_for(checkpoint, process, before)
        process.send_signal(signal.SIGINT)
        code = process.wait(300)
        errors.seek(0)
        said = errors.read().decode()
    assert code == 130, said
    assert "run the same command to resume" in said


@NEEDS_PROC
@pytest.mark.parametrize("name", ["train", "tune"])
def test_search_stopped_by_ctrl_c_goes_on_to_the_same_parameters(name, tmp_path, monkeypatch):
    monkeypatch.setattr(Search, "iterations", lambda *_: EVALUATIONS)
    more = ("--no-report", "--holdout", "0") if name == "train" else ()
    for folder in ("whole", "stopped"):
        (tmp_path / folder).mkdir()
        data = board(tmp_path / folder / "board.csv", 40, noise=0.1)
    checkpoint = data.with_suffix(".mm.checkpoint" if name == "train" else ".tune.checkpoint")
    arguments = (*LONG_SEARCH, *more)
    whole = command_here(name, "board.csv", *arguments, cwd=tmp_path / "whole")
    tried = []
    for _ in range(2):
        interrupted(checkpoint, name, data, *arguments)
        kept = load_checkpoint(checkpoint)
        assert kept.stage == "search"
        tried.append(sum(len(stage.rows) for stage in kept.journal.stages))
    assert 0 < tried[0] < tried[1]
    resumed = command_here(name, "board.csv", *arguments, cwd=tmp_path / "stopped")
    found, expected = (json.loads(said.out)["parameters"] for said in (resumed, whole))
    assert found == expected
    assert not checkpoint.exists()


@pytest.mark.parametrize(
    ("changed", "tries"),
    [({"svr": True, "epsilon": 0.1}, 24), ({"linear": True}, 8)],
    ids=["kernel", "linear"],
)
def test_cross_validation_stopped_by_ctrl_c_goes_on(tmp_path, monkeypatch, changed, tries):
    data = board(tmp_path / "board.csv", 80, noise=0.1)
    options = {"C": None, "gamma": None, "probability": None, **changed}
    whole = run_of(data, **options)._searched()
    data.with_suffix(".mm.checkpoint").unlink()
    score, seen = Trial._score, []

    def pressed(trial, point):
        seen.append(point)
        if len(seen) == 5:
            raise KeyboardInterrupt
        return score(trial, point)

    monkeypatch.setattr(Trial, "_score", pressed)
    with pytest.raises(Stopped):
        run_of(data, **options)._searched()
    again = run_of(data, **options)._searched()
    assert again.parameters == whole.parameters
    np.testing.assert_array_equal(again.search.value, whole.search.value)
    assert len(seen) == tries + 1


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Data, what a run that nobody stops makes of them, its seconds, and those without imports."""
    data = write_data(tmp_path_factory.mktemp("undisturbed"), samples=600)
    # What has to be compiled is compiled here: it is no part of the seconds.
    command_here("train", data, *OPTIONS, cwd=data.parent)
    began = time.perf_counter()
    expected = finished(data)
    middle = time.perf_counter()
    command_here("train", data, *OPTIONS, cwd=data.parent)
    return data, expected, middle - began, time.perf_counter() - middle


@NEEDS_PROC
@pytest.mark.parametrize("name", ["INT", "TERM", "KILL"])
def test_stopped_at_any_time_no_file_is_half_written(name, undisturbed, tmp_path):
    original, expected, longest, without_imports = undisturbed
    data = shutil.copy(original, tmp_path / original.name)
    random.seed(0)
    for trial in range(TRIALS):
        data.with_suffix(".mm").unlink(missing_ok=True)
        if trial == 0:
            stopped(data, random.uniform(0.3, 1.0) * longest, name)
        else:
            stopped(data, random.uniform(0.0, 1.0) * without_imports, name, start=Child)
    said = command_here("train", data, *OPTIONS, cwd=tmp_path)
    compare(outcome(data, "train", said.out), expected)
