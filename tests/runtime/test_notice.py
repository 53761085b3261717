"""One line on stderr when people begin to wait for the compiler, where someone reads it."""

import os
import pty
import subprocess
import sys
from types import SimpleNamespace

import numba
import pytest

from maxmargin.runtime import notice as notices

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
WORK = """
import numpy as np
from maxmargin.dual.certificate import gradient_and_value
one = np.ones(3)
gradient_and_value(one, one, one, one, one.copy())
"""


def run(stderr, cache, **environment):
    source = str(notices.__file__).split("maxmargin")[0]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": source, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", WORK]
    return subprocess.run(command, env=env | environment, stderr=stderr, check=True, timeout=240)


def on_a_terminal(cache):
    ours, theirs = pty.openpty()
    run(theirs, cache)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 1000):
            said += part
    except OSError:  # nothing is left
        pass
    os.close(ours)
    return said.decode().splitlines()


def test_a_terminal_is_told_what_is_compiled_how_long_and_that_it_is_once(tmp_path):
    line = "maxmargin: compiling kernel machines for this machine: about 7 s, only once"
    assert on_a_terminal(tmp_path) == [line]
    assert on_a_terminal(tmp_path) == []  # it was once


def test_a_file_is_told_only_if_asked_for(tmp_path):
    silent = run(subprocess.PIPE, tmp_path / "one")
    assert silent.stderr == b""
    asked = run(subprocess.PIPE, tmp_path / "two", MAXMARGIN_COMPILING="always")
    assert asked.stderr.startswith(b"maxmargin: compiling kernel machines")


@pytest.fixture
def listener(monkeypatch):
    """A listener of its own, with a clock to turn; what it says is in `lines`."""
    listener = notices.Notice()
    listener.now, listener.lines = 100.0, []
    monkeypatch.setattr(notices.time, "perf_counter", lambda: listener.now)
    monkeypatch.setattr(listener, "tell", lambda *what: listener.lines.append(what))
    return listener


def compile_in(listener, module, seconds):
    function = SimpleNamespace(__module__=f"maxmargin.{module}")
    happening = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
    listener.on_start(happening)
    listener.now += seconds
    listener.on_start(happening)
    listener.on_end(happening)
    listener.on_end(happening)


def test_what_takes_long_is_told_at_once(listener):
    compile_in(listener, "solvers.linear.fit", 0.0)
    assert listener.lines == [("linear machines", "about 6 s")]


def test_anything_else_is_told_when_it_has_taken_long(listener):
    compile_in(listener, "data.svmlight", 0.5)
    assert listener.lines == []
    compile_in(listener, "data.svmlight", 0.5)
    assert listener.lines == [("code", "a few seconds")]


def test_short_ones_far_from_each_other_are_not_told(listener):
    for _ in range(5):
        compile_in(listener, "data.svmlight", 0.5)
        listener.now += 10.0
    assert listener.lines == []


def test_code_of_others_is_none_of_our_business(listener):
    function = SimpleNamespace(__module__="elsewhere")
    happening = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
    listener.on_start(happening)
    listener.now += 5.0
    listener.on_start(happening)
    assert listener.lines == []
