"""What every test may rely on: settings of Hypothesis and Numba, and the fixtures."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# A shell starts what it runs in the background with Ctrl-C ignored; tests press it all the same.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Workers share what they compile: see `maxmargin.runtime.code_cache` for two that save at once.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["NUMBA_CACHE_DIR"] = str(Path(sys.prefix, "numba-cache"))

import realdata
from skips import SkipsFail

# The first example of a test may compile for seconds, so time is no sign of trouble.
settings.register_profile("anywhere", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if "CI" in os.environ else "anywhere")


def pytest_configure(config):
    if os.environ.get("CI") == "true" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipsFail())


@pytest.fixture(scope="session")
def real_data():
    """`realdata.load`, or a skip where the shared data sets are absent."""
    if realdata.folder() is None:
        pytest.skip(realdata.ABSENT)
    return realdata.load
