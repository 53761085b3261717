"""A second process compiles functions while this one does something else."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import maxmargin
from maxmargin.dual import certificate, problem
from maxmargin.runtime.second_process import SecondProcess, is_useful, name_of
from maxmargin.solvers.drivers import single
from maxmargin.solvers.smo.schedule import independent_parts

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
SOURCE = Path(maxmargin.__file__).resolve().parents[1]
# Lets a second process compile a function, and says where this process had it from.
WORK = """
import os, numpy as np
from numba import float64, int64
from maxmargin.kernels.vector.strides import mirror_line
from maxmargin.runtime.second_process import second_process as second, is_useful
{before}
second.compile([(mirror_line, (float64[::1], int64, int64, int64, int64))])
{after}
line = np.arange(9.0)
mirror_line(line, 3, 3, 0, 3)
assert line.tolist() == [0, 1, 2, 1, 4, 5, 2, 5, 8]
assert not second.promised
print(len(mirror_line.stats.cache_hits), second.process and second.process.poll())
"""


def outcome(place, before="", after=""):
    """(functions loaded from disk, exit code of the second process or None)"""
    done = subprocess.run(
        [sys.executable, "-c", WORK.format(before=before, after=after)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(place)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return tuple(eval(word) for word in done.stdout.split())


needs_two_cores = pytest.mark.skipif(not is_useful(), reason="there is one core")


@needs_two_cores
def test_what_the_second_process_compiles_is_loaded(tmp_path):
    hits, code = outcome(tmp_path)
    assert hits == 1
    assert code is not None  # it has ended, and nobody waits for it any more


@needs_two_cores
def test_a_second_process_that_is_killed_costs_nothing_but_time(tmp_path):
    assert outcome(tmp_path, after="second.process.kill()") == (0, -9)


@needs_two_cores
def test_an_interpreter_that_does_not_start_costs_nothing(tmp_path):
    before = "import sys; sys.executable = '/nowhere/python'"
    assert outcome(tmp_path, before=before) == (0, None)


def test_one_core_compiles_alone(tmp_path):
    before = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); assert not is_useful()"
    assert outcome(tmp_path, before=before) == (0, None)


def test_another_program_than_python_is_not_started(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/usr/bin/server")
    assert not is_useful()


def test_a_function_that_nobody_promised_is_not_waited_for():
    assert not SecondProcess().wait_for(name_of)


def test_the_first_fit_promises_the_types_that_it_needs(monkeypatch):
    """Otherwise the second process compiles what nobody loads."""
    told = {}
    for part, name in (
        (single, "run_to_end"),
        (certificate, "gradient_and_value"),
        (certificate, "gap_and_infeasibility"),
        (problem, "meeting"),
    ):
        real = getattr(part, name)

        def noted(*arguments, real=real):
            told[real.py_func.__name__] = tuple(numba.typeof(value) for value in arguments)
            return real(*arguments)

        monkeypatch.setattr(part, name, noted)
    X = np.random.default_rng(0).normal(size=(40, 3))
    maxmargin.SVC().fit(X, X[:, 0] > 0)
    face, *others = independent_parts(told.pop("run_to_end"))
    assert {function.py_func.__name__: types for function, types in others} == told
    assert face[1] in face[0].dispatcher.overloads
