"""What the command chooses, refuses and says, without a process of its own."""

import json

import numpy as np
import polars
import pytest
from scipy import sparse
from typer.testing import CliRunner

from maxmargin.cli.app import app, default_output
from maxmargin.cli.errors import UsageError
from maxmargin.cli.options import MachineOptions
from maxmargin.cli.plan import planned
from maxmargin.models import load

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3))
CODES = (X[:, 0] > 0).astype(int)
REAL = X[:, 0] * 2.0 + X[:, 1]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def table(tmp_path):
    """A small file of two classes."""
    path = tmp_path / "table.csv"
    columns = {"a": X[:, 0], "b": X[:, 1], "town": ["Bonn", "Ulm"] * 30, "class": CODES}
    polars.DataFrame(columns).write_csv(path)
    return path


def train(path, *options):
    return run("train", path, "--no-report", *options)


# ---- the machine that suits -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "y", "machine", "search"),
    [
        (MachineOptions(), CODES, "SVC", "auto"),
        (MachineOptions(), np.where(CODES > 0, "a", "b"), "SVC", "auto"),
        (MachineOptions(), REAL, "SVR", "kernel"),
        (MachineOptions(), np.arange(60), "SVR", "kernel"),
        (MachineOptions(svc=True), np.arange(60) // 2, "SVC", "auto"),
        (MachineOptions(svr=True), CODES, "SVR", "kernel"),
        (MachineOptions(strategy="span"), REAL, "SVR", "kernel"),
        (MachineOptions(linear=True), CODES, "LinearSVC", "linear"),
        (MachineOptions(linear=True, C=1.0), CODES, "LinearSVC", ""),
        (MachineOptions(linear=True), REAL, "LinearSVR", "linear"),
        (MachineOptions(C=2.0), CODES, "SVC", ""),
        (MachineOptions(kernel="poly"), CODES, "SVC", ""),
        (MachineOptions(nu=0.2), CODES, "NuSVC", ""),
        (MachineOptions(nu=0.2, C=1.0), REAL, "NuSVR", ""),
        (MachineOptions(one_class=True), None, "OneClassSVM", ""),
    ],
)
def test_machine_suits_options_and_data(options, y, machine, search):
    plan = planned(options, X, y)
    assert (plan.machine, plan.search) == (machine, search)
    assert plan.reasons[0]


def test_many_sparse_features_make_it_linear():
    thin = sparse.random_array((60, 5000), density=0.01, format="csr", random_state=0)
    plan = planned(MachineOptions(), thin, CODES)
    assert plan.machine == "LinearSVC"
    assert "5,000 sparse features rarely need a kernel" in plan.reasons[1]


def test_given_gamma_leaves_features_as_they_are():
    assert planned(MachineOptions(), X, CODES).scale
    assert not planned(MachineOptions(gamma="0.5"), X, CODES).scale
    assert planned(MachineOptions(gamma="0.5", scale=True), X, CODES).scale


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        (MachineOptions(svc=True, svr=True), CODES, "--svc and --svr exclude each other"),
        (
            MachineOptions(linear=True, kernel="rbf"),
            CODES,
            "--linear and --kernel rbf exclude each other",
        ),
        (MachineOptions(one_class=True, linear=True), None, "--one-class cannot be combined with"),
        (MachineOptions(linear=True, gamma="1"), CODES, "--gamma is not an option of LinearSVC"),
        (
            MachineOptions(gamma="wide"),
            CODES,
            "--gamma must be a number, 'scale' or 'auto', got 'wide'",
        ),
        (MachineOptions(svr=True), np.array(["a", "b"] * 30), "--svr needs numbers as targets"),
        (MachineOptions(), np.zeros(60, dtype=int), "the target has only one value"),
        (MachineOptions(C=1.0, strategy="kta"), CODES, "--strategy and --metric choose"),
        (MachineOptions(svc=True), REAL, "is a measurement and has no classes: leave out --svc"),
        (MachineOptions(strategy="kta"), REAL, "of a regression must be one of cv-loss, grid"),
        (MachineOptions(strategy="grid", epsilon=0.1), REAL, "--strategy and --metric choose"),
        (MachineOptions(linear=True, probability=True), CODES, "LinearSVC has no probabilities"),
    ],
)
def test_contradictions_are_refused(options, y, message):
    with pytest.raises(UsageError, match=message):
        planned(options, X, y)


@pytest.mark.parametrize(
    ("data", "model"),
    [("iris.csv", "iris.mm"), ("a/b.svm.gz", "a/b.mm"), ("-", "model.mm"), ("v1.2.csv", "v1.2.mm")],
)
def test_model_lies_beside_the_data(data, model):
    assert str(default_output(data)) == model


@pytest.mark.parametrize("options", [(), ("--linear",), ("--tree",), ("--C", "2")])
def test_fractions_are_classes_where_they_are_to_be(tmp_path, options):
    path = tmp_path / "halves.csv"
    columns = {"a": X[:, 0], "b": X[:, 1], "y": CODES + 0.5}
    polars.DataFrame(columns).write_csv(path)
    told = train(path, "--svc", *options)
    assert told.exit_code == 0, told.output
    told = run("predict", path.with_suffix(".mm"), path, "-o", tmp_path / "out.csv")
    assert "accuracy" in told.output
    assert set(polars.read_csv(tmp_path / "out.csv")["class"]) == {0.5, 1.5}


def test_strategy_of_a_regression_is_used(tmp_path):
    path = tmp_path / "waves.csv"
    polars.DataFrame({"a": X[:, 0], "y": REAL}).write_csv(path)
    said = train(path, "--strategy", "span").output
    assert "strategy span: asked for" in said
    assert "so it is a measurement\n" in said


# ---- exit codes and messages ----------------------------------------------------------------


def test_missing_values_are_counted_and_named(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,y\n1,,0\n2,3,1\n,4,0\n")
    done = train(path)
    assert done.exit_code == 3
    assert "2 values are missing in holes.csv: a (1), b (1)" in done.stderr
    assert "--impute median" in done.stderr


def test_absent_file_is_an_error_of_data(tmp_path):
    done = train(tmp_path / "none.csv")
    assert done.exit_code == 3
    assert "none.csv cannot be read" in done.stderr


def test_wrong_option_is_an_error_of_usage(table):
    done = train(table, "--C", -1)
    assert done.exit_code == 2
    assert "C must be" in done.stderr
    assert train(table, "--holdout", 1.5).exit_code == 2
    assert train(table, "--no-such-option").exit_code == 2


def test_damaged_model_is_an_error_of_the_model(table, tmp_path):
    path = tmp_path / "bad.mm"
    path.write_bytes(b"PK\x03\x04 nothing")
    done = run("predict", path, table)
    assert done.exit_code == 4
    assert "is no model file, or a damaged one" in done.stderr


def test_error_is_json_where_json_is_asked_for(tmp_path):
    done = run("train", tmp_path / "none.csv", "--json")
    assert "cannot be read" in json.loads(done.stdout)["error"]


def test_quiet_says_nothing(table):
    done = train(table, "--C", 1, "--quiet")
    assert done.exit_code == 0
    assert done.stdout == ""
    assert table.with_suffix(".mm").exists()


def test_time_limit_is_told_and_kept(table, monkeypatch):
    monkeypatch.setattr("maxmargin.cli.app.typed", lambda: "maxmargin train")
    monkeypatch.setattr("maxmargin.cli.commands.train.finished", lambda _: False)
    monkeypatch.setattr("maxmargin.cli.training.fitting.finished", lambda _: False)
    done = train(table, "--C", 1, "--max-seconds", 0.5, "--holdout", 0)
    assert done.exit_code == 5
    assert "the time limit was reached before the optimum" in done.stdout
    assert table.with_suffix(".mm").exists()


def test_unseen_categories_are_told(table, tmp_path):
    train(table, "--C", 1, "-q")
    new = tmp_path / "new.csv"
    polars.read_csv(table).with_columns(town=polars.lit("Rom")).write_csv(new)
    done = run("predict", table.with_suffix(".mm"), new, "-o", tmp_path / "out.csv")
    assert "60 values of 'town' did not occur in training" in done.stdout


@pytest.mark.parametrize("labels", [["ja", "nein"], [True, False], [1.5, 2.5], [7, 9]])
def test_labels_survive_from_file_to_file(labels, tmp_path):
    path = tmp_path / "t.csv"
    values = [labels[code] for code in CODES]
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": values}).write_csv(path)
    options = ("--C", 100, "--kernel", "linear", "--svc", "-q")
    assert train(path, *options).exit_code == 0
    run("predict", tmp_path / "t.mm", path, "-o", tmp_path / "out.csv", "-q")
    said = polars.read_csv(tmp_path / "out.csv")["class"]
    assert said.dtype == polars.read_csv(path)["y"].dtype
    assert np.mean(np.array(said.to_list()) == np.array(values)) > 0.95


def test_regression_is_predicted_as_values(tmp_path):
    path = tmp_path / "t.csv"
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": REAL}).write_csv(path)
    assert train(path, "--C", 100, "--kernel", "linear", "-q").exit_code == 0
    run("predict", tmp_path / "t.mm", path, "-o", tmp_path / "out.parquet", "-q")
    said = polars.read_parquet(tmp_path / "out.parquet")
    assert said.columns == ["value"]
    np.testing.assert_allclose(said["value"].to_numpy(), REAL, atol=0.2)


def test_one_class_needs_no_target(tmp_path):
    path = tmp_path / "t.csv"
    polars.DataFrame({"a": X[:, 0], "b": X[:, 1]}).write_csv(path)
    assert train(path, "--one-class", "--nu", 0.5, "-q").exit_code == 0
    said = run("predict", tmp_path / "t.mm", path, "-q").stdout.splitlines()
    assert said[0] == "class,decision"
    assert {line.split(",")[0] for line in said[1:]} == {"1", "-1"}


def test_linear_machine_finds_its_own_C(table):
    done = train(table, "--linear")
    assert done.exit_code == 0
    assert "C by 5-fold cross-validation" in done.stdout
    assert type(load(table.with_suffix(".mm")).estimator).__name__ == "LinearSVC"


def test_online_machine_is_saved_as_what_it_is_now(table):
    done = train(table, "--online")
    assert done.exit_code == 0, done.stderr
    assert "certified" in done.stdout
    assert load(table.with_suffix(".mm")).estimator.predict(np.zeros((1, 4))).size == 1


def test_median_fills_holes_from_training_to_prediction(tmp_path):
    path = tmp_path / "holes.csv"
    ages = [None if i % 10 == 0 else float(i) for i in range(60)]
    polars.DataFrame({"age": ages, "y": [int(i > 30) for i in range(60)]}).write_csv(path)
    assert train(path, "--C", 1, "--impute", "median", "-q").exit_code == 0
    said = run("predict", tmp_path / "holes.mm", path, "-q").stdout.splitlines()
    assert len(said) == 61
