"""Processes forked from one that has imported the libraries."""

import signal
from pathlib import Path

import pytest

from benchmarks.preloaded import Preloaded


@pytest.fixture(scope="module")
def preloaded():
    with Preloaded(["decimal"]) as server:
        yield server


def ended(preloaded, folder, text, limit=None, **environment):
    """How a module of this text ends, and what it prints."""
    (folder / "module.py").write_text(text)
    output = folder / "output"
    end = preloaded.run(["module", "first"], folder, environment, output, limit)
    return end, output.read_text()


def test_a_module_runs_in_its_folder_with_its_arguments_and_environment(preloaded, tmp_path):
    text = """
import os, sys
print(__name__, sys.argv[1:], os.getcwd(), sorted(os.environ), sys.stdin.read())
print(sys.path[:2])
"""
    end, said = ended(preloaded, tmp_path, text, PYTHONPATH="elsewhere")
    assert end.code == 0
    first, second = said.splitlines()
    assert first == f"__main__ ['first'] {tmp_path} ['PYTHONPATH'] "
    assert second == str([str(tmp_path), "elsewhere"])


def test_libraries_are_imported_before_and_what_a_run_imports_is_forgotten(preloaded, tmp_path):
    text = "import sys\nprint('decimal' in sys.modules, 'colorsys' in sys.modules)\nimport colorsys"
    assert ended(preloaded, tmp_path, text)[1] == "True False\n"
    assert ended(preloaded, tmp_path, text)[1] == "True False\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [("import sys; sys.exit(5)", 5), ("1 / 0", 1), ("import os; os.abort()", -signal.SIGABRT)],
)
def test_exit_codes_and_signals_are_reported(preloaded, tmp_path, text, code):
    assert ended(preloaded, tmp_path, text)[0].code == code


def test_a_run_is_ended_by_its_cpu_time(preloaded, tmp_path):
    end, _ = ended(preloaded, tmp_path, "while True: pass", limit=1)
    assert end.code == -signal.SIGXCPU
    assert end.seconds >= 0.9


def test_a_longer_output_of_the_run_before_is_overwritten(preloaded, tmp_path):
    ended(preloaded, tmp_path, "print('a long line of text')")
    assert ended(preloaded, tmp_path, "print('short')")[1] == "short\n"
    assert Path(tmp_path, "output").stat().st_size == len("short\n")
