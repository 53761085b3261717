"""`train --tree`: a tree from a file to a report, predictions and ONNX."""

import json

import numpy as np
import polars
import pytest
from cli.running import command, command_here
from sklearn.datasets import load_diabetes, load_iris

from maxmargin.cli.errors import UsageError
from maxmargin.cli.options import MachineOptions
from maxmargin.cli.plan import planned
from maxmargin.models import load

IRIS = load_iris()
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    place = tmp_path_factory.mktemp("trees")
    columns = {name: IRIS.data[:, i] for i, name in enumerate(NAMES)}
    species = [str(IRIS.target_names[code]) for code in IRIS.target]
    polars.DataFrame({**columns, "species": species}).write_csv(place / "iris.csv")
    X, y = load_diabetes(return_X_y=True)
    np.savez(place / "diabetes.npz", X=X, y=y)
    return place


@pytest.fixture(scope="module")
def said(home):
    options = ("--target", "species", "--tree", "--max-depth", "3")
    return command("train", "iris.csv", *options, cwd=home).out


def test_train_says_what_tree_it_grew(said, home):
    assert "DecisionTreeClassifier: a tree as requested, 3 classes" in said
    model = load(home / "iris.mm").estimator
    assert f"{model.get_n_leaves()} leaves, depth {model.get_depth()}" in said
    assert model.get_depth() == 3


def test_features_of_a_tree_are_not_scaled(said, home):
    assert said
    assert not load(home / "iris.mm").schema.scaled


def test_report_draws_the_tree(said, home):
    assert said
    page = (home / "iris.html").read_text("utf-8")
    assert "report of a decision tree" in page
    assert "The rules of the tree" in page
    assert "contains no certificate" not in page


def test_predictions_and_graph_are_those_of_the_tree(said, home):
    assert said
    command_here("predict", "iris.mm", "iris.csv", "-o", "out.csv", cwd=home)
    told = polars.read_csv(home / "out.csv")
    model = load(home / "iris.mm").estimator
    assert told.to_series(0).to_list() == model.predict(IRIS.data).tolist()
    command_here("convert", "iris.mm", "iris.onnx", cwd=home)
    assert (home / "iris.onnx").stat().st_size > 0
    assert "leaves, depth 3" in command_here("inspect", "iris.mm", cwd=home).out


def test_numbers_as_targets_make_a_regression_tree(home):
    options = ("--tree", "--max-leaves", "8", "--json")
    told = json.loads(command_here("train", "diabetes.npz", *options, cwd=home).out)
    assert told["machine"] == "DecisionTreeRegressor"
    assert load(home / "diabetes.mm").estimator.get_n_leaves() == 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tree": True, "linear": True}, "--tree cannot be combined with"),
        ({"max_depth": 3}, "add --tree"),
        ({"tree": True, "C": 1.0}, "--C is not an option of DecisionTreeClassifier"),
        ({"tree": True, "strategy": "kta"}, "--strategy and --metric choose"),
    ],
)
def test_contradictions_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        planned(MachineOptions(**options), IRIS.data, IRIS.target)
