"""Fast paths switched off: the constants are there, they take effect, and results stay."""

import importlib
import os
import subprocess
import sys

import pytest

from benchmarks import ablation
from benchmarks.ablation import PACKAGE, SWITCHES, fresh, table, warm
from benchmarks.against import Fitted
from benchmarks.first import data_sets
from benchmarks.problems import EVERY

FIT = """
from benchmarks.ablation import switch_off
switch_off({path!r})
from maxmargin import SVC
from maxmargin.data import chess_board
model = SVC(C=10.0).fit(*chess_board(40, random_state=0))
print(model.solution_.plan.driver, f"{{model.certificate_.dual:.6g}}")
"""


@pytest.mark.parametrize("path", SWITCHES)
def test_the_constants_of_a_path_are_there(path):
    for place, value in SWITCHES[path].constants.items():
        module, _, constant = place.rpartition(".")
        assert getattr(importlib.import_module(f"{PACKAGE}.{module}"), constant) != value


def test_a_path_that_is_off_is_not_taken():
    def fitted(path):
        command = [sys.executable, "-c", FIT.format(path=path)]
        plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
        done = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
        return done.stdout.split()

    driver, dual = fitted("batch")
    assert driver == "full"
    assert fitted("boxes") == ["batch", dual]


def test_the_table_names_what_is_worth_nothing():
    found = {
        "warm": {"a": {"batch": 2.0, "boxes": 1.01}, "b": {"batch": 0.98}},
        "fresh": {"c": {"batch": 1.1, "boxes": 1.02}},
    }
    lines = {line.split("`")[1]: line.split(" | ")[1:] for line in table(found).splitlines()[2:]}
    assert lines["batch"] == ["1.40", "2.00", "a", "1.10", "c |"]
    assert lines["boxes"] == ["1.01", "1.01 (worth nothing)", "a", "1.02 (worth nothing)", "c |"]
    assert lines["wide-faces"] == ["–", "–", "–", "–", "– |"]


def test_all_paths_are_compared_with_the_same_fits(monkeypatch):
    class FakeTree:
        def __init__(self, *_, off=""):
            self.seconds = {"": 2.0, "batch": 3.0, "boxes": 1.0}[off]

        def close(self):
            pass

    def fitted(_problem, trees, _repeats):
        return [Fitted(tree.seconds, 0.0) for tree in trees]

    monkeypatch.setattr(ablation, "Tree", FakeTree)
    monkeypatch.setattr(ablation, "fitted", fitted)
    rows = dict(warm(["batch", "boxes"], [EVERY["heart"], EVERY["iris"]], 1))
    assert rows == {name: {"batch": 1.5, "boxes": 0.5} for name in ("heart", "iris")}


def test_first_fits_of_new_processes_are_compared(monkeypatch):
    sets = data_sets(sizes=(60,), mnist=False)
    monkeypatch.setattr("benchmarks.first.data_sets", lambda: sets)
    ((name, ratios),) = fresh(["wide-faces"], 1)
    assert name == sets[0][0]
    assert 0.0 < ratios["wide-faces"] < 100.0
