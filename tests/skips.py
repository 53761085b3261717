"""Where tests are run for all to see (CI=true), a skip fails the run unless it is listed here.

A test that skips proves nothing, and nobody notices. `ALLOWED` has what each test says when it
skips, and why it may. What `.ci/run` could not install it names in MAXMARGIN_TESTS_WITHOUT, by the
package that the test tells to install ("apt install chromium").
"""

from __future__ import annotations

import os

import pytest
import realdata

ALLOWED = {
    realdata.ABSENT: "the sets are not ours to give away, so not every machine has them",
    "scikit-learn-intelex is not installed: pip install '.[bench]'": (
        "a peer of the benchmark that is not made for every processor and system"
    ),
}
# In the runs of `make test-nojit` and `make test-oldest`.
ALLOWED_WITHOUT_JIT = {
    "rows are made in compiled code only": "they are made on the way, which is fast or no use",
}
ALLOWED_OLDEST = {
    "scikit-learn has no callbacks yet": "they came after the oldest version that we allow",
}


def allowed(reason: str, environment=os.environ) -> bool:
    """Whether a test may skip for this reason."""
    absent = environment.get("MAXMARGIN_TESTS_WITHOUT", "").split()
    return (
        reason in ALLOWED
        or (environment.get("NUMBA_DISABLE_JIT") == "1" and reason in ALLOWED_WITHOUT_JIT)
        or (environment.get("MAXMARGIN_TESTS_OLDEST") == "1" and reason in ALLOWED_OLDEST)
        or any(reason.endswith(f"apt install {package}") for package in absent)
    )


def reason_of(report) -> str:
    """What a report of a skipped test or file gives as the reason."""
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}"
    return str(report.longrepr[2]).removeprefix("Skipped: ")


class SkipsFail:
    """A plugin of pytest: skips that are not allowed make the run fail, and are printed."""

    def __init__(self):
        self.refused = {}

    def pytest_runtest_logreport(self, report):
        if report.skipped and not allowed(reason := reason_of(report)):
            self.refused[report.nodeid] = reason

    def pytest_collectreport(self, report):
        self.pytest_runtest_logreport(report)

    def pytest_sessionfinish(self, session):
        if self.refused and session.exitstatus in (pytest.ExitCode.OK, 5):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.refused:
            terminalreporter.section("skips that tests/skips.py does not allow", red=True)
            for name, reason in sorted(self.refused.items()):
                terminalreporter.line(f"{name}: {reason}")
