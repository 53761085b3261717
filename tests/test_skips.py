"""Under CI=true a skip that is not on the list fails the run; the list is short and has reasons."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import skips

TESTS = Path(__file__).resolve().parent
FILES = {
    "allowed": "import pytest, realdata\ndef test_it():\n    pytest.skip(realdata.ABSENT)\n",
    "chromium": "import pytest\ndef test_it():\n    pytest.skip('absent: apt install chromium')\n",
    "marked": "import pytest\n@pytest.mark.skip(reason='later')\ndef test_it():\n    pass\n",
    "module": "import pytest\npytest.importorskip('no_such_module')\n",
    "xfail": "import pytest\n@pytest.mark.xfail(reason='known')\ndef test_it():\n    1 / 0\n",
    "plain": "def test_it():\n    pass\n",
}


def ran(folder, *names, workers=False, **environment):
    """Run tests of these kinds in a process of its own, with the conftest of this folder."""
    (folder / "conftest.py").write_text((TESTS / "conftest.py").read_text(encoding="utf-8"))
    for name in ("plain", *names):
        (folder / f"test_{name}.py").write_text(FILES[name])
    clean = {name: value for name, value in os.environ.items() if name not in ("CI", *SET_BY_CI)}
    environment = {**clean, "PYTHONPATH": str(TESTS), **environment}
    options = ["-q", "-p", "no:cacheprovider"]
    options += ["-n", "2"] if workers else ["-p", "no:xdist"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


SET_BY_CI = ("MAXMARGIN_TESTS_WITHOUT", "MAXMARGIN_TESTS_OLDEST", "PYTEST_XDIST_WORKER")


@pytest.mark.parametrize("workers", [False, True], ids=["one process", "two workers"])
def test_skips_that_are_not_listed_fail_the_run(tmp_path, workers):
    done = ran(tmp_path, "marked", "module", "xfail", "allowed", CI="true", workers=workers)
    assert done.returncode == 1
    refused = done.stdout.split("does not allow")[1]
    assert "later" in refused
    assert "no_such_module" in refused
    assert "expected to fail: known" in refused
    assert "data sets" not in refused


def test_listed_skips_do_not(tmp_path):
    assert ran(tmp_path, "allowed", CI="true").returncode == 0


def test_without_ci_any_skip_is_fine(tmp_path):
    assert ran(tmp_path, "marked", "module").returncode == 0


def test_what_could_not_be_installed_may_be_absent(tmp_path):
    assert ran(tmp_path, "chromium", CI="true").returncode == 1
    absent = {"CI": "true", "MAXMARGIN_TESTS_WITHOUT": "libsvm-tools chromium"}
    assert ran(tmp_path, "chromium", **absent).returncode == 0
    absent["MAXMARGIN_TESTS_WITHOUT"] = "libsvm-tools"
    assert ran(tmp_path, "chromium", **absent).returncode == 1


def test_reasons_of_special_runs_hold_only_there():
    (jit,), (oldest,) = skips.ALLOWED_WITHOUT_JIT, skips.ALLOWED_OLDEST
    assert not skips.allowed(jit, {})
    assert skips.allowed(jit, {"NUMBA_DISABLE_JIT": "1"})
    assert not skips.allowed(oldest, {"NUMBA_DISABLE_JIT": "1"})
    assert skips.allowed(oldest, {"MAXMARGIN_TESTS_OLDEST": "1"})
