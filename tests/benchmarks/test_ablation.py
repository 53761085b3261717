"""Fast paths switched off: the constants are there, they take effect, and results stay."""

import importlib
import os
import subprocess
import sys

import pytest

from benchmarks.ablation import PACKAGE, SWITCHES, table
from benchmarks.against import Measured

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
    assert fitted("stages") == ["batch", dual]


def test_the_table_names_what_is_worth_nothing():
    found = {
        "batch": [Measured("a", 2.0, 1.0, 0.0, 0.0), Measured("b", 1.0, 1.0, 0.0, 0.0)],
        "boxes": [Measured("a", 1.01, 1.0, 0.0, 0.0)],
    }
    batch, boxes = table(found).splitlines()[1:]
    assert batch.split() == ["batch", "1.41", "2.00", "a"]
    assert "worth nothing" in boxes
