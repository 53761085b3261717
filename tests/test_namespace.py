"""`import maxmargin` shows what users need, and loads it when it is used."""

import subprocess
import sys

import maxmargin


def test_dir_shows_what_users_need():
    shown = dir(maxmargin)
    parts = {"data", "dual", "kernels", "models", "report", "solvers", "tuning"}
    assert parts | set(maxmargin.__all__) | {"__version__"} == set(shown)


def test_parts_are_there_without_an_import_of_their_own():
    code = "import maxmargin; print(maxmargin.kernels.Gaussian(0.5), maxmargin.report.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["Gaussian(gamma=0.5)", "maxmargin.report"]


def test_unknown_names_are_refused():
    assert not hasattr(maxmargin, "SVMs")
