"""Files with traps in them: what `train` and `predict` say and do."""

import json
import warnings

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from maxmargin.cli.app import app
from maxmargin.cli.options import MachineOptions
from maxmargin.cli.plan import planned
from maxmargin.cli.training.baselines import compared_with_baselines
from maxmargin.cli.training.cost import Comparison, Estimate, compared, duration
from maxmargin.cli.training.splitting import split_for_test
from maxmargin.data import chess_board
from maxmargin.models import load

RANDOM = np.random.default_rng(0)
N = 80
X = RANDOM.normal(size=(N, 3))
CLASSES = np.where(X[:, 0] + 0.3 * RANDOM.normal(size=N) > 0, "yes", "no")


def run(*arguments, expect=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == expect, done.output
    return done


@pytest.fixture
def traps(tmp_path):
    """A file with an id, a constant and a copy of the target."""
    path = tmp_path / "traps.csv"
    columns = {"id": np.arange(100, 100 + N), "a": X[:, 0], "b": X[:, 1], "unit": ["kg"] * N}
    columns |= {"code": (CLASSES == "yes").astype(int), "class": CLASSES}
    polars.DataFrame(columns).write_csv(path)
    return path


def test_traps_are_named_and_left_out(traps):
    said = run("train", traps, "--no-report", "--strategy", "kta").output
    assert "'id' is left out: it numbers the rows; --include id uses it" in said
    assert "'unit' is left out" in said
    assert "'code' is left out: it is the target 'class' in other words" in said
    assert load(traps.with_suffix(".mm")).schema.feature_names == ("a", "b")


def test_included_columns_are_used(traps):
    run("train", traps, "--no-report", "--strategy", "kta", "--include", "id")
    assert load(traps.with_suffix(".mm")).schema.feature_names == ("id", "a", "b")


def test_test_is_compared_with_baselines(traps):
    said = run("train", traps, "--no-report", "--strategy", "kta").output
    assert "for comparison: always '" in said
    assert "nearest class mean" in said


def test_baseline_of_a_regression_is_the_mean():
    y = np.linspace(0, 1, 50)
    said = compared_with_baselines(X[:50], y, X[:50], y, regresses=True)
    assert "always the mean has a mean absolute error of 0.255" in said


def test_a_baseline_of_features_constant_within_the_classes_does_not_warn():
    rows = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 1.0], [2.0, 1.0]])
    labels = np.array(["no", "no", "yes", "yes"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = compared_with_baselines(rows, labels, rows, labels, regresses=False)
        different = np.array(["a", "b", "c", "d"])
        compared_with_baselines(rows, different, rows, different, regresses=False)
    assert said.endswith("nearest class mean 100.0 %")


def test_kept_columns_are_written_beside_predictions(traps, tmp_path):
    run("train", traps, "--no-report", "--strategy", "kta")
    output = tmp_path / "out.csv"
    run("predict", traps.with_suffix(".mm"), traps, "-o", output, "--keep", "id")
    frame = polars.read_csv(output)
    assert frame.columns[:2] == ["id", "class"]
    assert frame["id"].to_list() == list(range(100, 100 + N))
    run("predict", traps.with_suffix(".mm"), traps, "-o", output, "--keep", "all")
    assert polars.read_csv(output).columns[5:7] == ["class", "predicted class"]
    told = json.loads(
        run("predict", traps.with_suffix(".mm"), traps, "--keep", "id", "--json").stdout
    )
    assert told["predictions"]["id"] == list(range(100, 100 + N))
    said = run("predict", traps.with_suffix(".mm"), traps, "--keep", "idd", expect=3).output
    assert "did you mean 'id'?" in said


def test_missing_values_of_new_data_are_filled_and_said(traps, tmp_path):
    run("train", traps, "--no-report", "--strategy", "kta")
    new = tmp_path / "new.csv"
    polars.DataFrame({"a": [None, 1.0], "b": [0.5, 0.1]}).write_csv(new)
    said = run("predict", traps.with_suffix(".mm"), new, "-o", tmp_path / "o.csv").output
    assert "1 missing value of 'a' becomes" in said


def test_copies_of_training_rows_are_not_tested_with():
    data, y = np.vstack([X, X[:8]]), np.concatenate([CLASSES, CLASSES[:8]])
    (train, test), notes = split_for_test(data, y, 0.25, 0, True)
    assert set(train) | set(test) == set(range(N + 8))
    rows = {tuple(data[row]) for row in train}
    assert not any(tuple(data[row]) in rows for row in test)
    assert "repeat training rows" in notes[0]


def test_coarse_values_are_said_to_repeat():
    data = np.round(X[:, :1])
    (_, test), notes = split_for_test(data, CLASSES, 0.25, 0, True)
    assert test.size == 20
    assert "of the test rows also occur in the training part" in notes[0]


def test_class_of_one_sample_is_trained_on():
    y = CLASSES.copy()
    y[5] = "odd"
    (train, test), notes = split_for_test(X, y, 0.25, 0, True)
    assert 5 in train
    assert np.isin(["yes", "no"], y[test]).all()
    assert notes == ["only one sample of class 'odd': used for training, not for the test"]


def test_regression_is_searched_with_its_tube(tmp_path):
    path = tmp_path / "waves.csv"
    polars.DataFrame({"x": X[:, 0], "y": np.sin(2 * X[:, 0])}).write_csv(path)
    said = json.loads(run("train", path, "--no-report", "--json").stdout)
    assert said["machine"] == "SVR"
    assert said["training"]["measures"]["R²"]["value"] > 0.9
    assert "epsilon = " in said["training"]["search"]


def test_no_numpy_in_messages(tmp_path):
    path = tmp_path / "one.csv"
    polars.DataFrame({"x": X[:, 0], "class": ["a"] * N}).write_csv(path)
    said = run("train", path, expect=2).output
    assert "only one value, 'a'" in said
    assert "np." not in said


# ---- which machine ---------------------------------------------------------------------------


def test_many_samples_are_weighed_by_what_machines_cost(monkeypatch):
    monkeypatch.setattr("maxmargin.cli.plan.MANY_SAMPLES", 7000)
    board, labels = chess_board(8000, random_state=0)
    plan = planned(MachineOptions(), board, labels)
    assert plan.machine == "SVC"
    assert "a Gaussian kernel reaches 9" in plan.reasons[1]
    assert "a linear machine reaches" in plan.reasons[2]
    assert "--linear" in plan.reasons[2]


def test_linear_data_of_many_samples_are_estimated_alike():
    random = np.random.default_rng(0)
    data = random.standard_normal((8000, 3))
    found = compared(data, (data[:, 0] > 0).astype(int), classifies=True)
    assert abs(found.kernel.score - found.linear.score) < 0.03
    numbers = compared(data, data[:, 0] - data[:, 1], classifies=False)
    assert numbers.measure == "R²"
    assert numbers.linear.score > 0.99


@pytest.mark.parametrize(
    ("kernel", "linear", "limit", "prefers"),
    [
        (Estimate(0.999, 1.0), Estimate(0.92, 1.0), None, False),
        (Estimate(0.999, 5000.0), Estimate(0.92, 1.0), None, True),
        (Estimate(0.999, 5000.0), Estimate(0.92, 1.0), 20_000.0, False),
        (Estimate(0.901, 100.0), Estimate(0.90, 1.0), None, True),
        (Estimate(0.901, 10.0), Estimate(0.90, 1.0), None, False),
    ],
)
def test_choice_weighs_gain_and_time(kernel, linear, limit, prefers):
    assert Comparison(kernel, linear, "accuracy", 8000).prefers_linear(limit) is prefers


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 s"), (600, "10 min"), (7200, "2 h")])
def test_durations_are_short(seconds, words):
    assert duration(seconds) == words


def test_baseline_of_few_different_numbers_is_the_mean_where_they_are_measured():
    y = np.arange(50) % 3 + 0.5
    said = compared_with_baselines(X[:50], y, X[:50], y, regresses=True)
    assert "always the mean" in said


def test_baselines_of_constant_features_are_silent():
    constant, y = np.ones((N, 2)), CLASSES
    assert "nearest" not in compared_with_baselines(constant, y, constant, y, regresses=False)
    coded = np.c_[X[:, 0], CLASSES == "yes"]
    assert "nearest" in compared_with_baselines(coded, y, coded, y, regresses=False)
