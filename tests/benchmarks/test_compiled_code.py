"""The digest of compiled code changes with what it is made of, and with nothing else."""

import subprocess
import sys

import numba
import numpy as np
import pytest

from benchmarks import compiled_code
from benchmarks.compiled_code import compiled_functions, function_text
from maxmargin.solvers.newton import step as newton_step
from maxmargin.solvers.smo import step as smo_step

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
SCALE, TABLE = 2.0, np.arange(3.0)


def scaled(x, power=2):
    return SCALE * x**power + TABLE[0] + np.pi


def test_text_of_a_function_covers_its_code_defaults_and_globals(monkeypatch):
    first = function_text(scaled)
    assert function_text(scaled) == first
    monkeypatch.setattr(scaled, "__defaults__", (3,))
    assert function_text(scaled) != first
    monkeypatch.undo()
    for name, value in (("SCALE", 3.0), ("TABLE", np.arange(1.0, 4.0))):
        monkeypatch.setitem(globals(), name, value)
        assert function_text(scaled) != first
        monkeypatch.undo()
    assert function_text(scaled) == first
    assert function_text(lambda x: x + 1) != function_text(lambda x: x + 2)


def test_every_compiled_function_of_the_package_is_covered():
    found = compiled_functions()
    assert {
        "maxmargin.solvers.smo.step.planned_step",
        "maxmargin.solvers.newton.step.newton_direction",
        "maxmargin.estimators.tree.growth.criteria.sweep_sums",
    } <= found.keys()
    assert not any(" at 0x" in function_text(function) for function in found.values())


def test_constants_of_compiled_code_count_and_those_of_python_code_do_not(monkeypatch):
    first = compiled_code.digest()
    monkeypatch.setattr(newton_step, "FIRST_JITTER", 1.0)
    assert compiled_code.digest() == first
    monkeypatch.setattr(smo_step, "SMALLEST_DETERMINANT", 1e-9)
    assert compiled_code.digest() != first


def test_processes_agree_whatever_their_hashes():
    command = [sys.executable, "-m", "benchmarks.compiled_code"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=compiled_code.ROOT
    )
    assert done.stdout.strip() == compiled_code.digest()
